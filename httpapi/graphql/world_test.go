package graphql_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/graphql"
	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/httpapi/graphql/jobs"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/internal/gitrepo"
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
	*worldtest.World
	book     *saved.Book
	searcher *search.Searcher
	runner   *jobs.Runner
	endpoint *graphql.Endpoint
	// searching is called when a search begins.
	searching func()
	// refreshed are the repositories that were asked to be synced.
	refreshed []string
	// asked are the external services that were asked to be synced.
	asked []uint32
	api   *httpapi.Server
	// compress has the documents sent compressed.
	compress bool
	// site is what site admins configure.
	site site
	// notice is why nothing is indexed for now.
	notice string
}

// newWorld indexes the repositories and serves them.
func newWorld(t testing.TB) *world {
	t.Helper()
	now := func() time.Time { return clock }
	w := &world{World: worldtest.New(t, worldtest.Options{Now: now})}
	w.repositories()
	w.book = saved.Open(w.Store, saved.Options{Now: now})
	w.services()
	w.people()
	w.searcher = search.New(w.Store, search.Settings{Workers: 2})
	w.runner = &jobs.Runner{Store: w.Store, Book: w.book, Registry: w.Registry, Searcher: w.searcher, Log: zerolog.Nop(), Now: now}
	data := &graphql.Data{Store: w.Store, Book: w.book, Registry: w.Registry, Repositories: w, Services: w, Jobs: w.runner, Notice: func() string { return w.notice }}
	w.endpoint = &graphql.Endpoint{
		Data: func() *graphql.Data { return data }, Searcher: w,
		ExternalURL: "https://trawl.example.org", Now: now, Limits: cost.NewCurrent(cost.Limits{}), Site: &w.site,
	}
	w.api = &httpapi.Server{Searcher: w.endpoint.Searcher, Extra: w.endpoint.Routes(), Gate: w.Gate, Log: zerolog.Nop(), Now: now}
	w.Listen(w.api.Handler())
	return w
}

// repositories makes and indexes those of the world: kiln has a little of
// everything, glaze is a fork with metadata, bare has no commit, and away
// cannot be read.
func (w *world) repositories() {
	kiln := w.git("kiln")
	kiln.Write("main.go", "package main\n\nimport \"fmt\"\n\nfunc fire(heat int) {\n\tfmt.Println(\"glaze\", heat)\n}\n")
	kiln.Write("docs/guide.md", "# Firing\n\nLet it cool.\n")
	kiln.commit("Build the kiln\n\nWith bricks.", 1)
	kiln.Write("main.go", "package main\n\nimport \"fmt\"\n\n// fire heats the kiln.\nfunc fire(heat int) {\n\tfmt.Println(\"glaze\", heat)\n}\n")
	kiln.Write("docs/deep/er/notes.txt", "glaze glaze\nGLAZE")
	kiln.Write("photo.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	kiln.Write("big.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 123456789\n")
	kiln.Write("odd name é.txt", "caf\xe9 <b>&\n")
	kiln.Write(".gitmodules", "[submodule \"clay\"]\n\tpath = clay\n\turl = https://git.example.org/clay\n")
	kiln.Git("update-index", "--add", "--cacheinfo", "160000,1111111111111111111111111111111111111111,clay")
	kiln.commit("Say what fire does", 2)
	kiln.Git("tag", "v1.0")
	kiln.Git("branch", "side")
	kiln.Write("main.go", "package main\n\nimport \"fmt\"\n\n// fire heats the kiln.\nfunc fire(heat int) {\n\tfmt.Println(\"glaze\", heat, \"degrees\")\n}\n")
	kiln.Git("rm", "-q", "docs/guide.md")
	kiln.commit("Tell degrees", 3)
	glaze := w.git("glaze")
	glaze.Write("a.c", "int glaze;\n")
	glaze.commit("Mix it", 1)
	w.git("bare")
	w.AddGit("kiln", "glaze", "bare")
	yes, stars, about, topics, team := true, 7, "Fires clay", []string{"clay", "heat"}, "ovens"
	w.Facts("lab/kiln", store.FactsChange{Stars: &stars, Description: &about, Topics: &topics, Metadata: map[string]*string{"team": &team, "hot": nil}})
	w.Facts("lab/glaze", store.FactsChange{Fork: &yes, Archived: &yes, Private: &yes})
	w.Sync("lab/kiln", "lab/glaze", "lab/bare")
	w.AddSource("lab/away=https://me:secret@127.0.0.1:1/lab/away.git")
	if _, err := w.Indexer.Sync(w.Context(), "lab/away", nil); err == nil {
		w.Fatal("sync of a source that is away: got nil, want an error")
	}
	w.AddSource("lab/next=https://git.example.org/lab/next.git")
}

// services makes an external service that could not be asked lately.
func (w *world) services() {
	w.Helper()
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
	w.Must(err)
}

// people makes root, a site admin, ann with an address and an organisation, bob
// without either, and robot, a service account; each but robot has a token.
func (w *world) people() {
	w.Helper()
	w.Users(identity.NewUser{Name: "root", SiteAdmin: true}, identity.NewUser{Name: "ann", DisplayName: "Ann", Email: "ada@example.org", EmailVerified: true},
		identity.NewUser{Name: "bob"}, identity.NewUser{Name: "robot", Service: true})
	_, err := w.Registry.CreateOrg(identity.Author{UserID: 2, User: "ann"}, "clay", "Clay")
	w.Must(err)
	w.Readers("lab/glaze", "org:clay")
}

// List, Add, Remove, ChangeFacts and Refresh make the world manage.Repositories;
// GraphQL lists and adds none.
func (w *world) List(context.Context) ([]*store.Repository, error) { return nil, errors.ErrUnsupported }

// Add is told with List.
func (w *world) Add(context.Context, string) (*store.Repository, error) {
	return nil, errors.ErrUnsupported
}

// Remove is told with List.
func (w *world) Remove(ctx context.Context, name string) error { return w.Indexer.Remove(ctx, name) }

func (w *world) ChangeFacts(_ context.Context, name string, c store.FactsChange) (*store.Repository, error) {
	return w.Store.Repositories().ChangeFacts(name, c)
}

func (w *world) AddNamed(context.Context, string) (*store.Repository, error) {
	return nil, errors.ErrUnsupported
}
func (w *world) Syncing() []manage.Syncing { return nil }
func (w *world) Refresh(name string)       { w.refreshed = append(w.refreshed, name) }

func (w *world) LastSync(context.Context, *store.Repository) manage.LastSync {
	return manage.LastSync{}
}

func (w *world) Reindex(name string) error {
	_, err := w.Store.Repositories().Reindex(name)
	return err
}

// Search makes the world httpapi.Searcher.
func (w *world) Search(ctx context.Context, q *query.Query, o search.Options, sink answer.Sink) search.Outcome {
	if w.searching != nil {
		w.searching()
	}
	o.Contexts = (&manage.Contexts{Kept: &manage.Kept{Store: w.Store, Registry: w.Registry, Book: w.book}, Actor: auth.From(ctx)}).Resolve
	return w.searcher.Search(ctx, q, o, sink)
}

// SyncService, RemoveService and PreviewService make the world manage.ServiceHosts.
func (w *world) SyncService(id uint32) { w.asked = append(w.asked, id) }

func (w *world) PreviewService(context.Context, *saved.Service) (manage.ServicePreview, error) {
	return manage.ServicePreview{Added: []string{"lab/new"}, Warnings: []string{"https://me:secret@git.example.org/x cannot be used"}}, nil
}

func (w *world) RemoveService(_ context.Context, id uint32) error { return w.book.Services.Remove(id) }

// readSymbols runs ctags over what is indexed, or skips the test.
func (w *world) readSymbols() {
	w.Helper()
	if err := w.runCtags(); err != nil {
		needs.Skip(w, "ctags", err)
	}
}

// findSymbols runs ctags over what is indexed. Without ctags the test goes on
// without symbols.
func (w *world) findSymbols() {
	w.Helper()
	if err := w.runCtags(); err != nil {
		w.Log(needs.Missing("symbols", "ctags", err))
	}
}

func (w *world) runCtags() error {
	w.Helper()
	path, err := ctags.Find()
	if err != nil {
		return err
	}
	program, err := ctags.Open(path)
	if err != nil {
		return err
	}
	ix := ingest.New(w.Store, ingest.Options{MinFreeBytes: -1, Ctags: program})
	if _, err := ix.Symbols.Read(w.Context(), nil); err != nil {
		w.Fatal(err)
	}
	return nil
}

// source is a git repository whose commits have a date.
type source struct{ *gitrepo.Repo }

func (w *world) git(name string) source { return source{w.Git(name)} }

// at runs git at an hour of a day.
func (s source) at(hour int, args ...string) {
	s.Helper()
	date := clock.Add(-240 * time.Hour).Add(time.Duration(hour) * time.Hour).Format(time.RFC3339)
	s.Env = []string{"GIT_COMMITTER_NAME=Carl", "GIT_COMMITTER_EMAIL=carl@example.org", "GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date}
	s.Git(args...)
}

func (s source) commit(message string, hour int) {
	s.Helper()
	s.at(hour, "commit", "-q", "-m", message)
}

// post sends a body and returns the answer.
func (w *world) post(body string, header ...string) (*http.Response, string) {
	w.Helper()
	return w.Send(http.MethodPost, graphql.Path, body, header...)
}

// ask sends a document with variables and returns the whole answer, indented.
func (w *world) ask(document string, variables map[string]any, header ...string) string {
	w.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		w.Fatal(err)
	}
	text := string(body)
	if w.compress {
		text = zipped(w, text)
		header = append(header, "Content-Encoding", "gzip", "Content-Type", "application/json")
	}
	_, answer := w.post(text, header...)
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(answer), "", "  "); err != nil {
		w.Fatalf("answer to %s is no JSON: %v\n%s", document, err, answer)
	}
	return out.String()
}

// data sends a document and reads the data of the answer into v; errors fail
// the test.
func (w *world) data(v any, document string, variables map[string]any, header ...string) {
	w.Helper()
	var answer struct {
		Errors []struct{ Message string }
		Data   json.RawMessage
	}
	text := w.ask(document, variables, header...)
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		w.Fatal(err)
	}
	if len(answer.Errors) > 0 {
		w.Fatalf("%s\n%s", document, text)
	}
	if err := json.Unmarshal(answer.Data, v); err != nil {
		w.Fatalf("%s: %v\n%s", document, err, text)
	}
}
