package finder_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/finder"
	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/ingest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a server with lab/kiln, which all may read and of which the branch next is
// indexed, lab/other, and lab/secret, which only ann may read.
type world struct {
	*testing.T
	url, token string
	first      string // the first commit of lab/kiln
}

const hostile = `b/"><script>alert(1)</script>.go`

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	st, err := store.Open(filepath.Join(dir, "data"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	w := &world{T: t}
	w.repositories(dir, st)
	registry, err := identity.Open(st, identity.Options{Cost: identity.Cost{MemoryKiB: 8, Passes: 1}})
	if err != nil {
		t.Fatal(err)
	}
	operator := identity.Author{Operator: true}
	ann, err := registry.CreateUser(operator, identity.NewUser{Name: "ann"})
	month := 30 * 24 * time.Hour
	if err == nil {
		w.token, _, err = registry.CreateToken(operator, identity.NewToken{User: ann.ID, Scopes: []string{identity.ScopeAll}, Lifetime: &month})
	}
	if err == nil {
		_, err = registry.SetReaders(operator, "lab/secret", []string{"user:ann"})
	}
	if err != nil {
		t.Fatal(err)
	}
	e := &finder.Endpoint{Store: func() *store.Store { return st }, Within: time.Minute}
	gate := &auth.Gate{Registry: func() *identity.Registry { return registry }, Anonymous: auth.AnonymousYes}
	s := &httpapi.Server{Extra: e.Routes(), Gate: gate, Log: zerolog.Nop(), Admission: httpapi.NewAdmission(2, 64<<20)}
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

func (w *world) repositories(dir string, st *store.Store) {
	w.Helper()
	ix := ingest.New(st, ingest.Options{MinFreeBytes: -1})
	kiln := gitrepo.New(w, filepath.Join(dir, "kiln"))
	kiln.Write("old/fire.go", "package old\n")
	kiln.Commit("Begin")
	w.first = kiln.Git("rev-parse", "HEAD")
	kiln.Git("checkout", "-q", "-b", "next")
	kiln.Write("next/fire.go", "package next\n")
	kiln.Commit("Next")
	kiln.Git("checkout", "-q", "main")
	kiln.Git("rm", "-q", "old/fire.go")
	kiln.Write("src/fire.go", "package src\n")
	kiln.Write("src/fire_test.go", "package src\n")
	kiln.Write(hostile, "package b\n")
	kiln.Commit("More")
	other := gitrepo.New(w, filepath.Join(dir, "other"))
	other.Write("lib/fire.go", "package x\n")
	other.Commit("Other")
	secret := gitrepo.New(w, filepath.Join(dir, "secret"))
	secret.Write("plan/fire.go", "package s\n")
	secret.Commit("Hide")
	for _, name := range []string{"kiln", "other", "secret"} {
		source, err := ingest.ParseSource("lab/" + name + "=" + filepath.Join(dir, name))
		if err == nil {
			_, err = ix.Add(w.Context(), source)
		}
		if err == nil && name == "kiln" {
			globs := []string{"next"}
			_, err = st.ChangeFacts("lab/kiln", store.FactsChange{Branches: &globs})
		}
		if err == nil {
			_, err = ix.Sync(w.Context(), "lab/"+name, nil)
		}
		if err != nil {
			w.Fatal(err)
		}
	}
}

// ask returns the status and what is found, as "repository path".
func (w *world) ask(query url.Values, token string) (status int, found []string, body string) {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), http.MethodGet, w.url+finder.Path+"?"+query.Encode(), nil)
	if err != nil {
		w.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "token "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	var a struct {
		Results []struct{ Repository, Path, URL string }
	}
	if resp.StatusCode == http.StatusOK {
		if err := json.Unmarshal(text, &a); err != nil {
			w.Fatal(err)
		}
	}
	for _, r := range a.Results {
		found = append(found, r.Repository+" "+r.Path)
		if !strings.HasPrefix(r.URL, "/"+r.Repository) || strings.ContainsAny(r.URL, `"<> `) {
			w.Errorf("the address of %q is %q", r.Path, r.URL)
		}
	}
	slices.Sort(found)
	return resp.StatusCode, found, string(text)
}

func TestEndpoint(t *testing.T) {
	w := newWorld(t)
	kiln := func(more ...string) url.Values {
		v := url.Values{"repository": {"lab/kiln"}}
		for i := 0; i < len(more); i += 2 {
			v.Set(more[i], more[i+1])
		}
		return v
	}
	for _, c := range []struct {
		query url.Values
		want  string
	}{
		{kiln("q", "fire"), "[lab/kiln src/fire.go lab/kiln src/fire_test.go]"},
		{kiln("q", "FIRE test"), "[lab/kiln src/fire_test.go]"},
		{kiln("q", "fire", "limit", "1"), "[lab/kiln src/fire.go]"},
		{kiln("q", "script"), "[lab/kiln " + hostile + "]"},
		{kiln("q", "old"), "[]"},
		// other branches of the index, and other commits, which git lists
		{kiln("q", "fire", "revision", "main"), "[lab/kiln src/fire.go lab/kiln src/fire_test.go]"},
		{kiln("q", "fire", "revision", "next"), "[lab/kiln next/fire.go lab/kiln old/fire.go]"},
		{kiln("q", "fire", "revision", w.first), "[lab/kiln old/fire.go]"},
		{kiln("q", "fire", "revision", "main~1"), "[lab/kiln old/fire.go]"},
		// all repositories, by their names too
		{url.Values{"q": {"fire.go"}}, "[lab/kiln src/fire.go lab/kiln src/fire_test.go lab/other lib/fire.go]"},
		{url.Values{"q": {"other fire"}}, "[lab/other lib/fire.go]"},
		{url.Values{"q": {"plan"}}, "[]"},
	} {
		status, found, body := w.ask(c.query, "")
		if status != http.StatusOK || fmt.Sprint(found) != c.want {
			t.Errorf("%v: %d %s, want %s", c.query, status, body, c.want)
		}
	}
	for query, want := range map[string]int{
		"": 400, "q=+": 400, "q=" + strings.Repeat("x", 201): 400, "q=%ff": 400, "q=x&limit=0": 400, "q=x&limit=101": 400, "q=x&limit=x": 400,
		"q=x&revision=main": 400, "q=x&repository=" + strings.Repeat("x", 5000): 400, "q=x&repository=lab/none": 404,
		"q=x&repository=lab/kiln&revision=none": 404, "q=x&repository=lab/kiln&revision=--all": 404,
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if status, _, body := w.ask(values, ""); status != want {
			t.Errorf("%.60s: %d %s, want %d", query, status, body, want)
		}
	}
}

// Nothing is found that the client may not see, and nothing tells that it is there.
func TestEndpointHides(t *testing.T) {
	w := newWorld(t)
	secret := url.Values{"repository": {"lab/secret"}, "q": {"plan"}}
	_, _, none := w.ask(url.Values{"repository": {"lab/none"}, "q": {"plan"}}, "")
	for _, query := range []url.Values{secret, {"repository": {"lab/secret"}, "revision": {"main~0"}, "q": {"plan"}}} {
		if status, _, body := w.ask(query, ""); status != http.StatusNotFound || body != none {
			t.Errorf("%v: %d %q, want 404 %q", query, status, body, none)
		}
	}
	for _, query := range []url.Values{secret, {"q": {"secret plan"}}} {
		if status, found, body := w.ask(query, w.token); status != http.StatusOK || fmt.Sprint(found) != "[lab/secret plan/fire.go]" {
			t.Errorf("%v as ann: %d %s", query, status, body)
		}
	}
}
