package graphql_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/graphql"
	"github.com/trawlsearch/trawl/httpapi/graphql/account"
	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/httpapi/graphql/jobs"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/internal/needs"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ctags"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/saved"
)

// clock is the time of all tests: what is shown of ages and dates never
// changes. It lies ahead, so that no credential of a test ends by the real clock.
var clock = time.Date(2096, 3, 4, 5, 6, 7, 0, time.UTC)

// world is a server with a few repositories.
type world struct {
	t        testing.TB
	dir      string
	st       *store.Store
	ix       *ingest.Indexer
	book     *saved.Book
	registry *identity.Registry
	gate     *auth.Gate
	searcher *search.Searcher
	runner   *jobs.Runner
	endpoint *graphql.Endpoint
	// searching is called when a search begins.
	searching func()
	// refreshed are the repositories that were asked to be synced.
	refreshed []string
	// asked are the external services that were asked to be synced.
	asked  []uint32
	api    *httpapi.Server
	server *httptest.Server
	url    string
	client *http.Client
	// compress has the documents sent compressed.
	compress bool
	// tokens are access tokens by the name of their user.
	tokens map[string]string
	// site is what site admins configure.
	site site
	// notice is why nothing is indexed for now.
	notice string
}

// newWorld indexes the repositories and serves them.
func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	st, err := store.Open(filepath.Join(w.dir, "data"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	w.st = st
	now := func() time.Time { return clock }
	w.ix = ingest.New(st, ingest.Options{MinFreeBytes: -1, Now: now})
	w.repositories()
	w.book = saved.Open(st, saved.Options{Now: now})
	w.services()
	w.people(now)
	w.searcher = search.New(st, search.Settings{Workers: 2})
	w.runner = &jobs.Runner{Store: st, Book: w.book, Registry: w.registry, Searcher: w.searcher, Log: zerolog.Nop(), Now: now}
	data := &graphql.Data{Store: st, Book: w.book, Registry: w.registry, Repositories: w, Services: w, Jobs: w.runner, Notice: func() string { return w.notice }}
	w.endpoint = &graphql.Endpoint{
		Data: func() *graphql.Data { return data }, Searcher: w,
		ExternalURL: "https://trawl.example.org", Now: now, Limits: cost.NewCurrent(cost.Limits{}), Site: &w.site,
	}
	w.api = &httpapi.Server{Searcher: w.endpoint.Searcher, Extra: w.endpoint.Routes(), Gate: w.gate, Log: zerolog.Nop(), Now: now}
	w.server = httptest.NewServer(w.api.Handler())
	t.Cleanup(w.server.Close)
	w.url, w.client = w.server.URL, w.server.Client()
	return w
}

// repositories makes and indexes those of the world: kiln has a little of
// everything, glaze is a fork with metadata, bare has no commit, and away
// cannot be read.
func (w *world) repositories() {
	kiln := w.git("kiln")
	kiln.write("main.go", "package main\n\nimport \"fmt\"\n\nfunc fire(heat int) {\n\tfmt.Println(\"glaze\", heat)\n}\n")
	kiln.write("docs/guide.md", "# Firing\n\nLet it cool.\n")
	kiln.commit("Build the kiln\n\nWith bricks.", 1)
	kiln.write("main.go", "package main\n\nimport \"fmt\"\n\n// fire heats the kiln.\nfunc fire(heat int) {\n\tfmt.Println(\"glaze\", heat)\n}\n")
	kiln.write("docs/deep/er/notes.txt", "glaze glaze\nGLAZE")
	kiln.write("photo.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	kiln.write("big.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 123456789\n")
	kiln.write("odd name é.txt", "caf\xe9 <b>&\n")
	kiln.write(".gitmodules", "[submodule \"clay\"]\n\tpath = clay\n\turl = https://git.example.org/clay\n")
	kiln.run("update-index", "--add", "--cacheinfo", "160000,1111111111111111111111111111111111111111,clay")
	kiln.commit("Say what fire does", 2)
	kiln.run("tag", "v1.0")
	kiln.run("branch", "side")
	kiln.write("main.go", "package main\n\nimport \"fmt\"\n\n// fire heats the kiln.\nfunc fire(heat int) {\n\tfmt.Println(\"glaze\", heat, \"degrees\")\n}\n")
	kiln.run("rm", "-q", "docs/guide.md")
	kiln.commit("Tell degrees", 3)
	glaze := w.git("glaze")
	glaze.write("a.c", "int glaze;\n")
	glaze.commit("Mix it", 1)
	w.git("bare")
	for _, source := range []string{"lab/kiln=" + kiln.dir, "lab/glaze=" + glaze.dir, "lab/bare=" + filepath.Join(w.dir, "bare")} {
		w.add(source)
	}
	yes, stars, about, topics, team := true, 7, "Fires clay", []string{"clay", "heat"}, "ovens"
	w.facts("lab/kiln", store.FactsChange{Stars: &stars, Description: &about, Topics: &topics, Metadata: map[string]*string{"team": &team, "hot": nil}})
	w.facts("lab/glaze", store.FactsChange{Fork: &yes, Archived: &yes, Private: &yes})
	for _, name := range []string{"lab/kiln", "lab/glaze", "lab/bare"} {
		w.sync(name)
	}
	w.add("lab/away=https://me:secret@127.0.0.1:1/lab/away.git")
	if _, err := w.ix.Sync(w.t.Context(), "lab/away", nil); err == nil {
		w.t.Fatal("sync of a source that is away: got nil, want an error")
	}
	w.add("lab/next=https://git.example.org/lab/next.git")
}

// services makes an external service that could not be asked lately.
func (w *world) services() {
	w.t.Helper()
	v, err := w.book.Services.Add(saved.Service{
		Kind: "OTHER", DisplayName: "The lab", Config: `{"url": "https://me:secret@git.example.org/lab", "repos": ["next"] /* all */}`, Creator: 1, Updater: 2,
	})
	if err == nil {
		_, err = w.book.Services.Change(v.ID, func(v *saved.Service) error {
			v.Repositories, v.LastSync = []uint32{5}, clock
			v.LastError, v.Warning = "ask https://me:secret@git.example.org/lab: it answered 500", "one is left out"
			return nil
		})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// people makes root, a site admin, ann with an address and an organisation, bob
// without either, and robot, a service account; each but robot has a token.
func (w *world) people(now func() time.Time) {
	w.t.Helper()
	var err error
	w.gate = &auth.Gate{Registry: func() *identity.Registry { return w.registry }, Anonymous: auth.AnonymousYes, Now: now}
	w.registry, err = identity.Open(w.st, identity.Options{
		Now: now, Cost: identity.Cost{MemoryKiB: 8, Passes: 1}, Ended: w.gate.Recheck, Hidden: w.gate.Hide,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.tokens = map[string]string{}
	for _, n := range []identity.NewUser{
		{Name: "root", SiteAdmin: true}, {Name: "ann", DisplayName: "Ann", Email: "ada@example.org", EmailVerified: true},
		{Name: "bob"}, {Name: "robot", Service: true},
	} {
		u, err := w.registry.CreateUser(identity.Author{Operator: true}, n)
		if err != nil {
			w.t.Fatal(err)
		}
		if n.Service {
			continue
		}
		w.tokens[n.Name] = w.token(u)
	}
	ann := identity.Author{UserID: 2, User: "ann"}
	if _, err := w.registry.CreateOrg(ann, "clay", "Clay"); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.registry.SetReaders(identity.Author{Operator: true}, "lab/glaze", []string{"org:clay"}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) token(u *identity.User) string {
	w.t.Helper()
	scopes, month := []string{identity.ScopeAll}, 30*24*time.Hour
	if u.SiteAdmin {
		scopes = append(scopes, identity.ScopeSudo)
	}
	text, _, err := w.registry.CreateToken(identity.Author{Operator: true}, identity.NewToken{User: u.ID, Scopes: scopes, Note: "tests", Lifetime: &month})
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

// List, Add, Remove, ChangeFacts and Refresh make the world manage.Repositories;
// GraphQL lists and adds none.
func (w *world) List(context.Context) ([]*store.Repository, error) { return nil, errors.ErrUnsupported }

// Add is told with List.
func (w *world) Add(context.Context, string) (*store.Repository, error) {
	return nil, errors.ErrUnsupported
}

// Remove is told with List.
func (w *world) Remove(ctx context.Context, name string) error { return w.ix.Remove(ctx, name) }

func (w *world) ChangeFacts(_ context.Context, name string, c store.FactsChange) (*store.Repository, error) {
	return w.st.ChangeFacts(name, c)
}

func (w *world) AddNamed(context.Context, string) (*store.Repository, error) {
	return nil, errors.ErrUnsupported
}
func (w *world) Syncing() []manage.Syncing { return nil }
func (w *world) Refresh(name string)       { w.refreshed = append(w.refreshed, name) }

// Search makes the world httpapi.Searcher.
func (w *world) Search(ctx context.Context, q *query.Query, o search.Options, sink answer.Sink) search.Outcome {
	if w.searching != nil {
		w.searching()
	}
	o.Contexts = (&manage.Contexts{Kept: &manage.Kept{Store: w.st, Registry: w.registry, Book: w.book}, Actor: auth.From(ctx)}).Resolve
	return w.searcher.Search(ctx, q, o, sink)
}

// SyncService and RemoveService make the world graphql.Services.
func (w *world) SyncService(id uint32) { w.asked = append(w.asked, id) }

func (w *world) PreviewService(context.Context, *saved.Service) (account.ServicePreview, error) {
	return account.ServicePreview{Added: []string{"lab/new"}, Warnings: []string{"https://me:secret@git.example.org/x cannot be used"}}, nil
}

func (w *world) RemoveService(_ context.Context, id uint32) error { return w.book.Services.Remove(id) }

func (w *world) add(source string) {
	w.t.Helper()
	src, err := ingest.ParseSource(source)
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

func (w *world) facts(name string, c store.FactsChange) {
	w.t.Helper()
	if _, err := w.st.ChangeFacts(name, c); err != nil {
		w.t.Fatal(err)
	}
}

// readSymbols runs ctags over what is indexed, or skips the test.
func (w *world) readSymbols() {
	w.t.Helper()
	if err := w.runCtags(); err != nil {
		needs.Skip(w.t, "ctags", err)
	}
}

// findSymbols runs ctags over what is indexed. Without ctags the test goes on
// without symbols.
func (w *world) findSymbols() {
	w.t.Helper()
	if err := w.runCtags(); err != nil {
		w.t.Log(needs.Missing("symbols", "ctags", err))
	}
}

func (w *world) runCtags() error {
	w.t.Helper()
	path, err := ctags.Find()
	if err != nil {
		return err
	}
	program, err := ctags.Open(path)
	if err != nil {
		return err
	}
	ix := ingest.New(w.st, ingest.Options{MinFreeBytes: -1, Ctags: program})
	if _, err := ix.Symbols(w.t.Context(), nil); err != nil {
		w.t.Fatal(err)
	}
	return nil
}

// source is a git repository that the git binary makes.
type source struct {
	t   testing.TB
	dir string
}

func (w *world) git(name string) *source {
	w.t.Helper()
	s := &source{w.t, filepath.Join(w.dir, name)}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	s.run("init", "-q", "-b", "main")
	return s
}

// run runs git at the hour of the day that TRAWL_HOUR would name.
func (s *source) run(args ...string) string { return s.at(0, args...) }

func (s *source) at(hour int, args ...string) string {
	s.t.Helper()
	date := clock.Add(-240 * time.Hour).Add(time.Duration(hour) * time.Hour).Format(time.RFC3339)
	cmd := exec.Command("git", args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Carl", "GIT_COMMITTER_EMAIL=carl@example.org",
		"GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *source) write(path, content string) {
	s.t.Helper()
	full := filepath.Join(s.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
	s.run("add", path)
}

func (s *source) commit(message string, hour int) {
	s.t.Helper()
	s.at(hour, "commit", "-q", "-m", message)
}

// post sends a body and returns the answer.
func (w *world) post(body string, header ...string) (*http.Response, string) {
	w.t.Helper()
	return w.postTo(graphql.Path, body, header...)
}

func (w *world) postTo(path, body string, header ...string) (*http.Response, string) {
	w.t.Helper()
	return w.send(http.MethodPost, path, body, header...)
}

func (w *world) send(method, path, body string, header ...string) (*http.Response, string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := w.client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp, string(data)
}

// ask sends a document with variables and returns the whole answer, indented.
func (w *world) ask(document string, variables map[string]any, header ...string) string {
	w.t.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		w.t.Fatal(err)
	}
	text := string(body)
	if w.compress {
		text = zipped(w.t, text)
		header = append(header, "Content-Encoding", "gzip", "Content-Type", "application/json")
	}
	_, answer := w.post(text, header...)
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(answer), "", "  "); err != nil {
		w.t.Fatalf("answer to %s is no JSON: %v\n%s", document, err, answer)
	}
	return out.String()
}

// data sends a document and reads the data of the answer into v; errors fail
// the test.
func (w *world) data(v any, document string, variables map[string]any, header ...string) {
	w.t.Helper()
	var answer struct {
		Errors []struct{ Message string }
		Data   json.RawMessage
	}
	text := w.ask(document, variables, header...)
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		w.t.Fatal(err)
	}
	if len(answer.Errors) > 0 {
		w.t.Fatalf("%s\n%s", document, text)
	}
	if err := json.Unmarshal(answer.Data, v); err != nil {
		w.t.Fatalf("%s: %v\n%s", document, err, text)
	}
}
