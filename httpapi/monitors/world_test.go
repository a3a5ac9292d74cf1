package monitors

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/httpapi/notify"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/internal/clock"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/saved"
)

// world is a store with repositories that change, and a receiver of messages.
type world struct {
	*worldtest.World
	book  *saved.Book
	clock *clock.Clock
	// age is how old commits are when they are pushed.
	age time.Duration
	// ann may see lab/secret, bob may not.
	ann, bob *identity.User

	mu   sync.Mutex // guards all below
	sent []sent
	// refuse is what the receiver answers.
	refuse error
	// during, if set, is called while a message is sent.
	during func()
}

// sent is a message that was delivered.
type sent struct {
	kind notify.Kind
	to   string
	notify.Message
}

func newWorld(t *testing.T) *world {
	t.Helper()
	now := clock.New(time.Date(2096, 3, 4, 5, 6, 7, 0, time.UTC))
	w := &world{World: worldtest.New(t, worldtest.Options{Now: now.Now}), clock: now}
	w.book = saved.Open(w.Store, saved.Options{Now: now.Now})
	w.ann = w.User(identity.NewUser{Name: "ann", Email: "ann@example.org"})
	w.bob = w.User(identity.NewUser{Name: "bob", Email: "bob@example.org"})
	w.push("open", "a.txt", "slip\n")
	w.push("secret", "a.txt", "slip\n")
	yes := true
	w.Facts("lab/secret", store.FactsChange{Private: &yes})
	w.Readers("lab/secret", "user:ann")
	return w
}

// push commits a file to a repository, which is made if there is none, and indexes it.
func (w *world) push(name, path, text string) {
	w.Helper()
	w.clock.Add(time.Minute)
	repo := w.Git(name)
	repo.Env = []string{"GIT_COMMITTER_DATE=" + w.clock.Now().Add(-w.age).Format(time.RFC3339)}
	repo.Write(path, text)
	repo.Commit("Change " + path)
	sn := w.Store.Snapshot()
	_, err := sn.Repository("lab/" + name)
	if cerr := sn.Close(); cerr != nil {
		w.Fatal(cerr)
	}
	if errors.Is(err, store.ErrNotFound) {
		w.AddGit(name)
	} else {
		w.Must(err)
	}
	w.Sync("lab/" + name)
}

// runner is a process that runs monitors.
func (w *world) runner() *Runner {
	r := &Runner{
		Kept:     &manage.Kept{Store: w.Store, Registry: w.Registry, Book: w.book, Now: w.clock.Now},
		Searcher: search.New(w.Store, search.Settings{Workers: 2}), Send: w.send, URL: "https://trawl.example.org", Log: zerolog.Nop(),
	}
	r.prepare()
	return r
}

func (w *world) send(_ context.Context, kind notify.Kind, to string, m notify.Message) error {
	if w.during != nil {
		w.during()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuse != nil {
		return w.refuse
	}
	w.sent = append(w.sent, sent{kind, to, m})
	return nil
}

// received returns what came since the last time.
func (w *world) received() []sent {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.sent
	w.sent = nil
	return out
}

// answer has the receiver answer with an error, nil to take what comes.
func (w *world) answer(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuse = err
}

// watch has a query monitored for a user.
func (w *world) watch(u *identity.User, query string, targets ...saved.Target) uint32 {
	w.Helper()
	s, err := w.book.Searches.Add(saved.Search{Query: query, Owner: saved.Subject{Kind: saved.SubjectUser, ID: u.ID}})
	if err == nil {
		_, err = w.book.Monitors.Set(s.ID, u.ID, append(targets, saved.Target{Kind: "webhook", Address: "https://example.com/hook"}))
	}
	w.Must(err)
	return s.ID
}

// look has a runner look at what has changed and deliver what is due.
func (w *world) look(r *Runner) {
	w.Helper()
	w.lookOnly(r)
	_, err := r.tellDue(w.Context())
	w.Must(err)
}

// lookOnly has a runner look at what has changed. A second look without a change commits
// nothing, or the first would wake looks for ever.
func (w *world) lookOnly(r *Runner) {
	w.Helper()
	for range 2 {
		_, err := r.lookAll(w.Context())
		w.Must(err)
	}
	before := w.Store.Version()
	_, err := r.lookAll(w.Context())
	w.Must(err)
	if after := w.Store.Version(); after != before {
		w.Errorf("a look without a change commits something")
	}
}
