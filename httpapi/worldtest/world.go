package worldtest

import (
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/ingest"
)

// Password is that of the users of SignUp.
const Password = "correct horse battery"

// Options are what worlds differ in. The zero value is the options of a program. The cost
// of password hashes, what is told of ended credentials and hidden repositories, and the
// disk that stays free are set by New, whatever they are.
type Options struct {
	Store    store.Options
	Identity identity.Options
	Ingest   ingest.Options
	// Gate is told of credentials that end and of readers that change; nil is one that
	// lets anonymous users in. Its registry is that of the world.
	Gate *auth.Gate
	// Now is the clock of all of these, nil is time.Now.
	Now func() time.Time
}

// World is a store with its users and repositories.
type World struct {
	testing.TB
	// Dir is a directory of the test that has the store in data and the repositories of
	// Git; "" is none, of a store in memory.
	Dir      string
	Store    *store.Store
	Registry *identity.Registry
	Indexer  *ingest.Indexer
	Gate     *auth.Gate
	// Tokens are the access tokens of Users by name.
	Tokens map[string]string
	// URL and Client are those of what Listen serves.
	URL    string
	Client *http.Client
	// Close closes the store before the test ends, as to open another world on its files.
	Close func()
}

// New opens a world in a directory of its own.
func New(t testing.TB, o Options) *World {
	t.Helper()
	return open(t, t.TempDir(), o)
}

// InMemory opens a world in memory, or in the file system of the options.
func InMemory(t testing.TB, o Options) *World {
	t.Helper()
	if o.Store.FS == nil {
		o.Store.FS = vfs.NewMem()
	}
	o.Store.CacheBytes = 1 << 20
	return open(t, "", o)
}

func open(t testing.TB, dir string, o Options) *World {
	t.Helper()
	w := &World{TB: t, Dir: dir, Gate: o.Gate, Tokens: map[string]string{}}
	if w.Gate == nil {
		w.Gate = &auth.Gate{Anonymous: auth.AnonymousYes}
	}
	if o.Now != nil {
		o.Identity.Now, o.Ingest.Now, w.Gate.Now = o.Now, o.Now, o.Now
	}
	var err error
	w.Store, err = store.Open(filepath.Join(dir, "data"), o.Store)
	w.Must(err)
	o.Ingest.MinFreeBytes = -1
	w.Indexer = ingest.New(w.Store, o.Ingest)
	w.Close = sync.OnceFunc(func() {
		w.Indexer.Close()
		if err := w.Store.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(w.Close)
	o.Identity.Cost = identity.Cost{MemoryKiB: 8, Passes: 1}
	o.Identity.Ended, o.Identity.Hidden = w.Gate.Recheck, w.Gate.Hide
	w.Registry, err = identity.Open(w.Store, o.Identity)
	w.Must(err)
	w.Gate.Registry = func() *identity.Registry { return w.Registry }
	return w
}

// Must ends the test with an error that is not nil.
func (w *World) Must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// User makes a user.
func (w *World) User(n identity.NewUser) *identity.User {
	w.Helper()
	u, err := w.Registry.CreateUser(identity.Operator, n)
	w.Must(err)
	return u
}

// SignUp makes a user with a password, unless it is a service account.
func (w *World) SignUp(n identity.NewUser) *identity.User {
	w.Helper()
	u := w.User(n)
	if !n.Service {
		w.Must(w.Registry.SetPassword(w.Context(), identity.Operator, u.ID, Password))
	}
	return u
}

// Token makes an access token of a user that is good for a month and for everything;
// that of a site admin may act for others.
func (w *World) Token(u *identity.User) string {
	w.Helper()
	scopes, month := []string{identity.ScopeAll}, 30*24*time.Hour
	if u.SiteAdmin {
		scopes = append(scopes, identity.ScopeSudo)
	}
	text, _, err := w.Registry.CreateToken(identity.Operator, identity.NewToken{User: u.ID, Scopes: scopes, Note: "tests", Lifetime: &month})
	w.Must(err)
	return text
}

// Users makes users, each with a token unless it is a service account.
func (w *World) Users(all ...identity.NewUser) {
	w.Helper()
	for _, n := range all {
		if u := w.User(n); !n.Service {
			w.Tokens[n.Name] = w.Token(u)
		}
	}
}

// Readers lets some alone read a repository, as user:ann.
func (w *World) Readers(repository string, readers ...string) {
	w.Helper()
	_, err := w.Registry.SetReaders(identity.Operator, repository, readers)
	w.Must(err)
}

// Facts changes what is known of a repository.
func (w *World) Facts(repository string, c store.FactsChange) {
	w.Helper()
	_, err := w.Store.Repositories().ChangeFacts(repository, c)
	w.Must(err)
}

// Git makes a git repository.
func (w *World) Git(name string) *gitrepo.Repo {
	w.Helper()
	return gitrepo.New(w, filepath.Join(w.Dir, name))
}

// AddSource adds a repository by its name, "=" and its source.
func (w *World) AddSource(text string) {
	w.Helper()
	source, err := ingest.ParseSource(text)
	w.Must(err)
	_, err = w.Indexer.Add(w.Context(), source)
	w.Must(err)
}

// AddGit adds the repositories of Git as lab/ and their names.
func (w *World) AddGit(names ...string) {
	w.Helper()
	for _, name := range names {
		w.AddSource("lab/" + name + "=" + filepath.Join(w.Dir, name))
	}
}

// Sync indexes repositories that were added.
func (w *World) Sync(names ...string) {
	w.Helper()
	for _, name := range names {
		_, err := w.Indexer.Sync(w.Context(), name, nil)
		w.Must(err)
	}
}
