package browse_test

import (
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/browse"
	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/spool"
)

// The clock of the lexers' regexps ends by itself, a second behind the last use.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
}

// world is a server with a few repositories: lab/kiln, whom everybody may read,
// lab/secret, whom only ann may, lab/empty without a commit, and lab/next, which
// is being cloned.
type world struct {
	t        testing.TB
	dir      string
	st       *store.Store
	ix       *ingest.Indexer
	registry *identity.Registry
	gate     *auth.Gate
	url      string
	client   *http.Client
	// tokens are access tokens by the name of their user.
	tokens map[string]string
	kiln   *gitrepo.Repo
	spool  *spool.Space
	// spooling, pace and patience are those of the endpoint.
	spooling       spool.Options
	pace, patience time.Duration
	blameWithin    time.Duration
	paintWithin    time.Duration
	// refreshed are the repositories that were asked for.
	refreshed []string
}

func newWorld(t testing.TB, prepare ...func(*world)) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), tokens: map[string]string{}}
	st, err := store.Open(filepath.Join(w.dir, "data"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	w.st, w.ix = st, ingest.New(st, ingest.Options{MinFreeBytes: -1})
	w.repositories()
	w.people()
	w.gate = &auth.Gate{Registry: func() *identity.Registry { return w.registry }, Anonymous: auth.AnonymousYes}
	for _, p := range prepare {
		p(w)
	}
	server := &httpapi.Server{Searcher: nowhere{}, Gate: w.gate, Log: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.ErrorLevel), ExternalURL: "https://example.org/under"}
	space, err := spool.Open(filepath.Join(w.dir, "spool"), w.spooling)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = space.Close() })
	w.spool = space
	e := &browse.Endpoint{Store: func() *store.Store { return st }, Spool: func() *spool.Space { return space }, Pages: server, Pace: w.pace, Patience: w.patience, PaintWithin: cmp.Or(w.paintWithin, time.Minute), BlameWithin: w.blameWithin, Now: func() time.Time { return time.Date(2026, 5, 2, 3, 4, 5, 0, time.UTC) }, Refresh: func(name string) { w.refreshed = append(w.refreshed, name) }, Registry: w.gate.Registry}
	server.Extra = e.Routes()
	http := httptest.NewServer(server.Handler())
	t.Cleanup(http.Close)
	w.url, w.client = http.URL, http.Client()
	w.client.CheckRedirect = noRedirect
	return w
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// nowhere finds nothing.
type nowhere struct{ httpapi.Searcher }

func (w *world) repositories() {
	kiln := w.git("kiln")
	w.kiln = kiln
	kiln.Write("main.go", "package main\n\nfunc main() { println(\"<b>&\") }\n")
	kiln.Write("docs/guide.md", "# Firing\n")
	kiln.Write("docs/a&b/x.txt", "x\n")
	kiln.Write("run.sh", "#!/bin/sh\n")
	kiln.Git("update-index", "--chmod=+x", "run.sh")
	kiln.Write("photo.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	kiln.Write("page.html", "<script>alert(1)</script>\n")
	if err := os.Symlink("/etc/passwd", filepath.Join(kiln.Dir, "link")); err != nil {
		w.t.Fatal(err)
	}
	kiln.Git("add", "link")
	kiln.Write(".gitattributes", "main.go export-ignore\ndocs/** eol=crlf text\n")
	kiln.Git("update-index", "--add", "--cacheinfo", "160000,1111111111111111111111111111111111111111,clay")
	kiln.Commit("Build the kiln\n\nWith bricks.")
	kiln.Git("tag", "v1.0")
	kiln.Git("branch", "feature/-x/y")
	kiln.Write("main.go", "package main\n\nfunc main() { println(\"new\") }\n")
	kiln.Commit("Say new")
	secret := w.git("secret")
	secret.Write("plan.txt", "bury the clay\n")
	secret.Commit("Plan")
	w.git("empty")
	for _, name := range []string{"kiln", "secret", "empty"} {
		w.add("lab/" + name + "=" + filepath.Join(w.dir, name))
		w.sync("lab/" + name)
	}
	w.add("lab/next=https://git.example.org/lab/next.git")
}

// people makes ann, who may read lab/secret, and bob.
func (w *world) people() {
	w.t.Helper()
	var err error
	w.registry, err = identity.Open(w.st, identity.Options{Cost: identity.Cost{MemoryKiB: 8, Passes: 1}})
	if err != nil {
		w.t.Fatal(err)
	}
	operator := identity.Author{Operator: true}
	for _, name := range []string{"ann", "bob"} {
		u, err := w.registry.CreateUser(operator, identity.NewUser{Name: name})
		if err != nil {
			w.t.Fatal(err)
		}
		month := 30 * 24 * time.Hour
		w.tokens[name], _, err = w.registry.CreateToken(operator, identity.NewToken{User: u.ID, Scopes: []string{identity.ScopeAll}, Lifetime: &month})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	if _, err := w.registry.SetReaders(operator, "lab/secret", []string{"user:ann"}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) add(text string) {
	w.t.Helper()
	src, err := ingest.ParseSource(text)
	if err == nil {
		_, err = w.ix.Add(w.t.Context(), src)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) sync(name string) {
	w.t.Helper()
	if _, err := w.ix.Sync(w.t.Context(), name, nil); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) git(name string) *gitrepo.Repo {
	w.t.Helper()
	s := gitrepo.New(w.t, filepath.Join(w.dir, name))
	s.Env = []string{"GIT_COMMITTER_NAME=Carl", "GIT_COMMITTER_EMAIL=carl@example.org",
		"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z"}
	return s
}

// answer is what the server said.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends a request; a path is written as it stands, and header are pairs.
func (w *world) ask(method, path string, header ...string) answer {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := w.client.Do(req)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer{resp.StatusCode, resp.Header, string(body)}
}

func (w *world) get(path string, header ...string) answer {
	w.t.Helper()
	return w.ask(http.MethodGet, path, header...)
}

// as is the header of a user's token.
func (w *world) as(name string) []string {
	return []string{"Authorization", "token " + w.tokens[name]}
}

// await waits for a condition.
func await[T any](t *testing.T, what string, done func() (T, bool)) T {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if v, ok := done(); ok {
			return v
		}
	}
	t.Fatalf("waited 30 s for %s", what)
	panic("unreachable")
}
