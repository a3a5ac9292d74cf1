package github_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
	"github.com/trawlsearch/trawl/httpapi/hosts/github"
	"github.com/trawlsearch/trawl/internal/clock"
	"github.com/trawlsearch/trawl/internal/githubtest"
)

const token = "ghp_S3cr3tOfTheTest"

// world is a server and a client of it whose clock moves when it sleeps.
type world struct {
	*testing.T
	server *githubtest.Server
	clock  *clock.Clock
	client *codehost.Client

	mu    sync.Mutex
	slept time.Duration
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, server: githubtest.New(t, token), clock: clock.New(time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC))}
	w.server.Now = w.clock.Now
	w.client = codehost.NewClient(codehost.ClientOptions{Dial: (&net.Dialer{}).DialContext, Now: w.clock.Now, Sleep: func(ctx context.Context, d time.Duration) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.slept += d
		w.clock.Add(d)
		return ctx.Err()
	}})
	t.Cleanup(w.client.Close)
	return w
}

// host connects with a configuration that lacks its url and token.
func (w *world) host(config string) codehost.Host {
	w.Helper()
	a, err := github.Parse([]byte(`{"url": "` + w.server.URL + `", "token": "` + token + `", ` + config + `}`))
	if err != nil {
		w.Fatal(err)
	}
	base, err := url.Parse(w.server.URL)
	if err != nil {
		w.Fatal(err)
	}
	h, err := a.Connect(base, w.client.HTTP())
	if err != nil {
		w.Fatal(err)
	}
	return h
}

// parents are known parents of forks.
type parents map[string]string

func (p parents) Parent(id string) string { return p[id] }

// list returns the paths that a host lists.
func (w *world) list(h codehost.Host) ([]string, codehost.Listing, error) {
	w.Helper()
	l, err := h.List(w.Context(), parents{})
	paths := []string{}
	for _, r := range l.Repositories {
		paths = append(paths, r.Path)
	}
	return paths, l, err
}

func (w *world) put(first, last int64, owner string) {
	for id := first; id <= last; id++ {
		w.server.Put(githubtest.Repo{ID: id, FullName: fmt.Sprintf("%s/r%04d", owner, id)})
	}
}

// Organisations, users, queries, the account and names are listed; a repository that
// two of them have is there once.
func TestParts(t *testing.T) {
	w := newWorld(t)
	w.put(1, 3, "acme")
	w.put(4, 5, "ada")
	w.server.Put(githubtest.Repo{ID: 6, FullName: "lab/kiln", Topics: []string{"clay"}})
	w.server.Put(githubtest.Repo{ID: 7, FullName: "lab/hidden", Private: true})
	for _, tt := range []struct{ config, want string }{
		{`"orgs": ["acme"]`, "acme/r0001 acme/r0002 acme/r0003"},
		{`"users": ["ada"], "orgs": ["acme"], "exclude": [{"name": "x/y"}]`, "acme/r0001 acme/r0002 acme/r0003 ada/r0004 ada/r0005"},
		{`"repositoryQuery": ["topic:clay"]`, "lab/kiln"},
		{`"repositoryQuery": ["public"]`, "acme/r0001 acme/r0002 acme/r0003 ada/r0004 ada/r0005 lab/kiln"},
		{`"repositoryQuery": ["affiliated"]`, "acme/r0001 acme/r0002 acme/r0003 ada/r0004 ada/r0005 lab/kiln lab/hidden"},
		{`"repos": ["lab/kiln", "ada/r0004", "Lab/KILN"], "repositoryQuery": ["none"]`, "lab/kiln ada/r0004"},
		{`"orgs": ["acme"], "repos": ["acme/r0002"]`, "acme/r0001 acme/r0002 acme/r0003"},
		{`"gitURLType": "http"`, "acme/r0001 acme/r0002 acme/r0003 ada/r0004 ada/r0005 lab/kiln lab/hidden"},
	} {
		got, l, err := w.list(w.host(tt.config))
		if strings.Join(got, " ") != tt.want || err != nil || l.Failed != nil || l.Left != nil {
			t.Errorf("%s:\n got %s, failed %q, left %q, %v\nwant %s", tt.config, got, l.Failed, l.Left, err, tt.want)
		}
	}
}

// What the host says of a repository comes along, the parent of a fork as well, which
// is asked for once.
func TestFacts(t *testing.T) {
	w := newWorld(t)
	about := "clay & fire"
	w.server.Put(githubtest.Repo{
		ID: 7, NodeID: "R_x", FullName: "lab/kiln", Description: &about, Topics: []string{"clay"}, Stars: 12, Fork: true, Archived: true, Private: true, Size: 2048,
		Parent: &githubtest.Repo{FullName: "up/kiln"}, DefaultBranch: "trunk",
	})
	w.server.Put(githubtest.Repo{ID: 8, FullName: "lab/inner", Visibility: "internal"})
	h := w.host(`"orgs": ["lab"]`)
	_, l, err := w.list(h)
	if err != nil || len(l.Repositories) != 2 {
		t.Fatalf("got %+v, %v; want 2 repositories", l, err)
	}
	want := codehost.Repository{
		ID: "7", NodeID: "R_x", Path: "lab/kiln", CloneURL: w.server.URL + "/lab/kiln.git", Description: about, Topics: []string{"clay"}, Stars: 12, Fork: true, Archived: true,
		Private: true, Parent: "up/kiln", DefaultBranch: "trunk", SizeBytes: 2 << 20,
	}
	if got := l.Repositories[0]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if !l.Repositories[1].Private {
		t.Error("an internal repository is public")
	}
	before := w.server.Asked(0)
	if l, err := h.List(t.Context(), parents{"7": "up/kiln"}); err != nil || l.Repositories[0].Parent != "up/kiln" || w.server.Asked(0) != before+1 {
		t.Errorf("a parent that is known: %+v, %v, after %d requests; want 1", l.Repositories, err, w.server.Asked(0)-before)
	}
}

// Three thousand repositories take thirty requests, and none of the host's limit when
// nothing has changed since.
func TestThousandsOfRepositories(t *testing.T) {
	w := newWorld(t)
	w.put(1, 3000, "acme")
	w.server.Limit(5000, w.clock.Now().Add(time.Hour))
	h := w.host(`"orgs": ["acme"]`)
	for run := range 2 {
		got, l, err := w.list(h)
		if len(got) != 3000 || err != nil || l.Failed != nil {
			t.Fatalf("run %d: %d repositories, failed %q, %v", run, len(got), l.Failed, err)
		}
	}
	if ok, same := w.server.Asked(http.StatusOK), w.server.Asked(http.StatusNotModified); ok != 30 || same != 30 {
		t.Errorf("%d full answers and %d of no change, want 30 of each", ok, same)
	}
	w.server.Delete(1500)
	w.put(3001, 3001, "acme")
	if got, _, err := w.list(h); len(got) != 3000 || err != nil || slices.Contains(got, "acme/r1500") || !slices.Contains(got, "acme/r3001") {
		t.Errorf("after a change: %d repositories, %v", len(got), err)
	}
}

// What is removed while pages are read can hide the one that moves to the page before:
// two listings together have it.
func TestPagesThatChange(t *testing.T) {
	w := newWorld(t)
	w.put(1, 250, "acme")
	h := w.host(`"orgs": ["acme"]`)
	w.server.Fault(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("page") == "2" {
			w.server.Delete(1)
		}
		return false
	})
	first, _, err := w.list(h)
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := w.list(h)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(first, "acme/r0101") || !slices.Contains(second, "acme/r0101") {
		t.Error("the test shows nothing: the first listing has r0101, or the second has not")
	}
	seen := map[string]bool{}
	for _, p := range append(first, second...) {
		seen[p] = true
	}
	if len(slices.Collect(maps.Keys(seen))) != 250 {
		t.Errorf("both listings together have %d repositories, want 250", len(seen))
	}
}

// The same repository has another name, and the old one leads to it.
func TestRenamed(t *testing.T) {
	w := newWorld(t)
	w.server.Put(githubtest.Repo{ID: 9, FullName: "lab/oven"})
	w.server.Put(githubtest.Repo{ID: 9, FullName: "lab/kiln"})
	got, l, err := w.list(w.host(`"repos": ["lab/oven"], "repositoryQuery": ["none"]`))
	if err != nil || fmt.Sprint(got) != "[lab/kiln]" || l.Repositories[0].ID != "9" {
		t.Errorf("got %+v, %v; want lab/kiln", l, err)
	}
	w.server.Delete(9)
	got, l, err = w.list(w.host(`"repos": ["lab/oven"], "repositoryQuery": ["none"]`))
	if err != nil || len(got) != 0 || len(l.Left) != 1 || l.Failed != nil || !strings.Contains(l.Left[0], "lab/oven is not there") {
		t.Errorf("removed: got %+v, %v; want it to be left", l, err)
	}
}

// A fault that passes costs a request. One that lasts fails a part, and the others are
// there.
func TestFaults(t *testing.T) {
	w := newWorld(t)
	w.put(1, 250, "acme")
	w.put(301, 302, "lab")
	h := w.host(`"orgs": ["acme", "gone", "lab"]`)
	failures := 2
	fault := func(status int) func(http.ResponseWriter, *http.Request) bool {
		return func(rw http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, "/acme/") || r.URL.Query().Get("page") != "2" || failures == 0 {
				return false
			}
			failures--
			http.Error(rw, `{"message": "oops"}`, status)
			return true
		}
	}
	w.server.Fault(fault(http.StatusBadGateway))
	got, l, err := w.list(h)
	if len(got) != 252 || err != nil || len(l.Failed) != 1 || l.Failed[0] != "organisation gone: it is not there, or the token may not see it" {
		t.Errorf("a fault that passes: %d repositories, failed %q, %v", len(got), l.Failed, err)
	}
	failures = 1000
	w.server.Fault(fault(http.StatusInternalServerError))
	got, l, err = w.list(h)
	if len(got) != 102 || err != nil || len(l.Failed) != 2 || l.Failed[0] != "organisation acme: the host answered 500 oops" {
		t.Errorf("one that lasts: %d repositories, failed %q, %v", len(got), l.Failed, err)
	}
	w.server.CloseClientConnections()
	w.server.Close()
	if _, _, err := w.list(h); err == nil || strings.Contains(err.Error(), token) {
		t.Errorf("a host that is away: %v", err)
	}
}

func TestRevokedToken(t *testing.T) {
	w := newWorld(t)
	w.put(1, 2, "acme")
	h := w.host(`"orgs": ["acme"]`)
	if _, _, err := w.list(h); err != nil {
		t.Fatal(err)
	}
	w.server.SetToken("another")
	if _, _, err := w.list(h); !errors.Is(err, codehost.ErrCredentials) {
		t.Errorf("got %v, want ErrCredentials", err)
	}
}

// Limits are kept to: a short one is waited for, a long one ends the listing, and no
// request is made before its end.
func TestLimits(t *testing.T) {
	w := newWorld(t)
	w.put(1, 300, "acme")
	h := w.host(`"orgs": ["acme"]`)
	refuse := 1
	w.server.Fault(func(rw http.ResponseWriter, _ *http.Request) bool {
		if refuse == 0 {
			return false
		}
		refuse--
		rw.Header().Set("Retry-After", "7")
		http.Error(rw, `{"message": "slow down"}`, http.StatusTooManyRequests)
		return true
	})
	if got, _, err := w.list(h); len(got) != 300 || err != nil || w.slept != 7*time.Second {
		t.Errorf("Retry-After: %d repositories, %v, after %s; want 7s", len(got), err, w.slept)
	}
	w.server.Limit(1, w.clock.Now().Add(30*time.Second))
	w.put(1, 300, "other")
	w.slept = 0
	if got, _, err := w.list(w.host(`"orgs": ["other"]`)); len(got) != 300 || err != nil || w.slept < 29*time.Second || w.slept > 31*time.Second {
		t.Errorf("no requests remaining: %d repositories, %v, after %s; want 30s", len(got), err, w.slept)
	}
	w.put(1, 300, "third")
	until := w.clock.Now().Add(40 * time.Minute)
	w.server.Limit(2, until)
	third, limited := w.host(`"orgs": ["third"]`), &codehost.LimitedError{}
	if _, _, err := w.list(third); !errors.As(err, &limited) || limited.Until.Unix() != until.Unix() {
		t.Errorf("a long limit: %v, want a LimitedError until %s", err, until)
	}
	before := w.server.Asked(0)
	if _, _, err := w.list(third); !errors.As(err, &limited) || w.server.Asked(0) != before {
		t.Errorf("during it: %v after %d requests, want none", err, w.server.Asked(0)-before)
	}
	w.clock.Add(41 * time.Minute)
	if got, _, err := w.list(third); len(got) != 300 || err != nil {
		t.Errorf("after it: %d repositories, %v", len(got), err)
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ config, want string }{
		{`{"token": "x"}`, "url is missing"},
		{`{"url": "https://github.com"}`, "names no repositories"},
		{`{"url": "https://github.com", "token": "x", "certificate": "y"}`, "Additional property certificate is not allowed"},
		{`{"url": "https://github.com", "token": "x", "authorization": {}}`, "Additional property authorization is not allowed"},
		{`{"url": "https://github.com", "token": "x", "gitURLType": "ssh"}`, "over HTTP only"},
		{`{"url": "https://github.com", "token": "x", "repos": ["kiln"]}`, "no owner/name"},
		{`{"url": "https://github.com", "token": "x", "repos": ["../../x"]}`, "no owner/name"},
		{`{"url": "https://github.com", "token": "x", "repos": ["a/b/c"]}`, "no owner/name"},
		{`{"url": "https://github.com", "token": "x", "orgs": ["a?b"]}`, "no name of an organisation"},
		{`{"url": "https://github.com", "token": "x", "repositoryQuery": ["public"]}`, "github.com has too much"},
		{`{"url": "https://github.com", "token": "x", "exclude": [{}]}`, "exclude, rule 1: it says nothing"},
		{`{"url": "https://github.com", "token": "x", "exclude": [{"pattern": "("}]}`, "no regular expression"},
		{`{"url": "https://github.com", "token": "x", "exclude": [{"size": "> 1 XB"}]}`, "no comparison"},
		{`{"url": "https://github.com", "token": "x", "exclude": [{"size": "> 999999999999999 TB"}]}`, "no comparison"},
		{`{"url": "https://github.com", "token": "x", "exclude": [{"odd": 1}]}`, "Additional property odd is not allowed"},
		{`{"url": "https://github.com", "token": "S3cret\n"}`, "token: it holds"},
		{`{"url": "https://github.com", "token": ["S3cret"]}`, "token: it has to be of another type"},
		{`{"url": "https://github.com", "token": "x", "webhooks": [{"org": "a", "secret": "S3c"}]}`, "shorter than"},
		{`{"url": "https://github.com", "token": "x", "rateLimit": {"enabled": true, "requestsPerHour": 0}}`, "less than 1"},
		{`{"url": "https://github.com", "token": "x", "repositoryPathPattern": "all"}`, "lacks {nameWithOwner}"},
	} {
		if _, err := github.Parse([]byte(tt.config)); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "S3c") {
			t.Errorf("Parse(%s) = %v, want %q in it", tt.config, err, tt.want)
		}
	}
}
