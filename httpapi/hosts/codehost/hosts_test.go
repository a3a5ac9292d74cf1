package codehost_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/httpapi/hosts/bitbucket"
	"github.com/trawlsearch/trawl/httpapi/hosts/codehost"
	"github.com/trawlsearch/trawl/httpapi/hosts/gerrit"
	"github.com/trawlsearch/trawl/httpapi/hosts/gitea"
	"github.com/trawlsearch/trawl/httpapi/hosts/github"
	"github.com/trawlsearch/trawl/httpapi/hosts/gitlab"
	"github.com/trawlsearch/trawl/internal/clock"
	"github.com/trawlsearch/trawl/internal/hosttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "tok_S3cr3tOfTheTest"

// kind is a kind of host, and how its configuration names groups and repositories.
type kind struct {
	api   hosttest.API
	parse func([]byte) (*codehost.Account, error)
	// groups is a list of groups and one is a name, both to be filled in; "" for a kind
	// without groups, all of whose repositories are listed.
	groups, one string
	// group is what the kind calls a group, or the name of all.
	group    string
	pageSize int
	// extra begins a configuration for a host at an address.
	extra func(url string) string
	// renames says that an old name leads to the repository, etags that an answer which
	// has not changed costs nothing.
	renames, etags bool
	// lacks takes out what the kind does not say.
	lacks func(r *codehost.Repository)
}

func nothing(string) string { return "" }

var kinds = []kind{
	{hosttest.GitHub, github.Parse, `"orgs": [%s]`, `"repos": [%q], "repositoryQuery": ["none"]`, "organisation", 100, nothing, true, true, func(*codehost.Repository) {}},
	{hosttest.GitLab, gitlab.Parse, `"groups": [%s]`, `"projects": [{"name": %q}]`, "group", 100, nothing, true, true, func(*codehost.Repository) {}},
	{hosttest.Gitea, gitea.Parse, `"orgs": [%s]`, `"repos": [%q]`, "organisation", 50, nothing, true, true, func(*codehost.Repository) {}},
	{hosttest.BitbucketCloud, bitbucket.ParseCloud, `"teams": [%s]`, `"repos": [%q]`, "workspace", 100, func(url string) string { return `"apiURL": "` + url + `/2.0", ` }, false, false,
		func(r *codehost.Repository) {
			r.ID, r.Topics, r.Stars, r.Archived = hosttest.CloudUUID(7), nil, 0, false
		}},
	{hosttest.BitbucketServer, bitbucket.ParseServer, `"projectKeys": [%s]`, `"repos": [%q]`, "project", 100, nothing, false, false, func(r *codehost.Repository) {
		r.Topics, r.Stars, r.DefaultBranch, r.SizeBytes, r.Pushed = nil, 0, "", 0, time.Time{}
	}},
	{hosttest.Gerrit, gerrit.Parse, "", `"projects": [%q]`, "projects", 100, func(string) string { return `"username": "ann", ` }, false, false, func(r *codehost.Repository) {
		*r = codehost.Repository{ID: "lab%2Fkiln", Path: r.Path, CloneURL: strings.TrimSuffix(strings.Replace(r.CloneURL, "/lab", "/a/lab", 1), ".git"), Description: r.Description, Archived: true, Private: true}
	}},
}

// eachKind runs a test for hosts of every kind.
func eachKind(t *testing.T, test func(w *world)) {
	for _, k := range kinds {
		t.Run(k.api.Kind, func(t *testing.T) { test(newWorld(t, k)) })
	}
}

// world is a server and a client of it whose clock moves when it sleeps.
type world struct {
	*testing.T
	kind
	server *hosttest.Server
	clock  *clock.Clock
	client *codehost.Client

	mu    sync.Mutex
	slept time.Duration
}

func newWorld(t *testing.T, k kind) *world {
	t.Helper()
	w := &world{T: t, kind: k, server: hosttest.New(t, k.api, token), clock: clock.New(time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC))}
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

// ofGroups connects to list some groups.
func (w *world) ofGroups(names ...string) codehost.Host {
	w.Helper()
	return w.host(w.naming(names...))
}

// naming is the part of a configuration that names groups.
func (k kind) naming(names ...string) string {
	if k.groups == "" {
		return `"exclude": [{"name": "none"}]`
	}
	return fmt.Sprintf(k.groups, `"`+strings.Join(names, `", "`)+`"`)
}

// host connects with a configuration that lacks its url and token.
func (w *world) host(config string) codehost.Host {
	w.Helper()
	a, err := w.parse([]byte(`{"url": "` + w.server.URL + `", "token": "` + token + `", ` + w.extra(w.server.URL) + config + `}`))
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

type noneKnown struct{}

func (noneKnown) Parent(string) string { return "" }

// list returns the paths that a host lists.
func (w *world) list(h codehost.Host) ([]string, codehost.Listing, error) {
	w.Helper()
	l, err := h.List(w.Context(), noneKnown{})
	paths := []string{}
	for _, r := range l.Repositories {
		paths = append(paths, r.Path)
	}
	if text := fmt.Sprint(l.Failed, l.Left, err); strings.Contains(text, token) {
		w.Errorf("the token is shown: %s", text)
	}
	return paths, l, err
}

func (w *world) put(first, last int64, owner string) {
	for id := first; id <= last; id++ {
		w.server.Put(hosttest.Repo{ID: id, FullName: fmt.Sprintf("%s/r%04d", owner, id)})
	}
}

// What the host says of a repository comes along.
func TestFacts(t *testing.T) {
	eachKind(t, func(w *world) {
		about := "clay & fire"
		w.server.Put(hosttest.Repo{
			ID: 7, FullName: "lab/kiln", Description: &about, Topics: []string{"clay"}, Stars: 12, Fork: true, Archived: true, Private: true, Size: 2048,
			Parent: &hosttest.Repo{FullName: "up/kiln"}, DefaultBranch: "trunk", PushedAt: "2026-04-03T02:01:00Z",
		})
		w.server.Put(hosttest.Repo{ID: 8, FullName: "lab/oven", Visibility: "internal"})
		w.server.Put(hosttest.Repo{ID: 9, FullName: "lab/within"})
		_, l, err := w.list(w.host(w.naming("lab") + `, "include": [{"size": "< 1 GB"}]`))
		if err != nil || len(l.Repositories) != 3 {
			t.Fatalf("got %+v, %v; want 3 repositories", l, err)
		}
		got := l.Repositories[0]
		want := codehost.Repository{
			ID: "7", Path: "lab/kiln", CloneURL: w.server.URL + "/lab/kiln.git", Description: about, Topics: []string{"clay"}, Stars: 12, Fork: true, Archived: true,
			Private: true, Parent: "up/kiln", DefaultBranch: "trunk", SizeBytes: 2 << 20, Pushed: time.Date(2026, 4, 3, 2, 1, 0, 0, time.UTC),
		}
		got.NodeID = ""
		w.lacks(&want)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
		if w.groups != "" && (!l.Repositories[1].Private || l.Repositories[2].Private) {
			t.Errorf("an internal one is private: %t, a public one: %t", l.Repositories[1].Private, l.Repositories[2].Private)
		}
	})
}

// Many repositories take a request for each page, and none of the host's limit when
// nothing has changed since. GitHub has three thousand, the others ten pages.
func TestThousandsOfRepositories(t *testing.T) {
	eachKind(t, func(w *world) {
		all := 10 * w.pageSize
		if w.api.Kind == github.Kind {
			all = 3000
		}
		w.put(1, int64(all), "acme")
		w.server.Limit(5000, w.clock.Now().Add(time.Hour))
		h := w.ofGroups("acme")
		for run := range 2 {
			got, l, err := w.list(h)
			if len(got) != all || err != nil || l.Failed != nil {
				t.Fatalf("run %d: %d repositories, failed %q, %v", run, len(got), l.Failed, err)
			}
		}
		want := all / w.pageSize
		ok, same := w.server.Asked(http.StatusOK), w.server.Asked(http.StatusNotModified)
		if w.etags && (ok != want || same != want) || !w.etags && ok != 2*want {
			t.Errorf("%d full answers and %d of no change, want %d for each run", ok, same, want)
		}
		w.server.Delete(150)
		w.put(9999, 9999, "acme")
		if got, _, err := w.list(h); len(got) != all || err != nil || slices.Contains(got, "acme/r0150") || !slices.Contains(got, "acme/r9999") {
			t.Errorf("after a change: %d repositories, %v", len(got), err)
		}
	})
}

// What is removed while pages are read can hide the one that moves to the page before:
// two listings together have it.
func TestPagesThatChange(t *testing.T) {
	eachKind(t, func(w *world) {
		w.put(1, 250, "acme")
		h := w.ofGroups("acme")
		w.server.Fault(func(_ http.ResponseWriter, r *http.Request) bool {
			if w.server.SecondPage(r) {
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
		hidden := fmt.Sprintf("acme/r%04d", w.pageSize+1)
		if slices.Contains(first, hidden) || !slices.Contains(second, hidden) {
			t.Errorf("the test shows nothing: the first listing has %s, or the second has not", hidden)
		}
		seen := map[string]bool{}
		for _, p := range append(first, second...) {
			seen[p] = true
		}
		if len(seen) != 250 {
			t.Errorf("both listings together have %d repositories, want 250", len(seen))
		}
	})
}

// The same repository has another name, and the old one leads to it.
func TestRenamed(t *testing.T) {
	eachKind(t, func(w *world) {
		w.server.Put(hosttest.Repo{ID: 9, FullName: "lab/oven"})
		w.server.Put(hosttest.Repo{ID: 9, FullName: "lab/kiln"})
		oven := w.host(fmt.Sprintf(w.one, "lab/oven"))
		got, l, err := w.list(oven)
		if w.renames && (err != nil || fmt.Sprint(got) != "[lab/kiln]" || l.Repositories[0].ID != "9") {
			t.Errorf("got %+v, %v; want lab/kiln", l, err)
		}
		if got, _, err := w.list(w.host(fmt.Sprintf(w.one, "lab/kiln"))); err != nil || fmt.Sprint(got) != "[lab/kiln]" {
			t.Errorf("by the new name: got %s, %v", got, err)
		}
		w.server.Delete(9)
		got, l, err = w.list(oven)
		if err != nil || len(got) != 0 || len(l.Left) != 1 || l.Failed != nil || !strings.Contains(l.Left[0], "lab/oven is not there") {
			t.Errorf("removed: got %+v, %v; want it to be left", l, err)
		}
	})
}

// A fault that passes costs a request. One that lasts fails a part, and the others are
// there.
func TestFaults(t *testing.T) {
	eachKind(t, func(w *world) {
		w.put(1, 250, "acme")
		w.put(301, 302, "lab")
		h := w.ofGroups("acme", "gone", "lab")
		failures := 2
		fault := func(status int) func(http.ResponseWriter, *http.Request) bool {
			return func(rw http.ResponseWriter, r *http.Request) bool {
				if w.groups != "" && !strings.Contains(r.URL.String(), "acme") || !w.server.SecondPage(r) || failures == 0 {
					return false
				}
				failures--
				w.api.Fail(rw, status, "oops")
				return true
			}
		}
		w.server.Fault(fault(http.StatusBadGateway))
		got, l, err := w.list(h)
		gone, last := []string{w.group + " gone: it is not there, or the token may not see it"}, 2
		if w.groups == "" {
			gone, last = nil, 0
		}
		if len(got) != 252 || err != nil || !slices.Equal(l.Failed, gone) {
			t.Errorf("a fault that passes: %d repositories, failed %q, %v", len(got), l.Failed, err)
		}
		failures = 1000
		w.server.Fault(fault(http.StatusInternalServerError))
		got, l, err = w.list(h)
		if len(got) != w.pageSize+last || err != nil || len(l.Failed) != 1+len(gone) || !strings.HasPrefix(l.Failed[0], w.group) || !strings.Contains(l.Failed[0], ": the host answered 500") || !strings.Contains(l.Failed[0], "oops") {
			t.Errorf("one that lasts: %d repositories, failed %q, %v", len(got), l.Failed, err)
		}
		w.server.Fault(func(rw http.ResponseWriter, _ *http.Request) bool {
			rw.Header().Set("Content-Type", "text/html")
			_, _ = rw.Write([]byte("<html>sign in to the proxy</html>"))
			return true
		})
		if got, l, err = w.list(h); err == nil && len(l.Failed) == 0 {
			t.Errorf("a proxy's page: %d repositories, want an error", len(got))
		}
		w.server.CloseClientConnections()
		w.server.Close()
		if _, _, err := w.list(h); err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("a host that is away: %v", err)
		}
	})
}

func TestRevokedToken(t *testing.T) {
	eachKind(t, func(w *world) {
		w.put(1, 2, "acme")
		h := w.ofGroups("acme")
		if _, _, err := w.list(h); err != nil {
			t.Fatal(err)
		}
		w.server.SetToken("another")
		if _, _, err := w.list(h); !errors.Is(err, codehost.ErrCredentials) {
			t.Errorf("got %v, want ErrCredentials", err)
		}
	})
}

// Limits are kept to: a short one is waited for, a long one ends the listing, and no
// request is made before its end.
func TestLimits(t *testing.T) {
	eachKind(t, func(w *world) {
		w.put(1, 300, "acme")
		refuse := 1
		w.server.Fault(func(rw http.ResponseWriter, _ *http.Request) bool {
			if refuse == 0 {
				return false
			}
			refuse--
			rw.Header().Set("Retry-After", "7")
			w.api.Fail(rw, http.StatusTooManyRequests, "slow down")
			return true
		})
		if got, _, err := w.list(w.ofGroups("acme")); len(got) != 300 || err != nil || w.slept != 7*time.Second {
			t.Errorf("Retry-After: %d repositories, %v, after %s; want 7s", len(got), err, w.slept)
		}
		w.server.Limit(1, w.clock.Now().Add(29*time.Second+700*time.Millisecond)) // of which the host says the whole seconds
		w.put(1, 300, "other")
		w.slept = 0
		refused := func() int { return w.server.Asked(http.StatusForbidden) + w.server.Asked(http.StatusTooManyRequests) }
		before := refused()
		if got, _, err := w.list(w.ofGroups("other")); len(got) != 300 || err != nil || w.slept < 29*time.Second || w.slept > 32*time.Second {
			t.Errorf("no requests remaining: %d repositories, %v, after %s; want 30s", len(got), err, w.slept)
		}
		if more := refused() - before; w.etags && more != 0 {
			t.Errorf("no requests remaining: %d more requests were made and refused, want none", more)
		}
		w.put(1, 300, "third")
		until := w.clock.Now().Add(40 * time.Minute)
		w.server.Limit(2, until)
		third, limited := w.ofGroups("third"), &codehost.LimitedError{}
		if _, _, err := w.list(third); !errors.As(err, &limited) || limited.Until.Sub(until).Abs() > time.Second {
			t.Errorf("a long limit: %v, want a LimitedError until %s", err, until)
		}
		before = w.server.Asked(0)
		if _, _, err := w.list(third); !errors.As(err, &limited) || w.server.Asked(0) != before {
			t.Errorf("during it: %v after %d requests, want none", err, w.server.Asked(0)-before)
		}
		w.clock.Add(41 * time.Minute)
		if got, _, err := w.list(third); len(got) != 300 || err != nil {
			t.Errorf("after it: %d repositories, %v", len(got), err)
		}
	})
}

// A host whose clock is behind goes on to refuse when its limit should be over.
func TestLimitOfAClockBehind(t *testing.T) {
	eachKind(t, func(w *world) {
		w.put(1, 300, "acme")
		w.server.Now = func() time.Time { return w.clock.Now().Add(-2 * time.Second) }
		w.server.Limit(1, w.clock.Now().Add(20*time.Second))
		if got, _, err := w.list(w.ofGroups("acme")); len(got) != 300 || err != nil {
			t.Errorf("got %d repositories, %v; want 300", len(got), err)
		}
	})
}

// A host says which accounts may read a private repository, with addresses that it has
// verified, or that its administrator vouches for; a failure says nothing about them.
func TestReaders(t *testing.T) {
	ann, bob, eve := hosttest.User{ID: 1, Login: "ann", Email: "ann@example.org"}, hosttest.User{ID: 2, Login: "bob", Email: "bob@example.org", Unconfirmed: true}, hosttest.User{ID: 3, Login: "eve"}
	in := func(u hosttest.User, team string) hosttest.User {
		u.Team = team
		return u
	}
	guest, gone := in(hosttest.User{ID: 4, Login: "gus", Guest: true}, "guests"), hosttest.User{ID: 5, Login: "gwen", Email: "gwen@example.org", Inactive: true}
	ofProject := in(bob, "potters")
	ofProject.OfProject = true
	var many []hosttest.User
	for id := int64(10); id < 160; id++ {
		many = append(many, hosttest.User{ID: id, Login: fmt.Sprint("u", id), Team: "many"})
	}
	const trust = `{"trustAddresses": true, "identityProvider": {"type": "odd"}}`
	for _, tt := range []struct {
		name                string
		kind                kind
		authorization, path string
		owner               *hosttest.User
		readers             []hosttest.User
		want                string
	}{
		{"GitHub", kinds[0], "{}", "lab/kiln", nil, []hosttest.User{ann, bob, eve}, "[{1 ann@example.org} {2 } {3 }]"},
		{"GitLab", kinds[1], "{}", "lab/kiln", nil, []hosttest.User{ann, bob, eve, {ID: 4, Login: "gus", Guest: true}}, "[{1 ann@example.org} {2 } {3 }]"},
		{"Gitea", kinds[2], "{}", "lab/kiln", nil, []hosttest.User{ann, eve, gone, in(bob, "potters"), guest}, "[{1 } {3 } {2 }]"},
		{"Gitea, whose token is no administrator's", kinds[2], "{}", "lab/kiln", nil, []hosttest.User{ann, gone}, "[{1 } {5 }]"},
		{"Gitea, of a user", kinds[2], trust, "ann/kiln", &ann, []hosttest.User{bob}, "[{2 bob@example.org} {1 ann@example.org}]"},
		{"Bitbucket Server", kinds[4], trust, "LAB/kiln", nil, []hosttest.User{ann, gone, in(eve, "throwers"), ofProject}, "[{1 ann@example.org} {3 } {2 bob@example.org}]"},
		{"Bitbucket Server, of a user", kinds[4], trust, "~ann/kiln", &ann, []hosttest.User{bob}, "[{1 ann@example.org} {2 bob@example.org}]"},
		{"Gitea, many", kinds[2], "{}", "lab/kiln", nil, many, ""},
		{"Bitbucket Server, many", kinds[4], trust, "lab/kiln", nil, many, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.kind)
			w.server.Admin = !strings.Contains(tt.name, "no administrator")
			w.server.Put(hosttest.Repo{ID: 7, FullName: tt.path, Private: true, Owner: tt.owner, Readers: tt.readers})
			h, ok := w.host(w.naming("lab") + `, "authorization": ` + tt.authorization).(codehost.Permissions)
			if !ok {
				t.Fatal("the host says nothing of readers")
			}
			got, err := h.Readers(t.Context(), &codehost.Repository{ID: "7", Path: tt.path})
			if tt.want == "" && len(got) != len(many) || tt.want != "" && fmt.Sprint(got) != tt.want || err != nil {
				t.Errorf("got %v, %v; want %s", got, err, tt.want)
			}
			if tt.kind.api.Kind != hosttest.GitHub.Kind {
				if got, err := h.Readers(t.Context(), &codehost.Repository{ID: "8", Path: tt.path}); err == nil && len(got) > 0 || err != nil && codehost.Fatal(t.Context(), err) {
					t.Errorf("of a repository that is not there any more: %v, %v; want an error of it", got, err)
				}
			}
			w.server.Fault(func(rw http.ResponseWriter, _ *http.Request) bool {
				w.api.Fail(rw, http.StatusForbidden, "not yours")
				return true
			})
			if got, err := h.Readers(t.Context(), &codehost.Repository{ID: "7", Path: "lab/other"}); err == nil || codehost.Fatal(t.Context(), err) {
				t.Errorf("got %v, %v; want an error of this repository", got, err)
			}
		})
	}
}

// A project whose permissions the token may not see is no fault of the token: Bitbucket
// Server answers 401 for both.
func TestReadersNotPermitted(t *testing.T) {
	w := newWorld(t, kinds[4])
	w.server.NoPermissions = "lab/"
	w.server.Put(hosttest.Repo{ID: 7, FullName: "lab/kiln", Private: true})
	h := w.host(w.naming("lab") + `, "authorization": {"trustAddresses": true}`).(codehost.Permissions)
	got, err := h.Readers(t.Context(), &codehost.Repository{ID: "7", Path: "lab/kiln"})
	if err == nil || codehost.Fatal(t.Context(), err) || !strings.Contains(err.Error(), "no administrator of the project") {
		t.Errorf("got %v, %v; want an error of this repository", got, err)
	}
}

// A list of accounts whose pages do not end is given up.
func TestEndlessReaders(t *testing.T) {
	for _, k := range []kind{kinds[2], kinds[4]} {
		w := newWorld(t, k)
		w.server.Put(hosttest.Repo{ID: 7, FullName: "lab/kiln", Private: true})
		w.server.Fault(func(rw http.ResponseWriter, r *http.Request) bool {
			start, _ := strconv.Atoi(r.URL.Query().Get("start"))
			switch {
			case strings.HasSuffix(r.URL.Path, "/collaborators"):
				_, _ = io.WriteString(rw, `[{"id": 1, "login": "ann"}]`)
			case strings.HasSuffix(r.URL.Path, "/permissions/users"):
				_, _ = fmt.Fprintf(rw, `{"isLastPage": false, "nextPageStart": %d, "values": []}`, start+1)
			default:
				return false
			}
			return true
		})
		h := w.host(w.naming("lab") + `, "authorization": {"trustAddresses": true}`).(codehost.Permissions)
		got, err := h.Readers(t.Context(), &codehost.Repository{ID: "7", Path: "lab/kiln"})
		if !errors.Is(err, codehost.ErrEndless) || w.server.Asked(0) > codehost.MostPages+4 {
			t.Errorf("%s: %d accounts, %v after %d requests; want ErrEndless", k.api.Kind, len(got), err, w.server.Asked(0))
		}
	}
}

// A host whose accounts cannot be matched says so when it is set up.
func TestNoReaders(t *testing.T) {
	for _, tt := range []struct {
		kind kind
		want string
	}{{kinds[3], "Bitbucket Cloud tells no addresses"}, {kinds[4], `write {"trustAddresses": true}`}, {kinds[5], "no list of who may read"}} {
		_, err := tt.kind.parse([]byte(`{` + tt.kind.extra("https://h.example.org") + `"url": "https://h.example.org", "token": "x", ` + tt.kind.naming("lab") + `, "authorization": {}}`))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q in it", tt.kind.api.Kind, err, tt.want)
		}
	}
}

// A team, a group and the permissions of a project are asked for once, however many
// repositories they are for.
func TestReadersOfMany(t *testing.T) {
	for _, k := range []kind{kinds[2], kinds[4]} {
		w := newWorld(t, k)
		for id := int64(1); id <= 50; id++ {
			w.server.Put(hosttest.Repo{ID: id, FullName: fmt.Sprintf("lab/r%d", id), Private: true, Readers: []hosttest.User{{ID: 9, Login: "ann", Team: "potters"}}})
		}
		h := w.host(w.naming("lab") + `, "authorization": {"trustAddresses": true}`).(codehost.Permissions)
		for id := range 50 {
			if got, err := h.Readers(t.Context(), &codehost.Repository{ID: fmt.Sprint(id + 1), Path: fmt.Sprintf("lab/r%d", id+1)}); fmt.Sprint(got) != "[{9 }]" || err != nil {
				t.Fatalf("%s: got %v, %v; want the account 9", k.api.Kind, got, err)
			}
		}
		if asked := w.server.Asked(0); asked > 3*50+4 {
			t.Errorf("%s: %d requests for 50 repositories, want three each, and four", k.api.Kind, asked)
		}
	}
}

// A configuration shows no secret in its errors, and names no path that leads elsewhere.
func TestHostileConfigs(t *testing.T) {
	for _, k := range kinds {
		for _, tt := range []struct{ config, want string }{
			{`"token": "x"`, "url is missing"},
			{`"url": "https://h.example.org"`, "names no repositories"},
			{`"url": "https://h.example.org", "token": "x", "odd": "y"`, "Additional property odd is not allowed"},
			{`"url": "https://h.example.org", "token": "S3cret\n"`, "token: it holds"},
			{`"url": "https://h.example.org", "token": ["S3cret"]`, "token: it has to be of another type"},
			{`"url": "https://h.example.org", "token": "x", "gitURLType": "ssh"`, "over HTTP only"},
			{`"url": "https://h.example.org", "token": "x", "webhooks": [{"secret": "S3c"}]`, "shorter than"},
			{`"url": "https://h.example.org", "token": "x", "repositoryPathPattern": "all"`, "lacks {nameWithOwner}"},
			{`"url": "https://h.example.org", "token": "x", ` + fmt.Sprintf(k.one, "../../x"), "../../x"},
			{`"url": "https://h.example.org", "token": "x", ` + fmt.Sprintf(k.one, "a?b/c"), "a?b/c"},
			{`"url": "https://h.example.org", "token": "x", ` + k.naming("a?b"), "a?b"},
			{`"url": "https://h.example.org", "token": "x", ` + k.naming(".."), ".."},
			{`"url": "https://h.example.org", "token": "x", "authorization": ["S3cret"]`, "authorization: it has to be of another type"},
			{`"url": "https://h.example.org", "authorization": {}`, "authorization: it needs a token"},
		} {
			if k.groups == "" && strings.Contains(tt.config, `"exclude"`) {
				continue
			}
			extra := ""
			if strings.Contains(tt.config, `"token"`) {
				extra = k.extra("https://h.example.org")
			}
			_, err := k.parse([]byte("{" + extra + tt.config + "}"))
			if err == nil || !strings.Contains(err.Error(), tt.want) && !strings.Contains(err.Error(), "entry 1") || strings.Contains(err.Error(), "S3c") {
				t.Errorf("%s: {%s}: %v, want %q in it", k.api.Kind, tt.config, err, tt.want)
			}
		}
	}
}
