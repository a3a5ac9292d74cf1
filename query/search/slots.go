package search

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// slots lets as many goroutines plan and verify at once as there are workers,
// whatever the number of searches: with more of them each takes longer, and
// their memory waits with them. Searches that have worked little go first, so
// that one with a handful of results does not wait for those that go through
// everything. Among equals a slot goes to whoever asks with the fewest, first
// come first, so that nobody waits for all the searches of another; an asker who
// has none may have a spare one beside.
//
// A search that works alone keeps its slot until it has worked so long that it
// counts as old, or its client does not read, or its asker has more than who
// waits: of searches that take about as long, all are answered sooner one after
// the other than side by side. Workers hold a slot for a segment of documents or
// for a commit, and those who help to plan while they do. While git or memory is
// waited for no slot is held. It is safe for concurrent use.
type slots struct {
	mu sync.Mutex // guards all below
	// free is how many there are, less than none by those that were given beyond
	// their number; spare is how many these may be.
	free, spare int
	// young and old are those who wait, first come first; passed counts the
	// young that went before an old one.
	young, old []*inLine
	passed     int
	// held counts slots by asker.
	held map[string]int
}

// inLine is one who waits; ready is closed when the slot is there.
type inLine struct {
	asker string
	ready chan struct{}
}

// youngFor is how long a search works before it counts as old: several times as
// long as one takes that is limited to a page of results, also when others keep
// the processors from it. One that were old before its end would wait for all
// that came later, which is what the slowest of a hundred would be.
const youngFor = 100 * time.Millisecond

// sharedAfter is how long a search keeps its slot from another asker who has
// fewer: about as long as it takes that one's clients to notice.
const sharedAfter = 10 * time.Millisecond

// oneOldIn is which share of slots the old have at least.
const oneOldIn = 4

func newSlots(n, spare int) *slots { return &slots{free: n, spare: spare, held: map[string]int{}} }

// take waits for a slot until ctx ends, which is the error then.
func (s *slots) take(ctx context.Context, asker string, old bool) error {
	if s.try(asker) {
		return nil
	}
	w := &inLine{asker, make(chan struct{})}
	line := &s.young
	if old {
		line = &s.old
	}
	s.mu.Lock()
	if s.has(asker) { // since
		s.grant(asker)
		s.mu.Unlock()
		return nil
	}
	*line = append(*line, w)
	s.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(*line, w); i >= 0 {
		*line = slices.Delete(*line, i, i+1)
	} else { // it came at the same moment
		s.end(asker)
	}
	return ctx.Err()
}

// try takes a slot if there is one.
func (s *slots) try(asker string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.has(asker) {
		return false
	}
	s.grant(asker)
	return true
}

// give ends what take or try began.
func (s *slots) give(asker string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end(asker)
}

// wanted reports whether somebody is to have the slot of an asker's search.
func (s *slots) wanted(asker string, old bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old {
		return len(s.young)+len(s.old) > 0
	}
	return slices.ContainsFunc(s.young, func(w *inLine) bool { return s.held[w.asker] < s.held[asker] })
}

// The lock is held in all that follows.

// has reports whether there is a slot for an asker. One who has none may have a
// spare one: processors are shared out within milliseconds, where a slot comes
// back only when a document is verified, which may be large.
func (s *slots) has(asker string) bool {
	return s.free > 0 || s.held[asker] == 0 && s.free > -s.spare
}

func (s *slots) grant(asker string) {
	s.free--
	s.held[asker]++
}

// end takes the slot back and gives it to whoever is next.
func (s *slots) end(asker string) {
	s.free++
	if s.held[asker]--; s.held[asker] <= 0 {
		delete(s.held, asker)
	}
	line, passed := &s.young, s.passed
	switch {
	case len(s.young) == 0 && len(s.old) == 0:
		return
	case len(s.young) == 0 || len(s.old) > 0 && s.passed >= oneOldIn-1:
		line, passed = &s.old, 0
	case len(s.old) > 0:
		passed++
	}
	best := 0
	for i, w := range *line {
		if s.held[w.asker] < s.held[(*line)[best].asker] {
			best = i
		}
	}
	w := (*line)[best]
	if !s.has(w.asker) {
		return // what came back was a spare one
	}
	s.passed = passed
	*line = slices.Delete(*line, best, best+1)
	s.grant(w.asker)
	close(w.ready)
}

// isOld reports whether a search has worked so long that it goes behind others,
// as one does that goes on from a bookmark: its client reads slowly.
func (r *run) isOld() bool {
	return time.Duration(r.worked.Load()) > youngFor || r.o.Bookmark.Resumed()
}

// seat is what one goroutine of a search plans or verifies in, with a slot or
// without. Only leave is safe for concurrent use.
type seat struct {
	run   *run
	taken atomic.Bool
	// since is when the slot was taken, counted when its time was last added to
	// that of the search.
	since, counted time.Time
}

// occupy waits for a slot to plan or verify in, and keeps it for what follows.
// Another occupy gives it to others if that is their due. It returns why ctx has
// ended, if it has.
func (s *seat) occupy(ctx context.Context) error {
	if s.taken.Load() {
		if s.count(); !s.isDue() {
			return ctx.Err()
		}
		s.leave()
	}
	if err := s.run.slots.take(ctx, s.run.o.Asker, s.run.isOld()); err != nil {
		return err
	}
	s.begin()
	return nil
}

// try occupies a slot if there is one.
func (s *seat) try() bool {
	if !s.run.slots.try(s.run.o.Asker) {
		return false
	}
	s.begin()
	return true
}

func (s *seat) begin() {
	s.since = s.run.set.Now()
	s.counted = s.since
	s.taken.Store(true)
}

// count adds the time with the slot to that of the search.
func (s *seat) count() {
	now := s.run.set.Now()
	s.run.worked.Add(int64(now.Sub(s.counted)))
	s.counted = now
}

// isDue reports whether others are to have the slot now.
func (s *seat) isDue() bool {
	old := s.run.isOld()
	return (old || s.counted.Sub(s.since) > sharedAfter) && s.run.slots.wanted(s.run.o.Asker, old)
}

// idle calls wait without the slot, and waits for it again if there was one.
// What wait waits for may be held by others who wait for a slot: nobody waits for
// memory with one.
func (s *seat) idle(ctx context.Context, wait func()) {
	taken := s.taken.Load()
	s.end()
	wait()
	if taken {
		_ = s.occupy(ctx) // when ctx ends, so does the work
	}
}

// leave gives the slot to others, if there still is one.
func (s *seat) leave() {
	if s.taken.CompareAndSwap(true, false) {
		s.run.slots.give(s.run.o.Asker)
	}
}

// end gives the slot to others for good.
func (s *seat) end() {
	if s.taken.Load() {
		s.count()
	}
	s.leave()
}

// patience is how long a client may keep a search from its slot: longer than it
// takes to put matches where they wait to be sent.
const patience = time.Millisecond

// leaveAfter gives the slot to others after a while, unless it is stopped before.
func (s *seat) leaveAfter(d time.Duration) (stop func() bool) {
	return time.AfterFunc(d, s.leave).Stop
}
