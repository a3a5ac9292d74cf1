package hosts_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/hosts"
)

// lists is a server with a list, which may change.
type lists struct {
	*httptest.Server
	text   atomic.Value
	status atomic.Int64
	login  atomic.Value
}

func newLists(t *testing.T) *lists {
	t.Helper()
	l := &lists{}
	l.text.Store("")
	l.login.Store("")
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		l.login.Store(user + ":" + password)
		if status := l.status.Load(); status != 0 {
			w.WriteHeader(int(status))
			return
		}
		_, _ = io.WriteString(w, l.text.Load().(string))
	}))
	t.Cleanup(l.Close)
	return l
}

// config is that of a service that reads the list, whose rest may be added to.
func (l *lists) config(t *testing.T, login, rest string) *hosts.Config {
	t.Helper()
	c, err := hosts.ParseConfig(hosts.KindOther, `{"reposURL": "`+strings.Replace(l.URL, "http://", "http://"+login, 1)+`/repos.txt"`+rest+`}`)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// read returns the names and addresses of a listing.
func read(t *testing.T, c *hosts.Config, guard hosts.Guard) (string, hosts.Listing, error) {
	t.Helper()
	clients := &hosts.Clients{Guard: guard}
	defer clients.Close()
	list, err := c.List(t.Context(), clients, 1, noneKnown{})
	var out []string
	for _, r := range list.Repositories {
		if !r.Source.Guarded || !r.Facts.Bare || r.Facts.ID != r.Source.Location {
			t.Errorf("%+v is not guarded, or not known by its address: %+v", r.Source, r.Facts)
		}
		out = append(out, r.Source.Name+" "+r.Source.Location)
	}
	return strings.Join(out, ", "), list, err
}

func TestListOfURLs(t *testing.T) {
	l := newLists(t)
	l.text.Store("\ufeffhttps://git.example.org/lab/kiln\r\n\n  # what else there is\nhttps://git.example.org:8443/lab/glaze.git\nhttps://git.example.org/lab/kiln\n")
	want := "git.example.org/lab/kiln https://git.example.org/lab/kiln, git.example.org/lab/glaze https://git.example.org:8443/lab/glaze.git"
	if got, list, err := read(t, l.config(t, "me:pw@", ""), hosts.Guard{AllowLocal: true}); got != want || err != nil || list.Failed != nil || l.login.Load() != "me:pw" {
		t.Errorf("got %s, failed %q, %v, signed in as %s\nwant %s", got, list.Failed, err, l.login.Load(), want)
	}
	// Paths below the address of the service, whose login git gets and no record has.
	l.text.Store("lab/kiln\n/lab/glaze.git\n")
	c := l.config(t, "", `, "url": "https://me:S3cr3t@git.example.org/base"`)
	want = "git.example.org/base/lab/kiln https://git.example.org/base/lab/kiln, git.example.org/base/lab/glaze https://git.example.org/base/lab/glaze.git"
	if got, _, err := read(t, c, hosts.Guard{AllowLocal: true}); got != want || err != nil {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
	if u := c.Git("https://git.example.org/base/lab/kiln"); u == nil || u.String() != "me:S3cr3t" {
		t.Errorf("git signs in by %s", u)
	}
	if u := c.Git("https://evil.example.com/base/lab/kiln"); u != nil {
		t.Errorf("git signs in elsewhere by %s", u)
	}
	if _, _, err := read(t, c, hosts.Guard{}); !errors.Is(err, hosts.ErrAddress) {
		t.Errorf("a list on this machine: %v, want ErrAddress", err)
	}
}

// A list that may be one of something else hides nothing: it fails, in whole or in part.
func TestHostileListsOfURLs(t *testing.T) {
	l := newLists(t)
	c := l.config(t, "me:S3cr3tPw@", "")
	for _, tt := range []struct{ name, text, err, failed string }{
		{"empty", "", "names no repository", ""},
		{"comments only", "# none\n\n", "names no repository", ""},
		{"a page", "<html>\n<body>sign in</body>\n</html>", "no list of addresses", ""},
		{"a page among addresses", "https://git.example.org/x\n<html>", "", "line 2"},
		{"bad addresses", "https://git.example.org/x\nssh://git@git.example.org/y\nfile:///etc/passwd\n--upload-pack=id\next::sh -c id\n../up\n", "", "line 6"},
		{"credentials", "https://git.example.org/x\nhttps://me:S3cr3tPw@git.example.org/y\n", "", "user name or password"},
		{"no text", "\x00\xff\xfe\n", "no list of addresses", ""},
		{"a long line", "https://git.example.org/" + strings.Repeat("x", 3000), "longer than 2000 bytes", ""},
		{"a long list", strings.Repeat("# "+strings.Repeat("x", 1000)+"\n", 5000), "longer than 4 MiB", ""},
		{"many bad lines", strings.Repeat("x y\n", 5000), "no list of addresses", ""},
		{"many repositories", manyLines(21_000), "more than 20000", ""},
	} {
		l.text.Store(tt.text)
		_, list, err := read(t, c, hosts.Guard{AllowLocal: true})
		failed := strings.Join(list.Failed, "; ")
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || !strings.Contains(failed, tt.failed) || err == nil && failed == "" {
			t.Errorf("%s: failed %q, %v; want %q and %q", tt.name, failed, err, tt.failed, tt.err)
		}
		if text := fmt.Sprint(failed, err); strings.Contains(text, "S3cr3tPw") {
			t.Errorf("%s: a password is shown: %s", tt.name, text)
		}
	}
	l.status.Store(http.StatusUnauthorized)
	if _, _, err := read(t, c, hosts.Guard{AllowLocal: true}); err == nil || strings.Contains(err.Error(), "S3cr3tPw") {
		t.Errorf("401: %v", err)
	}
	l.status.Store(http.StatusNotFound)
	if _, _, err := read(t, c, hosts.Guard{AllowLocal: true}); err == nil || strings.Contains(err.Error(), "S3cr3tPw") {
		t.Errorf("404: %v", err)
	}
	for config, want := range map[string]string{
		`{"reposURL": "file:///etc/passwd"}`:                          "https:// or http://",
		`{"reposURL": "https://x/?token=S3cr3tPw"}`:                   "more than an address",
		`{"reposURL": "https://x/", "repos": ["https://x/y"]}`:        "give one of",
		`{"reposFile": "/etc/passwd"}`:                                "only the configuration file",
		`{"reposURL": 5}`:                                             "as are reposURL",
		`{"reposFile": "/etc/passwd", "reposURL": "https://x/y.txt"}`: "give one of",
	} {
		if _, err := hosts.ParseConfig(hosts.KindOther, config); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "S3cr3tPw") {
			t.Errorf("%s: %v, want %q", config, err, want)
		}
	}
}

func manyLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "https://git.example.org/%d\n", i)
	}
	return b.String()
}

// The configuration file may name a file, which is read again for each listing.
func TestListOfURLsInAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "repos.txt")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := hosts.ParseDeclared(hosts.KindOther, fmt.Sprintf(`{"reposFile": %q}`, path))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(t, c, hosts.Guard{}); err == nil {
		t.Error("a file that is not there is no error")
	}
	write("https://git.example.org/x\n")
	if got, _, err := read(t, c, hosts.Guard{}); got != "git.example.org/x https://git.example.org/x" || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	write("https://git.example.org/x\nhttps://git.example.org/y\n")
	if got, _, err := read(t, c, hosts.Guard{}); strings.Count(got, "https") != 2 || err != nil {
		t.Errorf("after a change: %s, %v", got, err)
	}
	if c, err = hosts.ParseDeclared(hosts.KindOther, fmt.Sprintf(`{"reposFile": %q}`, filepath.Dir(path))); err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(t, c, hosts.Guard{}); err == nil || !strings.Contains(err.Error(), "is no file") {
		t.Errorf("a directory: %v", err)
	}
}
