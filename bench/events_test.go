package bench

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func readEvents(in io.Reader) (string, error) {
	var b strings.Builder
	r := newEventReader(in)
	for {
		err := r.next()
		if errors.Is(err, io.EOF) {
			return b.String(), nil
		}
		if err != nil {
			return b.String(), err
		}
		fmt.Fprintf(&b, "%s=%s;", r.name, r.data)
	}
}

func TestEventReader(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	for _, tt := range []struct {
		text, want, wantErr string
	}{
		// Whole streams
		{"", "", ""},
		{"event: done\ndata: {}\n\n", "done={};", ""},
		{"event: matches\ndata: [1]\n\nevent: done\ndata: {}\n\n", "matches=[1];done={};", ""},
		{"event: novel\ndata: \n\n", "novel=;", ""},

		// Events larger than any buffer, then a short one
		{"event: matches\ndata: " + long + "\n\nevent: done\ndata: {}\n\n", "matches=" + long + ";done={};", ""},

		// Cut off or malformed
		{"event: done\n", "", "unexpected EOF"},
		{"event: done\ndata: {}\n", "", "unexpected EOF"},
		{"event: done\ndata: {", "", `stream ends inside "data: {"`},
		{"event: done\ndata: {}\nid: 1\n\n", "", "want an empty line"},
		{": comment\n\n", "", "want an event line"},
		{"event: done\n\n", "", "want a data line"},
		{"event:done\ndata:{}\n\n", "", "want an event line"},
		{"event: done\r\ndata: {}\r\n\r\n", "", "want an empty line"},
	} {
		for name, in := range map[string]io.Reader{
			"at once":      strings.NewReader(tt.text),
			"byte by byte": iotest.OneByteReader(strings.NewReader(tt.text)),
		} {
			got, err := readEvents(in)
			if got != tt.want || !errorHas(err, tt.wantErr) {
				t.Errorf("%s %.60q: got %.80q, error %v; want %.80q, error with %q", name, tt.text, got, err, tt.want, tt.wantErr)
			}
		}
	}
}

// errorHas reports whether err has want in its text; empty wants no error.
func errorHas(err error, want string) bool {
	if want == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), want)
}

func TestEventReaderBoundsLines(t *testing.T) {
	in := io.MultiReader(strings.NewReader("event: matches\ndata: "), iotest.DataErrReader(zeros{}))
	if _, err := readEvents(in); !errorHas(err, "event line of more than") {
		t.Errorf("endless line: error = %v, want one about its length", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestReadAnswer(t *testing.T) {
	const (
		matches  = "event: matches\ndata: []\n\n"
		early    = "event: progress\ndata: {\"done\":false,\"matchCount\":1}\n\n"
		progress = "event: progress\ndata: {\"done\":true,\"matchCount\":7,\"durationMs\":3,\"trace\":\"/t\"," +
			"\"skipped\":[{\"reason\":\"shard-timeout\",\"title\":\"1 timed out\"}]}\n\n"
		done = "event: done\ndata: {}\n\n"
	)
	for _, tt := range []struct {
		text    string
		first   bool
		results int
		wantErr string
	}{
		// Good endings
		{early + matches + progress + done, true, 7, ""},
		{progress + done, false, 7, ""},

		// Bad endings
		{matches + progress, true, 0, "without a done event"},
		{done, false, 0, "no progress event"},
		{early + done, false, 0, "was not done"},
		{progress + "event: alert\ndata: {\"title\":\"oh\"}\n\n" + done, false, 7, "server sent alert"},
		{"event: error\ndata: {\"message\":\"oh\"}\n\n" + done, false, 0, "server sent error"},
		{"event: progress\ndata: nonsense\n\n" + done, false, 0, "decode progress"},
	} {
		read := func(in io.Reader) (Answer, error) {
			return readAnswer(in, time.Now(), func([]byte) error { return nil })
		}
		skim := func(in io.Reader) (Answer, error) { return skimAnswer(in, time.Now()) }
		for name, f := range map[string]func() (Answer, error){
			"read":                func() (Answer, error) { return read(strings.NewReader(tt.text)) },
			"skim":                func() (Answer, error) { return skim(strings.NewReader(tt.text)) },
			"skim byte by byte":   func() (Answer, error) { return skim(iotest.OneByteReader(strings.NewReader(tt.text))) },
			"skim behind a large": func() (Answer, error) { return skim(io.MultiReader(large(), strings.NewReader(tt.text))) },
		} {
			a, err := f()
			first := tt.first || name == "skim behind a large"
			if !errorHas(err, tt.wantErr) || (a.First > 0) != first || a.Results != tt.results {
				t.Errorf("%s %q: answer %+v, error %v; want first %t, %d results, error with %q",
					name, tt.text, a, err, first, tt.results, tt.wantErr)
			}
			if err == nil && (a.Done < a.First || a.ServerMillis != 3 || a.Trace != "/t" || len(a.Incomplete) != 1) {
				t.Errorf("%s %q: answer %+v does not hold what the last progress says", name, tt.text, a)
			}
		}
	}
}

// large is an event that no buffer holds.
func large() io.Reader {
	return io.MultiReader(strings.NewReader("event: matches\ndata: ["), io.LimitReader(spaces{}, 3*skimBytes+17), strings.NewReader("]\n\n"))
}

type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestFoundAdd(t *testing.T) {
	f := newFound()
	err := f.add([]byte(`[
		{"type":"content","repository":"r","path":"a","chunkMatches":[
			{"ranges":[{"start":{"line":0,"column":2},"end":{"line":0,"column":4}},
			           {"start":{"line":4,"column":0},"end":{"line":6,"column":1}}]},
			{"ranges":[{"start":{"line":9,"column":3},"end":{"line":10,"column":0}}]}]},
		{"type":"path","repository":"r","path":"b"},
		{"type":"repo","repository":"s"}]`))
	if err != nil {
		t.Fatal(err)
	}
	for scope, want := range map[Scope]LineSet{
		Lines: {"a": {1, 5, 6, 7, 10}},
		Files: {"a": nil, "b": nil},
		Paths: {"b": nil},
	} {
		if d := Compare(f.in(scope), want); !d.Empty() {
			t.Errorf("scope %s: got %v, want %v", scope, f.in(scope), want)
		}
	}
	if got := sortedKeys(f.repositories); len(got) != 2 || got[0] != "r" || got[1] != "s" {
		t.Errorf("repositories = %q, want r and s", got)
	}
}

func FuzzEventReader(f *testing.F) {
	f.Add("event: matches\ndata: [1]\n\nevent: done\ndata: {}\n\n")
	f.Add("event: done\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		whole, wholeErr := readEvents(strings.NewReader(text))
		slow, slowErr := readEvents(iotest.OneByteReader(strings.NewReader(text)))
		if whole != slow || (wholeErr == nil) != (slowErr == nil) {
			t.Errorf("stream %q: at once %q (%v), byte by byte %q (%v)", text, whole, wholeErr, slow, slowErr)
		}
	})
}
