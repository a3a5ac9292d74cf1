package monitors

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/httpapi/notify"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/saved"
)

const (
	// gather is how long changes are gathered before monitors look at them.
	gather = time.Second
	// again is after how long a look that failed is repeated.
	again = time.Minute
	// retryWhy is after how long a monitor is run again that cannot search at all.
	retryWhy = 10 * time.Minute
	// turn is how long a monitor searches before the others have their turn.
	turn = 10 * time.Second
	// firstPause and longestPause bound the time between two looks at a repository that
	// cannot be searched whole; each is twice the one before.
	firstPause, longestPause = 15 * time.Second, time.Hour
	// shownLeft is how many such repositories the page of a monitor names.
	shownLeft = 10
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

	once sync.Once
	// look and tell hold a token when there may be something to look at, and to tell.
	look, tell chan struct{}

	// monitors are how far those are that this process runs. Only looks use it.
	monitors map[uint32]*progress
	// held are monitors whose deliveries wait, since one of them failed. Only tellAll
	// uses it.
	held map[uint32]time.Time

	mu sync.Mutex // guards all below
	// closed are receivers that have said until when they take no messages.
	closed map[receiver]time.Time
	// changed are repositories that have changed since the last look.
	changed map[uint32]bool
	// all says that any may have.
	all bool
	// looking are monitors, by their searches, that have repositories left to look at.
	looking map[uint32]bool
}

// progress is how far a monitor is in this process.
type progress struct {
	// of is the monitor as it was when it began here.
	of *saved.Monitor
	// todo are the repositories to look at.
	todo map[uint32]bool
	// left are those that could not be searched whole.
	left map[uint32]*leftOut
	// retry is when a monitor is run again that cannot search at all.
	retry time.Time
}

// leftOut is why a repository could not be searched whole. It is looked at again when it
// has changed, and at next unless that is zero.
type leftOut struct {
	why   string
	pause time.Duration
	next  time.Time
}

func (r *Runner) prepare() {
	r.once.Do(func() {
		r.look, r.tell = make(chan struct{}, 1), make(chan struct{}, 1)
		r.monitors, r.held, r.changed, r.all = map[uint32]*progress{}, map[uint32]time.Time{}, map[uint32]bool{}, true
		r.closed, r.looking = map[receiver]time.Time{}, map[uint32]bool{}
		r.Kept.Store.Subscribe(r.applied)
	})
}

// applied takes note of what a change of the store has for monitors. What a look commits
// wakes another one, which finds nothing to do.
func (r *Runner) applied(a store.Applied) {
	r.mu.Lock()
	r.all = r.all || a.Everything
	for _, c := range a.Repositories {
		switch {
		case a.Everything:
		case c.After == nil:
			r.changed[c.Before.ID] = true
		case c.Before == nil || stateOf(c.Before) != stateOf(c.After):
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

// stateOf differs when there is something else in a repository.
func stateOf(repo *store.Repository) uint64 {
	return hash(0, fmt.Sprint(repo.Generation), repo.History.Tip, repo.Name)
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
		next, err := r.lookAll(ctx)
		if err != nil && ctx.Err() == nil {
			r.Log.Error().Err(err).Msg("run monitors")
			next = earlier(next, r.Kept.Now().Add(again))
		}
		wait := time.Duration(-1)
		if !next.IsZero() {
			wait = max(next.Sub(r.Kept.Now()), 0)
		}
		if !pause(ctx, r.look, wait) || !pause(ctx, nil, gather) {
			return
		}
	}
}

// earlier is the first of two times, of which zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
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

// lookAll has all monitors of this node look at what has changed, each for a turn. It
// returns when there is more to do without a change, zero if never.
func (r *Runner) lookAll(ctx context.Context) (next time.Time, err error) {
	r.mu.Lock()
	changed, all := r.changed, r.all
	r.changed, r.all = map[uint32]bool{}, false
	r.mu.Unlock()
	if all {
		clear(r.monitors)
	}
	for _, at := range r.monitors {
		maps.Copy(at.todo, changed)
	}
	monitors, err := r.Kept.Book.Monitors.All()
	if err != nil {
		return next, err
	}
	var errs []error
	there := map[uint32]bool{}
	for _, m := range monitors {
		if ctx.Err() != nil {
			return next, ctx.Err()
		}
		if !r.mine(m.Search) {
			continue
		}
		there[m.Search] = true
		at, err := r.run(ctx, m)
		switch {
		case errors.Is(err, saved.ErrConflict) || errors.Is(err, store.ErrNotFound):
			at = r.Kept.Now() // it is another one by now
		case err != nil:
			errs = append(errs, fmt.Errorf("monitor of saved search %d: %w", m.Search, err))
		}
		next = earlier(next, at)
	}
	maps.DeleteFunc(r.monitors, func(search uint32, _ *progress) bool { return !there[search] })
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.looking, func(search uint32, _ bool) bool { return !there[search] })
	return next, errors.Join(errs...)
}

// run has a monitor look at what is to be looked at, and returns when there is more.
func (r *Runner) run(ctx context.Context, m *saved.Monitor) (next time.Time, err error) {
	book := r.Kept.Book
	at := r.monitors[m.Search]
	if at != nil && r.Kept.Now().Before(at.retry) && at.of.Since.Equal(m.Since) && at.of.Creator == m.Creator {
		if search, err := book.Searches.Get(m.Search); err == nil && search.Query == m.Query {
			return at.retry, nil
		}
	}
	actor, search, err := r.whose(m)
	if search == nil && err == nil {
		return next, book.Monitors.Remove(m.Search)
	}
	var why cannot
	if err != nil && !errors.As(err, &why) {
		return next, err
	}
	if search.Query != m.Query {
		if m, err = book.Monitors.Restart(m.Search, search.Query); err != nil {
			return next, err
		}
	}
	q, err := manage.ParseMonitor(m.Query)
	if err != nil && why == "" {
		why = cannot(err.Error())
	}
	if at == nil || at.of.Query != m.Query || at.of.Creator != m.Creator || !at.of.Since.Equal(m.Since) {
		todo, err := r.whole(m)
		if err != nil {
			return next, err
		}
		at = &progress{of: m, todo: todo, left: map[uint32]*leftOut{}}
		r.monitors[m.Search] = at
	}
	if why != "" {
		at.retry = r.Kept.Now().Add(retryWhy)
		return at.retry, r.note(m, at, string(why))
	}
	at.retry = time.Time{}
	r.setLooking(m.Search, true)
	err = r.takeTurn(ctx, m, at, q, actor)
	r.setLooking(m.Search, err == nil && len(at.todo) > 0)
	if err != nil {
		return next, err
	}
	if len(at.todo) > 0 {
		next = r.Kept.Now()
	}
	for _, l := range at.left {
		next = earlier(next, l.next)
	}
	return next, r.note(m, at, "")
}

// setLooking notes whether a monitor has repositories left to look at: what it finds is told
// once it has none, so that one message tells of all.
func (r *Runner) setLooking(search uint32, is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if is {
		r.looking[search] = true
		return
	}
	delete(r.looking, search)
	signal(r.tell)
}

func (r *Runner) isLooking(search uint32) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.looking[search]
}

// cannot is why a monitor cannot search at all, for its user.
type cannot string

func (c cannot) Error() string { return string(c) }

// whose returns for whom a monitor searches, and its saved search, nil if there is none. An
// error that is a cannot says that it is not to search.
func (r *Runner) whose(m *saved.Monitor) (*auth.Actor, *saved.Search, error) {
	search, err := r.Kept.Book.Searches.Get(m.Search)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	actor, err := r.Kept.ActorOf(m.Creator)
	if errors.Is(err, manage.ErrCreatorGone) {
		return nil, search, cannot(err.Error())
	}
	if err != nil {
		return nil, search, err
	}
	_, err = (&manage.Searches{Kept: r.Kept, Actor: actor}).Find(m.Search)
	if errors.Is(err, manage.ErrNoSearch) {
		err = cannot("the user does not see the saved search any more")
	}
	return actor, search, err
}

// whole returns the repositories that a monitor has not looked at as they are, and those
// that it knows of and are gone.
func (r *Runner) whole(m *saved.Monitor) (todo map[uint32]bool, err error) {
	looked, err := r.Kept.Book.Monitors.Looked(m.Search)
	if err != nil {
		return nil, err
	}
	todo = map[uint32]bool{}
	sn := r.Kept.Store.Snapshot()
	for repo := range sn.Listed() {
		if state, is := looked[repo.ID]; !is || state != stateOf(repo) {
			todo[repo.ID] = true
		}
		delete(looked, repo.ID)
	}
	for id := range looked {
		todo[id] = true
	}
	return todo, sn.Close()
}

// takeTurn has a monitor look at repositories until its turn is over.
func (r *Runner) takeTurn(ctx context.Context, m *saved.Monitor, at *progress, q *query.Query, actor *auth.Actor) error {
	began := time.Now()
	now := r.Kept.Now()
	for id, l := range at.left {
		if !l.next.IsZero() && !now.Before(l.next) {
			at.todo[id] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(at.todo)) {
		if err := ctx.Err(); err != nil || time.Since(began) > turn {
			return err
		}
		if err := r.lookAt(ctx, m, at, q, actor, id); err != nil {
			return err
		}
		delete(at.todo, id)
	}
	return nil
}

// lookAt has a monitor look at a repository.
func (r *Runner) lookAt(ctx context.Context, m *saved.Monitor, at *progress, q *query.Query, actor *auth.Actor, id uint32) error {
	sn := r.Kept.Store.Snapshot()
	repo := sn.RepositoryByID(id)
	if err := sn.Close(); err != nil {
		return err
	}
	switch {
	case repo == nil:
		delete(at.left, id)
		return r.Kept.Book.Monitors.Forget(m.Search, id)
	case repo.Generation == 0 || !actor.CanSee(repo):
		delete(at.left, id)
		return nil
	}
	why, err := r.find(ctx, m, q, actor, repo)
	if err != nil {
		return err
	}
	if why == "" {
		delete(at.left, id)
		return nil
	}
	l := at.left[id]
	if l == nil || l.why != why {
		l = &leftOut{why: why}
		at.left[id] = l
	}
	l.next = time.Time{}
	if why != tooMany { // of which only a change helps
		l.pause = min(max(2*l.pause, firstPause), longestPause)
		l.next = r.Kept.Now().Add(l.pause)
	}
	return nil
}

// note has the store know how far a monitor is, if that is not what it was.
func (r *Runner) note(m *saved.Monitor, at *progress, failure string) error {
	var left []saved.LeftOut
	for _, id := range slices.Sorted(maps.Keys(at.left)) {
		left = append(left, saved.LeftOut{Repository: id, Why: at.left[id].why})
	}
	more := max(len(left)-shownLeft, 0)
	left = left[:len(left)-more]
	begun := m.Begun || failure == "" && len(at.todo) == 0
	if begun == m.Begun && failure == m.Failure && more == m.LeftMore && slices.Equal(left, m.Left) {
		return nil
	}
	return r.Kept.Book.Monitors.Change(m, func(m *saved.Monitor) {
		m.Begun, m.Failure, m.Left, m.LeftMore = begun, failure, left, more
	})
}
