package search

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

// slots lets as many goroutines plan and verify at once as there are processors,
// whatever the number of searches: with more of them the scheduler hears of a
// connection that was closed only after each has had its share of time, tens of
// milliseconds, and their memory waits with them. Searches that have worked
// little go first, so that one with a handful of results does not wait for those
// that go through everything.
//
// A search that works alone keeps its slot until it has worked so long that it
// counts as old, or its client does not read: of searches that take about as
// long, all are answered sooner one after the other than side by side. Workers
// hold a slot for a segment, and those who help to plan while they do. A nil slots
// has nobody wait. It is safe for concurrent use.
type slots struct {
	mu   sync.Mutex // guards all below
	free int
	// young and old are those who wait, first come first; passed counts the
	// young that went before an old one.
	young, old []chan struct{}
	passed     int
}

// youngFor is how long a search works before it counts as old: a few times as
// long as one takes that is limited to a page of results.
const youngFor = 20 * time.Millisecond

// oneOldIn is which share of slots the old have at least.
const oneOldIn = 4

func newSlots() *slots { return &slots{free: runtime.GOMAXPROCS(0)} }

// take waits for a slot until ctx ends, which is the error then.
func (s *slots) take(ctx context.Context, old bool) error {
	if s == nil {
		return ctx.Err()
	}
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return nil
	}
	got := make(chan struct{})
	line := &s.young
	if old {
		line = &s.old
	}
	*line = append(*line, got)
	s.mu.Unlock()
	select {
	case <-got:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(*line, got); i >= 0 {
		*line = slices.Delete(*line, i, i+1)
	} else { // it came at the same moment
		s.next()
	}
	return ctx.Err()
}

// try takes a slot if there is one.
func (s *slots) try() bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == 0 {
		return false
	}
	s.free--
	return true
}

// give ends what take or try began.
func (s *slots) give() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next()
}

// next gives a slot to whoever is next. The lock is held.
func (s *slots) next() {
	line := &s.young
	switch {
	case len(s.young) == 0 && len(s.old) == 0:
		s.free++
		return
	case len(s.young) == 0 || len(s.old) > 0 && s.passed >= oneOldIn-1:
		line, s.passed = &s.old, 0
	case len(s.old) > 0:
		s.passed++
	}
	close((*line)[0])
	*line = slices.Delete(*line, 0, 1)
}

// wanted reports whether somebody waits.
func (s *slots) wanted() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.young)+len(s.old) > 0
}

// isOld reports whether a search has worked so long that it goes behind others,
// as one does that goes on from a bookmark: its client reads slowly.
func (r *run) isOld() bool {
	return time.Duration(r.worked.Load()) > youngFor || r.o.Bookmark.Resumed()
}

// take waits for a slot, and returns what gives it.
func (r *run) take(ctx context.Context) (give func(), err error) {
	if err := r.slots.take(ctx, r.isOld()); err != nil {
		return nil, err
	}
	began := r.set.Now()
	return func() {
		r.worked.Add(int64(r.set.Now().Sub(began)))
		r.slots.give()
	}, nil
}

// occupy waits for a slot to plan or verify in, and keeps it for what follows.
// Another occupy gives it to others if that is their due.
func (r *run) occupy(ctx context.Context) error {
	now := int64(r.set.Now().Sub(r.began))
	if r.occupies.Load() {
		r.worked.Add(now - r.counted)
		r.counted = now
		if !r.isOld() || !r.slots.wanted() {
			return ctx.Err()
		}
		r.leave()
	}
	if err := r.slots.take(ctx, r.isOld()); err != nil {
		return err
	}
	r.counted = int64(r.set.Now().Sub(r.began))
	r.occupies.Store(true)
	return nil
}

// leave gives what occupy has taken, if it still has it.
func (r *run) leave() {
	if r.occupies.CompareAndSwap(true, false) {
		r.slots.give()
	}
}

// patience is how long a client may keep a search from its slot: longer than it
// takes to put matches where they wait to be sent.
const patience = time.Millisecond

// leaveAfter gives the slot to others after a while, unless it is stopped before.
func (r *run) leaveAfter(d time.Duration) (stop func() bool) {
	return time.AfterFunc(d, r.leave).Stop
}
