package browse_test

import (
	"cmp"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/browse"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
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
	*worldtest.World
	kiln  *gitrepo.Repo
	spool *spool.Space
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
	w := &world{World: worldtest.New(t, worldtest.Options{})}
	w.repositories()
	w.Users(identity.NewUser{Name: "ann"}, identity.NewUser{Name: "bob"})
	w.Readers("lab/secret", "user:ann")
	for _, p := range prepare {
		p(w)
	}
	server := &httpapi.Server{Searcher: nowhere{}, Gate: w.Gate, Log: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.ErrorLevel), ExternalURL: "https://example.org/under"}
	space, err := spool.Open(filepath.Join(w.Dir, "spool"), w.spooling)
	w.Must(err)
	t.Cleanup(func() { _ = space.Close() })
	w.spool = space
	e := &browse.Endpoint{Store: func() *store.Store { return w.Store }, Spool: func() *spool.Space { return space }, Pages: server, Pace: w.pace, Patience: w.patience, PaintWithin: cmp.Or(w.paintWithin, time.Minute), BlameWithin: w.blameWithin, Now: func() time.Time { return time.Date(2026, 5, 2, 3, 4, 5, 0, time.UTC) }, Refresh: func(name string) { w.refreshed = append(w.refreshed, name) }, Registry: w.Gate.Registry}
	server.Extra, server.Near = e.Routes(), e.Near
	w.Listen(server.Handler())
	w.Client.CheckRedirect = noRedirect
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
	w.Must(os.Symlink("/etc/passwd", filepath.Join(kiln.Dir, "link")))
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
	w.AddGit("kiln", "secret", "empty")
	w.Sync("lab/kiln", "lab/secret", "lab/empty")
	w.AddSource("lab/next=https://git.example.org/lab/next.git")
}

func (w *world) git(name string) *gitrepo.Repo {
	w.Helper()
	s := w.Git(name)
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
	w.Helper()
	resp, body := w.Send(method, path, "", header...)
	return answer{resp.StatusCode, resp.Header, body}
}

func (w *world) get(path string, header ...string) answer {
	w.Helper()
	return w.ask(http.MethodGet, path, header...)
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

// follow returns what is read of a page and of those that follow it, five at most.
func (w *world) follow(next string, read func(body string) []string) (all []string) {
	w.Helper()
	for pages := 0; next != "" && pages < 5; pages++ {
		body := w.get(next).body
		all = append(all, read(body)...)
		m := regexp.MustCompile(`rel="next" href="/under([^"]*)"`).FindStringSubmatch(body)
		if next = ""; m != nil {
			next = html.UnescapeString(m[1])
		}
	}
	return all
}
