package monitors

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/httpapi/notify"
	"github.com/trawlsearch/trawl/internal/clock"
	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/saved"
)

// world is a store with repositories that change, and a receiver of messages.
type world struct {
	*testing.T
	dir      string
	st       *store.Store
	ix       *ingest.Indexer
	registry *identity.Registry
	book     *saved.Book
	clock    *clock.Clock
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
	w := &world{T: t, dir: t.TempDir(), clock: clock.New(time.Date(2096, 3, 4, 5, 6, 7, 0, time.UTC))}
	var err error
	if w.st, err = store.Open(filepath.Join(w.dir, "data"), store.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.st.Close(); err != nil {
			t.Error(err)
		}
	})
	w.ix = ingest.New(w.st, ingest.Options{MinFreeBytes: -1, Now: w.clock.Now})
	w.book = saved.Open(w.st, saved.Options{Now: w.clock.Now})
	if w.registry, err = identity.Open(w.st, identity.Options{Now: w.clock.Now, Cost: identity.Cost{MemoryKiB: 8, Passes: 1}}); err != nil {
		t.Fatal(err)
	}
	for _, u := range []struct {
		name string
		at   **identity.User
	}{{"ann", &w.ann}, {"bob", &w.bob}} {
		if *u.at, err = w.registry.CreateUser(identity.Operator, identity.NewUser{Name: u.name, Email: u.name + "@example.org"}); err != nil {
			t.Fatal(err)
		}
	}
	w.push("open", "a.txt", "slip\n")
	w.push("secret", "a.txt", "slip\n")
	yes := true
	if _, err := w.st.ChangeFacts("lab/secret", store.FactsChange{Private: &yes}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.registry.SetReaders(identity.Operator, "lab/secret", []string{"user:ann"}); err != nil {
		t.Fatal(err)
	}
	return w
}

// push commits a file to a repository, which is made if there is none, and indexes it.
func (w *world) push(name, path, text string) {
	w.Helper()
	w.clock.Add(time.Minute)
	dir := filepath.Join(w.dir, name)
	repo := gitrepo.New(w, dir)
	repo.Env = []string{"GIT_COMMITTER_DATE=" + w.clock.Now().Add(-w.age).Format(time.RFC3339)}
	repo.Write(path, text)
	repo.Commit("Change " + path)
	sn := w.st.Snapshot()
	_, err := sn.Repository("lab/" + name)
	if cerr := sn.Close(); cerr != nil {
		w.Fatal(cerr)
	}
	if errors.Is(err, store.ErrNotFound) {
		var source ingest.Source
		if source, err = ingest.ParseSource("lab/" + name + "=" + dir); err == nil {
			_, err = w.ix.Add(w.Context(), source)
		}
	}
	if err == nil {
		_, err = w.ix.Sync(w.Context(), "lab/"+name, nil)
	}
	if err != nil {
		w.Fatal(err)
	}
}

// runner is a process that runs monitors.
func (w *world) runner() *Runner {
	r := &Runner{
		Kept:     &manage.Kept{Store: w.st, Registry: w.registry, Book: w.book, Now: w.clock.Now},
		Searcher: search.New(w.st, search.Settings{Workers: 2}), Send: w.send, URL: "https://trawl.example.org", Log: zerolog.Nop(),
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
	if err != nil {
		w.Fatal(err)
	}
	return s.ID
}

// look has a runner look at what has changed and deliver what is due.
func (w *world) look(r *Runner) {
	w.Helper()
	w.lookOnly(r)
	if _, err := r.tellDue(w.Context()); err != nil {
		w.Fatal(err)
	}
}

// lookOnly has a runner look at what has changed. A second look without a change commits
// nothing, or the first would wake looks for ever.
func (w *world) lookOnly(r *Runner) {
	w.Helper()
	for range 2 {
		if _, err := r.lookAll(w.Context()); err != nil {
			w.Fatal(err)
		}
	}
	before := w.st.Version()
	if _, err := r.lookAll(w.Context()); err != nil {
		w.Fatal(err)
	}
	if after := w.st.Version(); after != before {
		w.Errorf("a look without a change commits something")
	}
}
