package git

import (
	"bufio"
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestLastMessage(t *testing.T) {
	tests := []struct{ stderr, want string }{
		{"", ""},
		{"fatal: one\n", "one"},
		{"warning: x\nerror: a\nfatal: b\nhint: c\n", "b"},
		{"remote: Repository not found.\nhint: try\n", "remote: Repository not found."},
		{"Receiving objects: 50%\rReceiving objects: 99%\rfatal: early EOF", "early EOF"},
		// What a remote may have put there.
		{"fatal: \x1b[31mred\x07\n", "[31mred"},
		{"fatal: unable to access 'https://me:secret@example.org/x/': no\n", "unable to access 'https://example.org/x/': no"},
		{"fatal: bad \xff byte", "bad \uFFFD byte"},
		{"fatal: " + strings.Repeat("é", 1000), strings.Repeat("é", maxMessageBytes/2) + "…"},
	}
	for _, test := range tests {
		if got := lastMessage(test.stderr); got != test.want {
			t.Errorf("lastMessage(%q)\n got %q\nwant %q", test.stderr, got, test.want)
		}
	}
}

func TestStderrTail(t *testing.T) {
	var lines []string
	tail := &stderrTail{progress: func(line string) { lines = append(lines, line) }}
	for _, part := range []string{"Cloning", " into x\nCount", "ing: 1%\rCounting: 2%\r", "\n\n", "unfinished", strings.Repeat("x", 3*stderrTailBytes)} {
		if n, err := tail.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
	}
	if got, want := fmt.Sprintf("%q", lines), `["Cloning into x" "Counting: 1%" "Counting: 2%"]`; got != want {
		t.Errorf("progress\n got %s\nwant %s", got, want)
	}
	if got := len(tail.String()); got != stderrTailBytes {
		t.Errorf("%d bytes kept, want %d", got, stderrTailBytes)
	}
}

func TestParseRemote(t *testing.T) {
	tests := []struct {
		url  string
		want remote
	}{
		{"https://example.org/a/b.git", remote{url: "https://example.org/a/b.git", transports: "https", origin: "https://example.org"}},
		{"HTTPS://u:p@example.org:8443/a", remote{url: "https://example.org:8443/a", transports: "https", origin: "https://example.org:8443", username: "u", password: "p"}},
		{"http://token@example.org/a", remote{url: "http://example.org/a", transports: "http:https", origin: "http://example.org", username: "token"}},
		{"ssh://git:p@example.org/a", remote{url: "ssh://git@example.org/a", transports: "ssh", origin: "ssh://example.org", username: "git", password: "p"}},
		{"git://example.org/a", remote{url: "git://example.org/a", transports: "git", origin: "git://example.org"}},
		{"git@example.org:a/b.git", remote{url: "git@example.org:a/b.git", transports: "ssh"}},
		{"host:path", remote{url: "host:path", transports: "ssh"}},
		{"/srv/a:b", remote{url: "/srv/a:b", transports: "file", local: true}},
		{"file:///srv/a", remote{url: "file:///srv/a", transports: "file", local: true}},
	}
	for _, test := range tests {
		got, err := parseRemote("", test.url)
		if got.address != test.url {
			t.Errorf("parseRemote(%q).address = %q", test.url, got.address)
		}
		got.address = ""
		if err != nil || got != test.want {
			t.Errorf("parseRemote(%q)\n got %+v, %v\nwant %+v", test.url, got, err, test.want)
		}
	}
}

// Whatever a URL is, git must not take it for an option or a program to run,
// and no password may show.
func FuzzParseRemote(f *testing.F) {
	for _, seed := range []string{"https://u:pa@h/x", "ext::sh", "-x", "u@h:p", "ssh://-o@h/", "file://h/x", "git+ssh://a", "https://u:p%40@h", "./-x", "::", "a::b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, rawURL string) {
		r, err := parseRemote("", rawURL)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("parseRemote(%q): %q has several lines", rawURL, err)
			}
			return
		}
		if r.url == "" || r.url[0] == '-' || helperURL.MatchString(r.url) || strings.ContainsAny(r.url, "\x00\n") {
			t.Errorf("parseRemote(%q) lets %q through", rawURL, r.url)
		}
		if u, err := url.Parse(r.url); !r.local && err == nil && u.User != nil {
			if password, _ := u.User.Password(); password != "" {
				t.Errorf("parseRemote(%q) = %q, with the password", rawURL, r.url)
			}
		}
	})
}

func FuzzParseTreeEntry(f *testing.F) {
	oid := strings.Repeat("0a", 20)
	for _, seed := range []string{"100644 blob " + oid + "\ta b", "160000 commit " + oid + "\t\xff", "1 2", "", "\t", "9 blob " + oid + "\tx"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		e, err := parseTreeEntry(record)
		if err != nil {
			return
		}
		// A record that is accepted says what its parts say.
		_, path, _ := bytes.Cut(record, []byte("\t"))
		if e.Path != string(path) || !isObjectID(e.OID) || !bytes.Contains(record, []byte(e.Kind+" "+e.OID)) {
			t.Errorf("parseTreeEntry(%q) = %+v", record, e)
		}
	})
}

func FuzzReadChange(f *testing.F) {
	oid := strings.Repeat("0a", 20)
	none := strings.Repeat("0", 40)
	f.Add([]byte(":100644 000000 " + oid + " " + none + " D\x00a\nb\x00:000000 100644 " + none + " " + oid + " A\x00c\x00"))
	f.Add([]byte(":100644 100644 " + oid + " " + oid + " M\x00"))
	f.Add([]byte(":1 2 3 4 5"))
	f.Fuzz(func(t *testing.T, output []byte) {
		r := bufio.NewReaderSize(bytes.NewReader(output), 64)
		for range len(output) + 1 {
			c, err := readChange(r)
			if err != nil {
				return
			}
			if c.Path == "" || c.Status == 0 || strings.Contains(c.Path, "\x00") {
				t.Errorf("readChange of %q = %+v", output, c)
			}
		}
		t.Errorf("readChange of %q does not end", output)
	})
}

func FuzzPrintable(f *testing.F) {
	f.Add("https://a:b@c\x1b[0m\xff")
	f.Fuzz(func(t *testing.T, line string) {
		got := printable(line)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) || len(got) > maxMessageBytes+len("…") {
			t.Errorf("printable(%q) = %q", line, got)
		}
	})
}
