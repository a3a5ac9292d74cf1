package finder_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/finder"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a server with lab/kiln, which all may read and of which the branch next is
// indexed, lab/other, and lab/secret, which only ann may read.
type world struct {
	*worldtest.World
	first string // the first commit of lab/kiln
}

const hostile = `b/"><script>alert(1)</script>.go`

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: worldtest.New(t, worldtest.Options{})}
	w.repositories()
	w.Users(identity.NewUser{Name: "ann"})
	w.Readers("lab/secret", "user:ann")
	e := &finder.Endpoint{Store: func() *store.Store { return w.Store }, Within: time.Minute}
	s := &httpapi.Server{Extra: e.Routes(), Gate: w.Gate, Log: zerolog.Nop(), Admission: httpapi.NewAdmission(2, 64<<20)}
	w.Listen(s.Handler())
	return w
}

func (w *world) repositories() {
	w.Helper()
	kiln := w.Git("kiln")
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
	other := w.Git("other")
	other.Write("lib/fire.go", "package x\n")
	other.Commit("Other")
	secret := w.Git("secret")
	secret.Write("plan/fire.go", "package s\n")
	secret.Commit("Hide")
	w.AddGit("kiln", "other", "secret")
	w.Facts("lab/kiln", store.FactsChange{Branches: &[]string{"next"}})
	w.Sync("lab/kiln", "lab/other", "lab/secret")
}

// ask returns the status and what is found by a user, as "repository path".
func (w *world) ask(query url.Values, user string) (status int, found []string, body string) {
	w.Helper()
	resp, body := w.Send(http.MethodGet, finder.Path+"?"+query.Encode(), "", w.As(user)...)
	var a struct {
		Results []struct{ Repository, Path, URL string }
	}
	if resp.StatusCode == http.StatusOK {
		if err := json.Unmarshal([]byte(body), &a); err != nil {
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
	return resp.StatusCode, found, body
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
		if status, found, body := w.ask(query, "ann"); status != http.StatusOK || fmt.Sprint(found) != "[lab/secret plan/fire.go]" {
			t.Errorf("%v as ann: %d %s", query, status, body)
		}
	}
}
