package client

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func readAll(e *eventReader) (string, error) {
	var out strings.Builder
	for {
		name, data, err := e.next()
		if err != nil {
			return out.String(), err
		}
		fmt.Fprintf(&out, "%q %q\n", name, data)
	}
}

func TestEventReader(t *testing.T) {
	long := strings.Repeat("x", 200_000) // more than the reader's buffer
	tests := []struct{ name, stream, want string }{
		// as servers send them
		{"nothing", "", ""},
		{"one", "event: done\ndata: {}\n\n", `"done" "{}"`},
		{"two", "event: a\ndata: 1\n\nevent: b\ndata: 2\n\n", "\"a\" \"1\"\n\"b\" \"2\""},
		{"long", "event: a\ndata: " + long + "\n\nevent: b\ndata: 2\n\n", fmt.Sprintf("\"a\" %q\n\"b\" \"2\"", long)},
		{"colons in data", "event: a\ndata: {\"a\":\"b: c\"}\n\n", `"a" "{\"a\":\"b: c\"}"`},

		// as other servers may
		{"no spaces", "event:a\ndata:1\n\n", `"a" "1"`},
		{"one space of two", "event: a\ndata:  1\n\n", `"a" " 1"`},
		{"data first", "data: 1\nevent: a\n\n", `"a" "1"`},
		{"several data lines", "event: a\ndata: 1\ndata: 2\n\n", `"a" "1\n2"`},
		{"comments", ": hello\n\nevent: a\n: again\ndata: 1\n\n", `"a" "1"`},
		{"ids and unknown fields", "id: 7\nretry: 5\nevent: a\nfoo: x\nbar\ndata: 1\n\n", `"a" "1"`},
		{"carriage returns", "event: a\r\ndata: 1\r\n\r\n", `"a" "1"`},
		{"no name", "data: 1\n\n", `"" "1"`},
		{"no data", "event: a\n\nevent: b\ndata: 2\n\n", `"b" "2"`},
		{"empty data", "event: a\ndata:\n\n", `"a" ""`},

		// cut off
		{"no blank line", "event: done\ndata: {}\n", `"done" "{}"`},
		{"no newline", "event: done\ndata: {}", `"done" "{}"`},
		{"name only", "event: done\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(tt.stream), iotest.OneByteReader(strings.NewReader(tt.stream))} {
				got, err := readAll(newEventReader(r))
				if got = strings.TrimSuffix(got, "\n"); got != tt.want || !errors.Is(err, io.EOF) {
					t.Errorf("got %.300s, %v\nwant %.300s, EOF", got, err, tt.want)
				}
			}
		})
	}
}

func TestEventReaderErrors(t *testing.T) {
	broken := errors.New("connection reset")
	_, err := readAll(newEventReader(io.MultiReader(strings.NewReader("event: a\ndata: 1"), iotest.ErrReader(broken))))
	if !errors.Is(err, broken) {
		t.Errorf("a broken connection gave %v, want %v", err, broken)
	}
	for _, stream := range []string{
		"data: " + strings.Repeat("x", 2000),
		strings.Repeat("data: "+strings.Repeat("x", 100)+"\n", 20),
	} {
		e := newEventReader(strings.NewReader(stream))
		e.limit = 1000
		if _, err := readAll(e); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("an event over the limit gave %v, want an error", err)
		}
	}
}

func FuzzEventReader(f *testing.F) {
	f.Add("event: matches\ndata: [1]\n\nevent: done\ndata: {}\n\n", "x", "y")
	f.Add(":\n\r\ndata\ndata:\n\n", "", "")
	f.Fuzz(func(t *testing.T, stream, name, data string) {
		if _, err := readAll(newEventReader(strings.NewReader(stream))); !errors.Is(err, io.EOF) {
			t.Errorf("stream %q: %v, want EOF", stream, err)
		}
		if strings.ContainsAny(name+data, "\r\n") {
			return
		}
		got, _ := readAll(newEventReader(strings.NewReader("event: " + name + "\ndata: " + data + "\n\n")))
		if want := fmt.Sprintf("%q %q\n", name, data); got != want {
			t.Errorf("name %q, data %q: got %s, want %s", name, data, got, want)
		}
	})
}
