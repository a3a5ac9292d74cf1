package httpapi_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/cluster/memorylog"
	"github.com/trawlsearch/trawl/store/identity"
)

// While a node is not current, each route says so and does nothing, but for those that
// show nothing of the store.
func TestRoutesOfANodeThatIsNotCurrent(t *testing.T) {
	s := newSite(t, func(ctx context.Context, q *query.Query, o search.Options, sink answer.Sink) search.Outcome {
		t.Error("a search ran")
		return nothing(ctx, q, o, sink)
	})
	_, token := s.user(t, identity.NewUser{Name: "ann", SiteAdmin: true})
	var current atomic.Bool
	s.Gate.Current = current.Load
	goesOn := map[string]int{
		"/healthz": 200, "/__version": 200, "/sign-in": 200, "/robots.txt": 200, "/opensearch.xml": 200, "/.api/src-cli/version": 200, "/.api/src-cli/{file}": 404,
		"/-/assets/{version}/{name}": 404,
	}
	for _, route := range s.Routes() {
		path := strings.NewReplacer("{id}", "x", "{name:.+}", "x", "{name}", "x", "{version}", "x", "{file}", "x").Replace(route.Path)
		want, public := goesOn[route.Template()]
		if !public {
			want = http.StatusServiceUnavailable
		}
		got := s.ask(route.Method, path, "", "Authorization", "token "+token)
		body, _ := io.ReadAll(got.Body)
		if got.StatusCode != want {
			t.Errorf("%s %s: %d %s, want %d", route.Method, route.Path, got.StatusCode, body, want)
		}
		if path != "/readyz" && want == http.StatusServiceUnavailable && (got.Header.Get("Retry-After") != "1" || route.Method != "HEAD" && !strings.Contains(string(body), auth.NotCurrent)) {
			t.Errorf("%s %s: Retry-After %q, %s", route.Method, route.Path, got.Header.Get("Retry-After"), body)
		}
	}
	if got := s.Unready(); got != "waiting for the database of the cluster" {
		t.Errorf("Unready: %q", got)
	}
	current.Store(true)
	if got := s.ask("GET", "/readyz", ""); got.StatusCode != 200 {
		t.Errorf("current again: /readyz %d", got.StatusCode)
	}
}

// Any node takes the setup secret that another one has logged, until there is a user;
// and signs nobody in without the log.
func TestSetUpOnNodes(t *testing.T) {
	log := memorylog.New(1, false)
	var nodes [2]*site
	for i := range nodes {
		s := newSiteOn(t, nothing, store.Options{Log: log})
		s.SetupSecret = "secret of one process"
		nodes[i] = s
	}
	secret, err := nodes[0].reg.SetupSecret(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	form := func(secret string) map[string]string {
		return map[string]string{"username": "root", "email": "root@example.org", "password": worldtest.Password, "secret": secret}
	}
	for _, wrong := range []string{"", "wrong", secret + "A"} {
		if got := postJSON(nodes[1], "/-/site-init", form(wrong)); got.StatusCode != http.StatusForbidden {
			t.Errorf("setup secret %q: %d, want 403", wrong, got.StatusCode)
		}
	}
	got := postJSON(nodes[1], "/-/site-init", form(secret))
	if got.StatusCode != 200 || sessionOf(got) == nil {
		t.Fatalf("the setup secret of another node: %d", got.StatusCode)
	}
	if got := postJSON(nodes[0], "/-/site-init", form(secret)); got.StatusCode != http.StatusForbidden {
		t.Errorf("the setup secret a second time: %d, want 403", got.StatusCode)
	}
	log.SetAway(true)
	got = postJSON(nodes[0], "/-/sign-in", map[string]string{"email": "root", "password": worldtest.Password})
	if got.StatusCode != http.StatusServiceUnavailable || got.Header.Get("Retry-After") != "1" || sessionOf(got) != nil {
		t.Errorf("sign in without the log: %d, Retry-After %q", got.StatusCode, got.Header.Get("Retry-After"))
	}
}
