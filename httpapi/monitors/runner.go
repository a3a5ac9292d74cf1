package monitors

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/httpapi/notify"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/saved"
)

const (
	// gather is how long changes are gathered before monitors look at them.
	gather = time.Second
	// again is after how long a look that failed is repeated.
	again = time.Minute
	// noteEvery is how often a monitor notes how far it is. What it has looked at since
	// is looked at again after a restart.
	noteEvery = time.Minute
	// slack is how far clocks of nodes may be apart.
	slack = 10 * time.Minute
)

// Runner runs monitors. Its fields are set before Run and not changed afterwards; its
// methods are safe for concurrent use.
type Runner struct {
	Kept     *manage.Kept
	Searcher httpapi.Searcher
	// Send delivers a message once, as notify.Sender does.
	Send func(ctx context.Context, kind notify.Kind, to string, m notify.Message) error
	// URL is where people reach the server, without a slash at its end; "" is not known.
	URL string
	Log zerolog.Logger
	// Mine reports whether a monitor, by its search, is run here and not by another
	// node; nil is always.
	Mine func(search uint32) bool
	// Retry is how long a delivery that failed waits at first; 0 is a minute.
	Retry time.Duration

	once sync.Once
	// look and tell hold a token when there may be something to look at, and to tell.
	look, tell chan struct{}

	// monitors are how far those are that this process has run. Only looks use it.
	monitors map[uint32]*progress

	mu sync.Mutex // guards all below
	// changed are repositories that have changed since the last look.
	changed map[uint32]bool
	// all says that any may have.
	all bool
}

// progress is how far a monitor is in this process.
type progress struct {
	query   string
	creator uint32
	// noted is when the store was last told.
	noted time.Time
	// left are repositories that could not be searched whole, and why.
	left map[uint32]string
}

func (r *Runner) prepare() {
	r.once.Do(func() {
		r.look, r.tell = make(chan struct{}, 1), make(chan struct{}, 1)
		r.monitors, r.changed, r.all = map[uint32]*progress{}, map[uint32]bool{}, true
		r.Kept.Store.Subscribe(r.applied)
	})
}

// applied takes note of what a change of the store has for monitors.
func (r *Runner) applied(a store.Applied) {
	r.mu.Lock()
	r.all = r.all || a.Everything
	for _, c := range a.Repositories {
		switch {
		case a.Everything:
		case c.After == nil:
			r.changed[c.Before.ID] = true
		case c.Before == nil || c.Before.Generation != c.After.Generation || c.Before.Name != c.After.Name || c.Before.History.Tip != c.After.History.Tip:
			r.changed[c.After.ID] = true
		}
	}
	some := r.all || len(r.changed) > 0
	r.mu.Unlock()
	if some || a.Has(store.RecordMonitor, store.RecordSavedSearch) {
		signal(r.look)
	}
	if a.Has(store.RecordWaiting) {
		signal(r.tell)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Wake has the runner look at everything, since more monitors may be its own.
func (r *Runner) Wake() {
	r.prepare()
	signal(r.look)
	signal(r.tell)
}

// Run runs monitors until ctx ends.
func (r *Runner) Run(ctx context.Context) {
	r.prepare()
	var told sync.WaitGroup
	told.Go(func() { r.tellAll(ctx) })
	defer told.Wait()
	for {
		wait := time.Duration(-1)
		if err := r.lookAll(ctx); err != nil && ctx.Err() == nil {
			r.Log.Error().Err(err).Msg("run monitors")
			wait = again
		}
		if !pause(ctx, r.look, wait) || !pause(ctx, nil, gather) {
			return
		}
	}
}

// pause waits for a token, or for so long unless that is negative. False says that ctx
// has ended.
func pause(ctx context.Context, token <-chan struct{}, most time.Duration) bool {
	var timeout <-chan time.Time
	if most >= 0 {
		timer := time.NewTimer(most)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-token:
	case <-timeout:
	}
	return true
}

func (r *Runner) mine(search uint32) bool { return r.Mine == nil || r.Mine(search) }

// lookAll has all monitors of this node look at what has changed.
func (r *Runner) lookAll(ctx context.Context) error {
	r.mu.Lock()
	changed, all := r.changed, r.all
	r.changed, r.all = map[uint32]bool{}, false
	r.mu.Unlock()
	monitors, err := r.Kept.Book.Monitors()
	if err != nil {
		r.mu.Lock()
		r.all = true
		r.mu.Unlock()
		return err
	}
	if all {
		clear(r.monitors)
	}
	var errs []error
	there := map[uint32]bool{}
	for _, m := range monitors {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !r.mine(m.Search) {
			continue
		}
		there[m.Search] = true
		if err := r.run(ctx, m, changed); err != nil && !errors.Is(err, saved.ErrConflict) && !errors.Is(err, store.ErrNotFound) {
			errs = append(errs, fmt.Errorf("monitor of saved search %d: %w", m.Search, err))
		}
	}
	for search := range r.monitors {
		if !there[search] {
			delete(r.monitors, search) // it is run elsewhere, or not any more
		}
	}
	return errors.Join(errs...)
}

// run has a monitor look at repositories that have changed, or at all when it begins. After
// an error it looks at all the next time.
func (r *Runner) run(ctx context.Context, m *saved.Monitor, changed map[uint32]bool) (err error) {
	book := r.Kept.Book
	search, err := book.Search(m.Search)
	if errors.Is(err, store.ErrNotFound) {
		return book.RemoveMonitor(m.Search)
	}
	if err != nil {
		return err
	}
	at := r.monitors[m.Search]
	switch {
	case m.Query != search.Query:
		at = nil
		if err := book.RestartMonitor(m.Search, search.Query); err != nil {
			return err
		}
		if m, err = book.Monitor(m.Search); err != nil {
			return err
		}
	case at != nil && (at.query != m.Query || at.creator != m.Creator || !m.Begun):
		at = nil
	}
	whole := at == nil
	if whole {
		at = &progress{query: m.Query, creator: m.Creator, left: map[uint32]string{}}
	}
	defer func() {
		if r.monitors[m.Search] = at; err != nil {
			delete(r.monitors, m.Search)
		}
	}()
	began := r.Kept.Now().UTC()
	failure, looked, err := r.runIn(ctx, m, at, whole, changed)
	if err != nil {
		return err
	}
	if failure == m.Failure && m.Begun && (!looked || began.Sub(at.noted) < noteEvery) {
		return nil
	}
	at.noted = began
	return book.ChangeMonitor(m.Search, m.Query, func(m *saved.Monitor) {
		if m.Creator == at.creator {
			m.Begun, m.UpTo, m.Failure = true, began, failure
		}
	})
}

// runIn runs a monitor in the repositories that are to be looked at, and reports whether
// there was one. failure is what its user is told of what was not searched.
func (r *Runner) runIn(ctx context.Context, m *saved.Monitor, at *progress, whole bool, changed map[uint32]bool) (failure string, looked bool, err error) {
	q, err := manage.ParseMonitor(m.Query)
	if err != nil {
		return err.Error(), false, nil
	}
	actor, err := r.Kept.ActorOf(m.Creator)
	if errors.Is(err, manage.ErrCreatorGone) {
		return err.Error(), false, nil
	}
	if err != nil {
		return "", false, err
	}
	repositories, gone, err := r.choose(actor, m, at, whole, changed)
	if err != nil {
		return "", false, err
	}
	for _, id := range gone {
		if err := r.Kept.Book.Forget(m.Search, id); err != nil {
			return "", false, err
		}
	}
	if !whole && len(repositories) == 0 {
		return m.Failure, false, nil
	}
	for _, repo := range repositories {
		if err := ctx.Err(); err != nil {
			return "", false, err
		}
		why, err := r.find(ctx, m, q, actor, repo)
		if err != nil {
			return "", false, err
		}
		if at.left[repo.ID] = why; why == "" {
			delete(at.left, repo.ID)
		} else {
			failure = repo.Name + ": " + why
		}
	}
	switch n := len(at.left); {
	case n == 0:
	case failure == "":
		failure = m.Failure // of one that there is no use to look at again
	case n > 1:
		failure = fmt.Sprintf("%s; and so in %d more repositories", failure, n-1)
	}
	return failure, true, nil
}

// choose returns the repositories to look at, and of those that have changed the ones
// that are gone.
func (r *Runner) choose(actor *auth.Actor, m *saved.Monitor, at *progress, whole bool, changed map[uint32]bool) (all []*store.Repository, gone []uint32, err error) {
	sn := r.Kept.Store.Snapshot()
	defer func() { err = errors.Join(err, sn.Close()) }()
	if whole {
		for repo := range sn.Listed() {
			if repo.Generation > 0 && actor.CanSee(repo) && (!m.Begun || !repo.LastIndexed.Before(m.UpTo.Add(-slack))) {
				all = append(all, repo)
			}
		}
		return all, nil, nil
	}
	again := maps.Clone(changed)
	for id, why := range at.left {
		if why != tooMany {
			again[id] = true
		}
	}
	for id := range again {
		repo := sn.RepositoryByID(id)
		switch {
		case repo == nil:
			gone = append(gone, id)
		case repo.Generation > 0 && actor.CanSee(repo):
			all = append(all, repo)
			continue
		}
		delete(at.left, id)
	}
	return all, gone, nil
}
