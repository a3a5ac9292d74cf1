package github_test

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
	"github.com/trawlsearch/trawl/httpapi/hosts/github"
	"github.com/trawlsearch/trawl/internal/hosttest"
)

const token = "ghp_S3cr3tOfTheTest"

// world is a server and a client of it.
type world struct {
	*testing.T
	server *hosttest.Server
	client *codehost.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, server: hosttest.New(t, hosttest.GitHub, token), client: codehost.NewClient(codehost.ClientOptions{Dial: (&net.Dialer{}).DialContext})}
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
		w.server.Put(hosttest.Repo{ID: id, FullName: fmt.Sprintf("%s/r%04d", owner, id)})
	}
}

// Organisations, users, queries, the account and names are listed; a repository that
// two of them have is there once.
func TestParts(t *testing.T) {
	w := newWorld(t)
	w.put(1, 3, "acme")
	w.put(4, 5, "ada")
	w.server.Put(hosttest.Repo{ID: 6, FullName: "lab/kiln", Topics: []string{"clay"}})
	w.server.Put(hosttest.Repo{ID: 7, FullName: "lab/hidden", Private: true})
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

// The parent of a fork, which lists do not name, is asked for once.
func TestParents(t *testing.T) {
	w := newWorld(t)
	w.server.Put(hosttest.Repo{ID: 7, FullName: "lab/kiln", Fork: true, Parent: &hosttest.Repo{FullName: "up/kiln"}})
	h := w.host(`"orgs": ["lab"]`)
	if _, l, err := w.list(h); err != nil || len(l.Repositories) != 1 || l.Repositories[0].Parent != "up/kiln" || l.Repositories[0].NodeID != "R_7" {
		t.Fatalf("got %+v, %v; want a fork of up/kiln", l, err)
	}
	before := w.server.Asked(0)
	if l, err := h.List(t.Context(), parents{"7": "up/kiln"}); err != nil || l.Repositories[0].Parent != "up/kiln" || w.server.Asked(0) != before+1 {
		t.Errorf("a parent that is known: %+v, %v, after %d requests; want 1", l.Repositories, err, w.server.Asked(0)-before)
	}
}

// A search that finds more than GitHub gives is split by the time at which repositories
// were made, unless it names that itself.
func TestSearchOfThousands(t *testing.T) {
	w := newWorld(t)
	for id := range int64(3500) {
		w.server.Put(hosttest.Repo{ID: id + 1, FullName: fmt.Sprintf("acme/r%04d", id), Topics: []string{"clay"}})
	}
	got, l, err := w.list(w.host(`"repositoryQuery": ["topic:clay"]`))
	if len(got) != 3500 || err != nil || l.Failed != nil {
		t.Errorf("%d repositories, failed %q, %v; want 3500", len(got), l.Failed, err)
	}
	t.Logf("%d requests", w.server.Asked(0))
	got, l, err = w.list(w.host(`"repositoryQuery": ["topic:clay created:2019-01-01..2030-01-01"]`))
	if len(got) != 1000 || err != nil || len(l.Failed) != 1 || !strings.Contains(l.Failed[0], "split the query") {
		t.Errorf("with a time of its own: %d repositories, failed %q, %v; want a part that fails", len(got), l.Failed, err)
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ config, want string }{
		{`{"token": "x"}`, "url is missing"},
		{`{"url": "https://github.com"}`, "names no repositories"},
		{`{"url": "https://github.com", "token": "x", "certificate": "y"}`, "Additional property certificate is not allowed"},
		{`{"url": "https://github.com", "orgs": ["a"], "authorization": {}}`, "authorization: it needs a token"},
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
