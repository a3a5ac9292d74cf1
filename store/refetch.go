package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/shard"
)

const (
	// firstRefetch is how long a refetcher waits behind its first attempt, and then twice
	// as long each time: awayRefetch at most while objects cannot be reached, and
	// damagedRefetch while they are missing or damaged.
	firstRefetch   = 500 * time.Millisecond
	awayRefetch    = 30 * time.Second
	damagedRefetch = 5 * time.Minute
	// hopelessRefetches is how many attempts have to find objects missing or damaged
	// before a shard is given up. Other nodes have a minute to store them again.
	hopelessRefetches = 8
	// longestRead bounds how long a shard waits for its readers.
	longestRead = 5 * time.Second
	// answerEvery is how often a node looks what others ask for.
	answerEvery = 15 * time.Second
)

// errNewerHeader says that a shard was given another header while it was fetched.
var errNewerHeader = errors.New("its header has changed meanwhile")

// refetcher brings the quarantined shards of one node back into service: it fetches
// their runs again, replaces what is there, and lifts the quarantine. Nothing of that
// is in the log, so no other node sees it.
//
// A search that began long before may have the shard still, and read its old bytes: a
// snapshot keeps what it saw. If it meets the damage only then, the shard is fetched
// once more.
type refetcher struct {
	a *sharedAuthority
	// wake holds a token when there is a shard to fetch. ended is closed behind run.
	wake, ended chan struct{}

	mu     sync.Mutex // guards all below
	shards map[uint32]*refetching
	// changed is closed when a shard is whole, gone or given up.
	changed chan struct{}
	mended  int64
}

// refetching is a shard that waits to be fetched.
type refetching struct {
	due   time.Time
	pause time.Duration
	// damaged counts the attempts that found objects missing or damaged.
	damaged int
	why     string
}

func (f *refetching) hopeless() bool { return f.damaged >= hopelessRefetches }

func newRefetcher(a *sharedAuthority) *refetcher {
	return &refetcher{a: a, wake: make(chan struct{}, 1), ended: make(chan struct{}), shards: map[uint32]*refetching{}, changed: make(chan struct{})}
}

// note takes up the quarantined shards of a catalogue.
func (r *refetcher) note(c *catalogue) {
	if c.aside.Len() == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c.aside.Scan(func(id uint32, _ *shard.Quarantine) bool {
		if r.shards[id] == nil {
			r.shards[id] = &refetching{}
			select {
			case r.wake <- struct{}{}:
			default:
			}
		}
		return true
	})
}

// await waits until no shard is going to be whole soon.
func (r *refetcher) await(ctx context.Context) error {
	for {
		r.mu.Lock()
		changed, waits := r.changed, false
		for _, f := range r.shards {
			waits = waits || !f.hopeless()
		}
		r.mu.Unlock()
		if !waits {
			return nil
		}
		select {
		case <-changed:
		case <-r.ended:
			return errors.New("the store is closed")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// run fetches shards, and answers other nodes that ask for runs, until ctx ends.
func (r *refetcher) run(ctx context.Context) {
	defer close(r.ended)
	answer := time.NewTicker(r.a.s.options.pause(answerEvery))
	defer answer.Stop()
	for ctx.Err() == nil {
		next := time.NewTimer(r.round(ctx))
		select {
		case <-ctx.Done():
		case <-r.wake:
		case <-next.C:
		case <-answer.C:
			if err := r.a.exchange.answer(ctx); err != nil && ctx.Err() == nil {
				r.a.s.options.Event("runs that other nodes ask for cannot be stored again", err)
			}
		}
		next.Stop()
	}
}

// round fetches the shards that are due, and returns how long it is until another is.
func (r *refetcher) round(ctx context.Context) time.Duration {
	r.mu.Lock()
	ids := slices.Sorted(maps.Keys(r.shards))
	r.mu.Unlock()
	next := damagedRefetch
	for _, id := range ids {
		r.mu.Lock()
		wait := time.Until(r.shards[id].due)
		r.mu.Unlock()
		if wait <= 0 {
			wait = r.noteAttempt(id, r.fetch(ctx, id))
			c, _ := r.a.s.committer.current()
			r.note(c) // it may have been quarantined again meanwhile
		}
		if ctx.Err() != nil {
			break
		}
		next = min(next, wait)
	}
	return max(next, 0)
}

// noteAttempt notes how an attempt ended, and returns how long it is until the next one.
func (r *refetcher) noteAttempt(id uint32, err error) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, event := r.shards[id], r.a.s.options.Event
	done := func() {
		close(r.changed)
		r.changed = make(chan struct{})
	}
	if err == nil {
		delete(r.shards, id)
		done()
		return damagedRefetch
	}
	if errors.Is(err, errNewerHeader) {
		return 0
	}
	longest := awayRefetch
	if errors.As(err, new(*object.DamagedError)) {
		longest = damagedRefetch
		if f.damaged++; f.damaged == hopelessRefetches {
			event(fmt.Sprintf("shard %d cannot be fetched again, its documents are to be indexed again", id), err)
			done()
		}
	}
	if why := err.Error(); why != f.why {
		f.why = why
		event(fmt.Sprintf("shard %d cannot be fetched again yet", id), err)
	}
	f.pause = r.a.s.options.pause(min(cmp.Or(2*f.pause, firstRefetch), longest))
	f.due = time.Now().Add(f.pause)
	return f.pause
}

// fetch brings a shard back into service. It does nothing if the shard is in service or
// gone.
func (r *refetcher) fetch(ctx context.Context, id uint32) error {
	files, err := r.files(id)
	if err != nil || files == nil {
		return err
	}
	to := r.a.s.destination
	var mu sync.Mutex // guards received
	var received []shard.LocalFile
	defer func() {
		for _, f := range received {
			_ = to.Discard(f) // what stays is removed when the store is opened
		}
	}()
	err = r.a.exchange.runs.Fetch(ctx, files, func(ctx context.Context, f shard.File, fill func(io.Writer) error) error {
		local, err := to.Receive(ctx, f, fill)
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			received = append(received, local)
		}
		return err
	})
	if damaged := (*object.DamagedError)(nil); errors.As(err, &damaged) {
		return errors.Join(err, r.a.exchange.ask(ctx, files, received))
	}
	if err != nil {
		return err
	}
	return r.replace(ctx, id, files, received)
}

// files returns what a quarantined shard consists of, nil if it is in service or gone.
func (r *refetcher) files(id uint32) ([]shard.File, error) {
	c, _ := r.a.s.committer.current()
	sh := c.shard(id)
	switch {
	case sh == nil || c.inService(id):
		return nil, nil
	case sh.Header.TextFile == nil:
		return nil, fmt.Errorf("shard %d: %w", id, &object.DamagedError{Name: "its header", Why: "it names no run"})
	}
	return sh.Header.Files(), nil
}

// replace takes in all runs of a shard in the place of what is there, and lifts the
// quarantine. Readers that began before the quarantine go first, but are not waited for
// for long: some take minutes.
func (r *refetcher) replace(ctx context.Context, id uint32, files []shard.File, received []shard.LocalFile) error {
	a, s := r.a, r.a.s
	c, _ := s.committer.current()
	why, found := c.aside.Get(id)
	if !found {
		return nil
	}
	// A crash must find the quarantine, which may have been noted in memory alone, and
	// readers of the last version must know it.
	err := s.committer.commitHere([]operation{quarantineOperation{id, why}})
	s.committer.take()()
	if err != nil {
		return err
	}
	seen := !s.committer.versions.alone(ctx, longestRead)
	if err := a.exchange.arrivals.fetching.Acquire(ctx, 1); err != nil { // no run arrives
		return err
	}
	a.mu.Lock() // no header changes
	defer func() {
		deliver := s.committer.take()
		a.mu.Unlock()
		a.exchange.arrivals.fetching.Release(1)
		deliver() // a subscriber that commits may have to wait for a run to arrive
	}()
	if now, err := r.files(id); err != nil || !slices.Equal(now, files) {
		return cmp.Or(err, errNewerHeader)
	}
	to := s.destination
	if err := a.exchange.own.clear(ctx, to, id, files, a.exchange.arrivals.haveSymbols(id), seen); err != nil {
		return err
	}
	for _, f := range received {
		if err := to.Ingest(ctx, f.Path); err != nil {
			return err
		}
	}
	if err := s.committer.commitHere([]operation{quarantineOperation{id, nil}}); err != nil {
		return err
	}
	r.mu.Lock()
	r.mended++
	r.mu.Unlock()
	s.options.Event(fmt.Sprintf("shard %d is whole again: it was fetched", id), nil)
	return nil
}
