package git_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/trawlsearch/trawl/store/git"
)

// listener is a server that asks for credentials and refuses all, saying them
// again.
type listener struct {
	*httptest.Server
	mu    sync.Mutex
	heard []string // what came as Authorization
}

func newListener(t *testing.T) *listener {
	t.Helper()
	l := &listener{}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := r.Header.Get("Authorization")
		l.mu.Lock()
		if given != "" {
			l.heard = append(l.heard, given)
		}
		l.mu.Unlock()
		if given == "" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		user, password, _ := r.BasicAuth()
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte("fatal: " + user + " may not enter with " + password + " and " + r.URL.RawQuery + "\n"))
	}))
	t.Cleanup(l.Close)
	return l
}

func (l *listener) taken() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	heard := l.heard
	l.heard = nil
	return heard
}

// The .netrc of the account that runs trawl is not for the repositories that
// users name.
func TestNetrcOfTheAccountIsNotSent(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".netrc"), []byte("machine 127.0.0.1 login account password of-the-account\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	l := newListener(t)
	// git itself reads it.
	_ = exec.Command("git", "ls-remote", l.URL+"/x").Run()
	if len(l.taken()) == 0 {
		t.Skip("this git does not read .netrc")
	}
	if _, err := unbounded.Mirror(t.Context(), "", l.URL+"/x", filepath.Join(t.TempDir(), "m"), nil); err == nil {
		t.Error("Mirror: got nil, want an error")
	}
	if got := l.taken(); len(got) > 0 {
		t.Errorf("the server was sent %q", got)
	}
}

// A server that says credentials again does not bring them into errors and
// progress.
func TestServerRepeatsCredentials(t *testing.T) {
	l := newListener(t)
	address := strings.Replace(l.URL, "://", "://me:hunt'er2@", 1) + "/x?private_token=t0ken"
	var lines []string
	_, err := unbounded.Mirror(t.Context(), "", address, filepath.Join(t.TempDir(), "m"), func(line string) { lines = append(lines, line) })
	oneLine(t, err, "mirror "+l.URL+"/x?private_token=REDACTED")
	if len(l.taken()) == 0 {
		t.Error("the server was sent no credentials")
	}
	shown := err.Error() + strings.Join(lines, "\n")
	for _, secret := range []string{"hunt'er2", "t0ken"} {
		if strings.Contains(shown, secret) {
			t.Errorf("%q is shown: %s", secret, shown)
		}
	}
	if len(lines) == 0 || !strings.Contains(shown, "may not enter") {
		t.Errorf("what the server said is not shown: %s", shown)
	}
}

// A host that is more than a name could end the key of a setting, be a pattern of
// hosts, or reach a shell.
func TestHostsThatAreNoNames(t *testing.T) {
	program, check := canary(t)
	for _, host := range []string{
		"h.helper=!" + strings.ReplaceAll(program, "/", "%2F") + ";.example.org", "h=x", "h!x", "$(touch+x)", "h;x", "*", "*.example.org", "h'x", "h,x", "h&x", "(x)", "h~x",
		"[fe80::1%25eth0]", "h+x",
	} {
		for _, address := range []string{"http://me:secret@" + host + "/x", "https://" + host + ":8443/x", "ssh://git@" + host + "/x", "git@" + host + ":x"} {
			if strings.HasPrefix(address, "git@[") || strings.HasPrefix(address, "git@") && strings.ContainsAny(host, "/") {
				continue
			}
			_, err := unbounded.Mirror(t.Context(), "", address, filepath.Join(t.TempDir(), "m"), nil)
			if !errors.Is(err, git.ErrURL) {
				t.Errorf("Mirror(%q) = %v, want ErrURL", address, err)
			}
			check("a mirror of " + address)
		}
	}
	for _, address := range []string{
		"https://example.org/x", "https://xn--bcher-kva.example/x", "https://bücher.example/x", "https://under_score:8443/x", "https://[2001:db8::1]/x",
		"https://192.0.2.1/x", "git@host:x", "ssh://git@host:22/x", "file:///srv/x", "/srv/x",
	} {
		if err := git.CheckURL(address); err != nil {
			t.Errorf("CheckURL(%q) = %v, want nil", address, err)
		}
	}
}

// The helper that answers for user name and password speaks in lines.
func TestCredentialsOfSeveralLines(t *testing.T) {
	for _, user := range []string{"me%0Ahost=x:secret", "me:secret%0Aurl=http://x", "me:se%0Dcret", "me:%00"} {
		if err := git.CheckURL("https://" + user + "@example.org/x"); !errors.Is(err, git.ErrURL) || strings.Contains(err.Error(), "secret") {
			t.Errorf("CheckURL with %q = %v, want ErrURL", user, err)
		}
	}
}
