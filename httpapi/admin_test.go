package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
)

// fakeRepositories answers with its functions.
type fakeRepositories struct {
	admin.Repositories
	list    func() ([]*store.Repository, error)
	add     func(source string) (*store.Repository, error)
	remove  func(name string) error
	change  func(name string, c store.FactsChange) (*store.Repository, error)
	sync    func(ctx context.Context, name string, report func(ingest.Progress)) (ingest.Result, error)
	skipped func(name string, each func(string, string, int64) error) error
}

func (f *fakeRepositories) List(context.Context) ([]*store.Repository, error) { return f.list() }
func (f *fakeRepositories) Add(_ context.Context, source string) (*store.Repository, error) {
	return f.add(source)
}
func (f *fakeRepositories) Remove(_ context.Context, name string) error { return f.remove(name) }
func (f *fakeRepositories) ChangeFacts(_ context.Context, name string, c store.FactsChange) (*store.Repository, error) {
	return f.change(name, c)
}
func (f *fakeRepositories) Sync(ctx context.Context, name string, report func(ingest.Progress)) (ingest.Result, error) {
	return f.sync(ctx, name, report)
}
func (f *fakeRepositories) Skipped(_ context.Context, name string, each func(string, string, int64) error) error {
	return f.skipped(name, each)
}

const adminToken = "kiln"

// askAdmin sends a request of a local program that knows the token, changed by
// change.
func askAdmin(repos admin.Repositories, method, target, body string, change func(*http.Request) *http.Request) *httptest.ResponseRecorder {
	operator := &admin.Handlers{Repositories: func() admin.Repositories { return repos }}
	server := &httpapi.Server{Log: zerolog.Nop(), Extra: operator.Routes(), Gate: &auth.Gate{OperatorToken: adminToken}}
	r := httptest.NewRequest(method, admin.RepositoriesPath+target, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:1234"
	r.Header.Set(auth.OperatorHeader, adminToken)
	if change != nil {
		r = change(r)
	}
	w := httptest.NewRecorder()
	server.Handler().ServeHTTP(w, r)
	return w
}

// TestAdminListsOne: a name lists one repository or none, also of thousands.
func TestAdminListsOne(t *testing.T) {
	repos := &fakeRepositories{list: func() ([]*store.Repository, error) {
		return []*store.Repository{{ID: 1, Name: "lab/kiln"}, {ID: 2, Name: "lab/kiln2"}, {ID: 3, Name: "clay"}}, nil
	}}
	for target, want := range map[string][]string{"": {"lab/kiln", "lab/kiln2", "clay"}, "?name=lab/kiln": {"lab/kiln"}, "?name=kiln": {}} {
		w := askAdmin(repos, "GET", target, "", nil)
		var got []admin.Repository
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 {
			t.Fatalf("%q: got %d %q: %v", target, w.Code, w.Body, err)
		}
		names := []string{}
		for _, r := range got {
			names = append(names, r.Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("%q: got %q, want %q", target, names, want)
		}
	}
}

func TestAdminGuard(t *testing.T) {
	from := func(remote, local string) func(*http.Request) *http.Request {
		return func(r *http.Request) *http.Request {
			r.RemoteAddr = remote
			address, err := net.ResolveTCPAddr("tcp", local)
			if err != nil {
				t.Fatal(err)
			}
			return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, address))
		}
	}
	token := func(token string) func(*http.Request) *http.Request {
		return func(r *http.Request) *http.Request {
			r.Header.Set(auth.OperatorHeader, token)
			return r
		}
	}
	for _, c := range []struct {
		name   string
		change func(*http.Request) *http.Request
		want   int
	}{
		// where it comes from
		{"loopback", nil, 200},
		{"loopback of IPv6", from("[::1]:1", "[::1]:7080"), 200},
		{"the server's own address, which others reach", from("10.0.0.5:1", "10.0.0.5:7080"), 403},
		{"another machine", from("10.0.0.6:1", "10.0.0.5:7080"), 403},
		{"no address at all", func(r *http.Request) *http.Request { r.RemoteAddr = "@"; return r }, 403},

		// what it knows
		{"no token", token(""), 401},
		{"a wrong token", token("kilt"), 401},
		{"the beginning of the token", token("kil"), 401},
		{"another machine with the token", from("10.0.0.6:1", "10.0.0.5:7080"), 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			repos := &fakeRepositories{list: func() ([]*store.Repository, error) { return nil, nil }}
			if w := askAdmin(repos, "GET", "", "", c.change); w.Code != c.want {
				t.Errorf("got %d %q, want %d", w.Code, w.Body, c.want)
			}
		})
	}
}

// A server without an operator token refuses every request, also one without a
// token.
func TestAdminWithoutToken(t *testing.T) {
	operator := &admin.Handlers{Repositories: func() admin.Repositories { return &fakeRepositories{} }}
	server := &httpapi.Server{Log: zerolog.Nop(), Extra: operator.Routes(), Gate: &auth.Gate{OperatorToken: adminToken}}
	r := httptest.NewRequest("GET", admin.RepositoriesPath, nil)
	r.RemoteAddr = "127.0.0.1:1234"
	w := httptest.NewRecorder()
	if server.Handler().ServeHTTP(w, r); w.Code != http.StatusUnauthorized {
		t.Errorf("got %d, want 401", w.Code)
	}
}

func TestAdminWhileOpening(t *testing.T) {
	w := askAdmin(nil, "GET", "", "", nil)
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "opening") {
		t.Errorf("got %d %q, want 503 and that it is opening", w.Code, w.Body)
	}
}

func TestAdminList(t *testing.T) {
	at := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	repos := &fakeRepositories{list: func() ([]*store.Repository, error) {
		return []*store.Repository{
			{ID: 1, Name: "lab/kiln", Source: "https://me:secret@git.example.org/lab/kiln", Generation: 3, Documents: 7, TextBytes: 99,
				Skipped: 1, LastFetched: at, LastIndexed: at, Branches: []store.Branch{{Name: "main", Commit: "5f1c"}}},
			{ID: 2, Name: "new", Source: "/src/new", LastError: "cannot reach https://me:secret@x"},
		}, nil
	}}
	w := askAdmin(repos, "GET", "", "", nil)
	want := `[{"name":"lab/kiln","source":"https://git.example.org/lab/kiln","branch":"main","commit":"5f1c","indexed":true,` +
		`"documents":7,"textBytes":99,"skipped":1,"lastFetched":"2031-02-03T04:05:06Z","lastIndexed":"2031-02-03T04:05:06Z"},` +
		`{"name":"new","source":"/src/new","indexed":false,"documents":0,"textBytes":0,"skipped":0,"error":"cannot reach https://x"}]` + "\n"
	if got := w.Body.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type: got %q", got)
	}
}

func TestAdminAddAndRemove(t *testing.T) {
	said := ""
	repos := &fakeRepositories{
		add: func(source string) (*store.Repository, error) {
			said = "add " + source
			switch source {
			case "old=/src/old":
				return nil, fmt.Errorf("repository %q: %w", "old", store.ErrExists)
			case "bad":
				return nil, errors.New("no repository at https://me:secret@x")
			}
			return &store.Repository{Name: "kiln"}, nil
		},
		remove: func(name string) error {
			said = "remove " + name
			if name == "none" {
				return fmt.Errorf("repository %q: %w", name, store.ErrNotFound)
			}
			return nil
		},
	}
	for _, c := range []struct {
		method, target, body string
		status               int
		said, answer         string
	}{
		// add
		{"POST", "", `{"source":"lab/kiln=/src/kiln"}`, 200, "add lab/kiln=/src/kiln", `"name":"kiln"`},
		{"POST", "", `{"source":"old=/src/old"}`, 409, "add old=/src/old", "already exists"},
		{"POST", "", `{"source":"bad"}`, 422, "add bad", "no repository at https://x\n"},
		{"POST", "", `source`, 400, "", `expected {"source": "…"}`},
		{"POST", "", `{"source":"` + strings.Repeat("x", 1<<20) + `"}`, 400, "", ""},

		// remove: names hold slashes
		{"DELETE", "?name=lab%2Fkiln", "", 204, "remove lab/kiln", ""},
		{"DELETE", "?name=none", "", 404, "remove none", `"none": not found`},
		{"DELETE", "", "", 400, "", "the parameter name is missing"},
	} {
		said = ""
		w := askAdmin(repos, c.method, c.target, c.body, nil)
		if w.Code != c.status || said != c.said || !strings.Contains(w.Body.String(), c.answer) {
			t.Errorf("%s %s %.60s: got %d %q after %q, want %d with %q after %q",
				c.method, c.target, c.body, w.Code, w.Body, said, c.status, c.answer, c.said)
		}
	}
}

func TestAdminFacts(t *testing.T) {
	team := "glaze"
	for _, c := range []struct {
		target, body string
		status       int
		want, answer string
	}{
		{"?name=lab%2Fkiln", `{"stars":0,"fork":true,"topics":[],"branches":["v*"],"description":""}`, 200,
			`{"Stars":0,"Fork":true,"Archived":null,"Private":null,"Description":"","Topics":[],"Branches":["v*"],"ClearMetadata":false,"RemoveMetadata":null,"Metadata":null}`,
			`"name":"lab/kiln",`},
		{"?name=lab%2Fkiln", `{"archived":false,"private":true,"clearMetadata":true,"removeMetadata":["a"],"metadata":{"old":null,"team":"x"}}`, 200,
			`{"Stars":null,"Fork":null,"Archived":false,"Private":true,"Description":null,"Topics":null,"Branches":null,"ClearMetadata":true,"RemoveMetadata":["a"],"Metadata":{"old":null,"team":"x"}}`,
			`"stars":41,"fork":true,"archived":true,"private":true,"description":"Fires clay","topics":["clay"],"metadata":{"old":null,"team":"glaze"}}`},
		// what cannot be
		{"?name=none", `{}`, 404, "", `"none": not found`},
		{"", `{}`, 400, "", "the parameter name is missing"},
		{"?name=a", `{"star":1}`, 400, "", `expected facts such as {"stars": 41}`},
		{"?name=a", `{"stars":"many"}`, 400, "", `expected facts such as {"stars": 41}`},
	} {
		got := ""
		repos := &fakeRepositories{change: func(name string, change store.FactsChange) (*store.Repository, error) {
			if name != "lab/kiln" {
				return nil, fmt.Errorf("repository %q: %w", name, store.ErrNotFound)
			}
			data, err := json.Marshal(change)
			got = string(data)
			return &store.Repository{
				Name: name, Stars: 41, Fork: true, Archived: true, Private: true, Description: "Fires clay",
				Topics: []string{"clay"}, Metadata: map[string]*string{"team": &team, "old": nil},
			}, err
		}}
		w := askAdmin(repos, "PATCH", c.target, c.body, nil)
		if w.Code != c.status || got != c.want || !strings.Contains(w.Body.String(), c.answer) {
			t.Errorf("PATCH %s %s:\n got %d %s after %s\nwant %d with %s after %s", c.target, c.body, w.Code, w.Body, got, c.status, c.answer, c.want)
		}
	}
}

func TestAdminSync(t *testing.T) {
	for _, c := range []struct {
		name   string
		sync   func(report func(ingest.Progress)) (ingest.Result, error)
		status int
		want   string
	}{
		{"goes well", func(report func(ingest.Progress)) (ingest.Result, error) {
			report(ingest.Progress{Phase: "fetch", Note: "from https://me:secret@x"})
			report(ingest.Progress{Phase: "index", Done: 1, Total: 2, Bytes: 3})
			return ingest.Result{Added: 2, Unchanged: 1, Took: 1500 * time.Millisecond}, nil
		}, 200, `{"progress":{"phase":"fetch","note":"from https://x"}}
{"progress":{"phase":"index","done":1,"total":2,"bytes":3}}
{"result":{"added":2,"unchanged":1,"tookMillis":1500}}
`},
		{"fails on the way", func(report func(ingest.Progress)) (ingest.Result, error) {
			report(ingest.Progress{Phase: "list"})
			return ingest.Result{}, errors.New("cannot reach https://me:secret@x")
		}, 200, `{"progress":{"phase":"list"}}
{"error":"cannot reach https://x"}
`},
		{"fails at once", func(func(ingest.Progress)) (ingest.Result, error) {
			return ingest.Result{}, fmt.Errorf("repository: %w", store.ErrNotFound)
		}, 404, "repository: not found\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			repos := &fakeRepositories{sync: func(_ context.Context, name string, report func(ingest.Progress)) (ingest.Result, error) {
				if name != "lab/kiln" {
					t.Errorf("name: got %q", name)
				}
				return c.sync(report)
			}}
			w := askAdmin(repos, "POST", "/sync?name=lab/kiln", "", nil)
			if got := w.Body.String(); w.Code != c.status || got != c.want {
				t.Errorf("got %d\n%swant %d\n%s", w.Code, got, c.status, c.want)
			}
		})
	}
}

// A client that gives up waiting for a sync must not keep it running.
func TestAdminSyncEndsWithItsClient(t *testing.T) {
	ended := make(chan error, 1)
	repos := &fakeRepositories{sync: func(ctx context.Context, _ string, report func(ingest.Progress)) (ingest.Result, error) {
		report(ingest.Progress{Phase: "fetch"})
		<-ctx.Done()
		ended <- ctx.Err()
		return ingest.Result{}, ctx.Err()
	}}
	operator := &admin.Handlers{Repositories: func() admin.Repositories { return repos }}
	s := httptest.NewServer((&httpapi.Server{Log: zerolog.Nop(), Extra: operator.Routes(), Gate: &auth.Gate{OperatorToken: adminToken}}).Handler())
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", s.URL+admin.RepositoriesPath+"/sync?name=x", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(auth.OperatorHeader, adminToken)
	resp, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	var line admin.Line
	if err := json.NewDecoder(resp.Body).Decode(&line); err != nil || line.Progress == nil {
		t.Fatalf("the first line: got %+v, %v; want progress while the sync runs", line, err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the sync ended with %v, want context.Canceled", err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

func TestAdminSkipped(t *testing.T) {
	repos := &fakeRepositories{skipped: func(_ string, each func(string, string, int64) error) error {
		if err := each("a<b", "binary", 4); err != nil {
			return err
		}
		return each("big", "too-large", 1<<30)
	}}
	want := `{"skipped":{"path":"a\u003cb","reason":"binary","size":4}}
{"skipped":{"path":"big","reason":"too-large","size":1073741824}}
{"result":{}}
`
	if w := askAdmin(repos, "GET", "/skipped?name=x", "", nil); w.Body.String() != want {
		t.Errorf("got\n%swant\n%s", w.Body, want)
	}
}

func TestReadyWaits(t *testing.T) {
	what := "the first repositories"
	notice := ""
	s := &httpapi.Server{Log: zerolog.Nop(), Ready: func() string { return what }, Notice: func() string { return notice }}
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w
	}
	if w := get("/readyz"); w.Code != http.StatusServiceUnavailable || w.Body.String() != "waiting for the first repositories\n" {
		t.Errorf("while waiting: got %d %q", w.Code, w.Body)
	}
	what = ""
	if w := get("/readyz"); w.Code != http.StatusOK || w.Body.String() != "ready\n" {
		t.Errorf("after: got %d %q", w.Code, w.Body)
	}
	notice = "indexing has stopped"
	if w := get("/readyz"); w.Code != http.StatusOK || w.Body.String() != "ready\nindexing has stopped\n" {
		t.Errorf("ready, with something wrong: got %d %q", w.Code, w.Body)
	}
}
