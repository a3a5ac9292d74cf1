package git_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/trawlsearch/trawl/store/git"
)

// gate is a proxy that lets through what it is told to.
type gate struct {
	*httptest.Server
	mu    sync.Mutex // guards what follows
	open  func(host string) bool
	asked []string
}

func newGate(t *testing.T, open func(host string) bool) *gate {
	t.Helper()
	g := &gate{open: open}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.Header.Del("Proxy-Authorization") }}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.asked = append(g.asked, r.Host)
		open := g.open
		g.mu.Unlock()
		switch {
		case r.Header.Get("Proxy-Authorization") == "":
			w.Header().Set("Proxy-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusProxyAuthRequired)
		case !open(r.Host):
			w.WriteHeader(http.StatusForbidden)
		default:
			forward.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(g.Close)
	return g
}

func (g *gate) url() string { return strings.Replace(g.URL, "://", "://me:secret@", 1) }

// hosts returns those that it was asked for.
func (g *gate) hosts() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.asked)
}

// shut lets nothing through from now on.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = func(string) bool { return false }
}

func TestMirrorThrough(t *testing.T) {
	x := newFixture(t)
	x.write("a", "1")
	commit := x.commit()
	server := httpServer(t, filepath.Dir(x.dir))
	host := strings.TrimPrefix(server.URL, "http://")
	from := "http://o%27neil:s3cr%25t%20$(x)@" + host + "/repo/.git"
	// What this machine says of proxies does not count.
	for _, name := range []string{"no_proxy", "NO_PROXY"} {
		t.Setenv(name, "*")
	}
	g := newGate(t, func(asked string) bool { return asked == host })
	dir := filepath.Join(t.TempDir(), "m")
	repo, err := unbounded.Mirror(t.Context(), g.url(), from, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkMirror(t, repo, x, "main", commit)
	mirrored := len(g.hosts())
	if mirrored == 0 {
		t.Fatal("the proxy was not asked")
	}
	x.write("a", "2")
	commit = x.commit()
	if err := repo.Fetch(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	checkMirror(t, repo, x, "main", commit)
	if len(g.hosts()) == mirrored {
		t.Error("Fetch went past the proxy")
	}
	g.shut()
	if err := repo.Fetch(t.Context(), nil); err == nil {
		t.Error("Fetch through a closed proxy: got nil, want an error")
	} else if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "s3cr") {
		t.Errorf("the error shows a password: %v", err)
	}
}

// A server that may be asked cannot send git elsewhere but through the proxy.
func TestMirrorThroughRedirects(t *testing.T) {
	x := newFixture(t)
	x.write("a", "1")
	x.commit()
	var touched atomic.Bool
	inner := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		touched.Store(true)
		w.WriteHeader(http.StatusNotFound)
	}))
	defer inner.Close()
	var target atomic.Pointer[string]
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, *target.Load()+r.URL.RequestURI(), http.StatusFound)
	}))
	defer front.Close()
	at, err := url.Parse(front.URL)
	if err != nil {
		t.Fatal(err)
	}
	g := newGate(t, func(asked string) bool { return asked == at.Host })
	for _, to := range []string{inner.URL, "file://" + x.dir, "ssh://example.org", "git://example.org", "ext::sh"} {
		target.Store(&to)
		if _, err := unbounded.Mirror(t.Context(), g.url(), front.URL+"/repo", filepath.Join(t.TempDir(), "m"), nil); err == nil {
			t.Errorf("redirect to %s: got nil, want an error", to)
		}
	}
	if touched.Load() {
		t.Error("git followed a redirect past the proxy")
	}
}

func TestMirrorThroughRefusesURLs(t *testing.T) {
	g := newGate(t, func(string) bool { return true })
	for _, from := range []string{
		"ssh://git@example.org/x", "git@example.org:x", "git://example.org/x", "file:///etc", "/etc", "etc", "ext::sh -c id", "--upload-pack=id",
	} {
		_, err := unbounded.Mirror(t.Context(), g.url(), from, filepath.Join(t.TempDir(), "m"), nil)
		if !errors.Is(err, git.ErrURL) {
			t.Errorf("Mirror of %q through a proxy: %v, want ErrURL", from, err)
		}
	}
	if asked := g.hosts(); len(asked) > 0 {
		t.Errorf("the proxy was asked for %v", asked)
	}
}
