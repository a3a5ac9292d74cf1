package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/graphql"
	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	trawlmcp "github.com/trawlsearch/trawl/httpapi/mcp"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/internal/needs"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/store/ctags"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/saved"
)

// world is a server with two repositories: lab/kiln, which everyone may read, and
// lab/secret, which only ann may. Its tests change neither.
type world struct {
	*worldtest.World
	life     *life
	searcher *search.Searcher
	endpoint *trawlmcp.Endpoint
	server   *httptest.Server
	// first and last are commits of lab/kiln.
	first, last string
	symbols     bool
}

var (
	shared     *world
	sharedOnce sync.Once
)

// newWorld returns the world of all tests.
func newWorld(t *testing.T) *world {
	t.Helper()
	sharedOnce.Do(func() {
		w := &world{life: &life{T: t}}
		defer func() { shared = w }()
		w.make(t)
	})
	if shared.server == nil {
		t.Fatal("the world of the tests could not be made")
	}
	return shared
}

func (w *world) make(t *testing.T) {
	t.Helper()
	o := worldtest.Options{Gate: &auth.Gate{Anonymous: auth.AnonymousNo}}
	o.Ingest.Ctags = w.ctags(t)
	w.World = worldtest.New(w.life, o)
	w.repositories()
	w.Users(identity.NewUser{Name: "root", SiteAdmin: true}, identity.NewUser{Name: "ann"}, identity.NewUser{Name: "bob"})
	w.Readers("lab/secret", "user:ann")
	w.searcher = search.New(w.Store, search.Settings{Workers: 2})
	data := &graphql.Data{Store: w.Store, Book: saved.Open(w.Store, saved.Options{}), Registry: w.Registry}
	api := &graphql.Endpoint{Data: func() *graphql.Data { return data }, Searcher: w.searcher, Limits: cost.NewCurrent(cost.Limits{})}
	w.endpoint = w.newEndpoint(api)
	w.server = w.serve(w.endpoint)
}

func (w *world) newEndpoint(api *graphql.Endpoint) *trawlmcp.Endpoint {
	return &trawlmcp.Endpoint{GraphQL: api, Searcher: w.searcher, FromOurs: w.Gate.FromOurs, Version: "test"}
}

func (w *world) serve(e *trawlmcp.Endpoint) *httptest.Server {
	s := &httpapi.Server{Searcher: w.searcher, Extra: e.Routes(), Gate: w.Gate, Log: zerolog.Nop(), Admission: httpapi.NewAdmission(2, 64<<20)}
	return httptest.NewServer(s.Handler())
}

func (w *world) close() {
	if w.server != nil {
		w.server.Close()
		w.endpoint.Close()
	}
	w.life.end()
}

// life is the test that makes the world, which outlives it.
type life struct {
	*testing.T
	ends []func()
}

// Cleanup leaves f to end.
func (l *life) Cleanup(f func()) { l.ends = append(l.ends, f) }

// TempDir makes a directory that end removes.
func (l *life) TempDir() string {
	dir, err := os.MkdirTemp("", "mcp")
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (l *life) end() {
	for _, f := range slices.Backward(l.ends) {
		f()
	}
}

// repositories makes and indexes both.
func (w *world) repositories() {
	kiln := w.Git("kiln")
	kiln.Write("main.go", strings.Replace(mainGo, "// fire heats the kiln.\n", "", 1))
	kiln.Write("docs/guide.md", "# Firing\n\nLet the glaze cool before the retry.\n")
	kiln.Commit("Build the kiln\n\nWith bricks.")
	kiln.Git("tag", "v1.0")
	w.first = kiln.Git("rev-parse", "HEAD")
	kiln.Write("main.go", mainGo)
	kiln.Write("empty.txt", "")
	kiln.Write("photo.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	kiln.Write("long.js", "var "+strings.Repeat("glazed, ", 2000)+"end;\n")
	kiln.Write("many.txt", strings.Repeat("one glaze of many\n", 3000))
	for _, name := range []string{"a", "b", "c", "d"} {
		kiln.Write("glazes/"+name+".go", "package glazes\n\n// "+name+" mixes one glaze.\nfunc mix"+name+"() {}\n")
	}
	kiln.Commit("Say what fire does")
	w.last = kiln.Git("rev-parse", "HEAD")
	secret := w.Git("secret")
	secret.Write("hidden.go", "package hidden\n\nfunc hiddenGlaze() {}\n")
	secret.Commit("Hide the glaze")
	w.AddGit("kiln", "secret")
	w.Sync("lab/kiln", "lab/secret")
	if w.symbols {
		_, err := w.Indexer.Symbols.Read(w.Context(), nil)
		w.Must(err)
	}
}

// ctags finds the program, without which there are no symbols.
func (w *world) ctags(t *testing.T) *ctags.Program {
	t.Helper()
	path, err := ctags.Find()
	if err != nil {
		t.Log(needs.Missing("symbols", "ctags", err))
		return nil
	}
	program, err := ctags.Open(path)
	if err != nil {
		t.Log(needs.Missing("symbols", "ctags", err))
		return nil
	}
	w.symbols = true
	return program
}

// token makes another access token of a user.
func (w *world) token(t *testing.T, user uint32) (text string, id uint32) {
	t.Helper()
	month := 30 * 24 * time.Hour
	text, token, err := w.Registry.CreateToken(identity.Operator, identity.NewToken{User: user, Scopes: []string{identity.ScopeAll}, Note: "tests", Lifetime: &month})
	if err != nil {
		t.Fatal(err)
	}
	return text, token.ID
}

// bearer adds a token to each request, and others of a test.
type bearer struct {
	token  string
	header http.Header
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "token "+b.token)
	for name, values := range b.header {
		r.Header[name] = values
	}
	return http.DefaultTransport.RoundTrip(r)
}

// client connects the SDK's client as a user.
func (w *world) client(t *testing.T, user string) *mcp.ClientSession {
	t.Helper()
	return w.connect(t, w.server.URL+trawlmcp.Path, w.Tokens[user])
}

func (w *world) connect(t *testing.T, url, token string, version ...string) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "tests", Version: "1"}, nil)
	s, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: bearer{token: token}}, DisableStandaloneSSE: true,
	}, &mcp.ClientSessionOptions{ProtocolVersion: strings.Join(version, "")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// call calls a tool and returns its text, and whether it is an error.
func call(t *testing.T, s *mcp.ClientSession, tool string, arguments map[string]any) (text string, failed bool) {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, arguments, err)
	}
	if len(res.Content) != 1 {
		t.Fatalf("%s %v: got %d contents, want 1", tool, arguments, len(res.Content))
	}
	return res.Content[0].(*mcp.TextContent).Text, res.IsError
}

const mainGo = `package main

import "fmt"

// fire heats the kiln.
func fire(heat int) {
	fmt.Println("glaze", heat, "degrees")
}

func main() {
	fire(900)
}
`
