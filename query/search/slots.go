package search

import (
	"context"
	"runtime"
	"slices"
	"sync"
)

// slots lets as many goroutines plan and verify at once as there are processors, whatever the number of searches: with more of them the scheduler
// hears of a connection that was closed only after each has had its share of
// time, tens of milliseconds, and their memory waits with them. A slot is held
// for a segment, or while up to 32 shards are planned. Searches that have verified little go first, so that one with
// a handful of results does not wait for those that go through everything. A
// nil slots has nobody wait. It is safe for concurrent use.
type slots struct {
	mu   sync.Mutex // guards all below
	free int
	// young and old are those who wait, first come first; passed counts the
	// young that went before an old one.
	young, old []chan struct{}
	passed     int
}

// youngBytes is how much a search verifies before it counts as old.
const youngBytes = 2 << 20

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

// takeProcessor waits for a slot, to verify so many bytes. One whose client reads
// slowly goes behind others.
func (r *run) takeProcessor(ctx context.Context, bytes int) error {
	verified := r.verified.Add(int64(bytes))
	return r.slots.take(ctx, verified > youngBytes || r.o.Bookmark.Resumed())
}
