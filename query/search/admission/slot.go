package admission

import (
	"context"
	"sync/atomic"
	"time"
)

// Share is the part of the processors that one search has.
type Share struct {
	processors *Processors
	client     string
	resumed    bool
	now        func() time.Time
	// worked is the time, in nanoseconds, that all its goroutines had slots.
	worked atomic.Int64
}

// Begin counts a search as being at work until its End. A search that is resumed
// has a client that reads slowly, and goes behind others.
func (p *Processors) Begin(client string, resumed bool, now func() time.Time) *Share {
	p.busy.Add(1)
	return &Share{processors: p, client: client, resumed: resumed, now: now}
}

// End ends the search. Its slots were released before.
func (s *Share) End() { s.processors.busy.Add(-1) }

// Goroutines returns how many goroutines the search may have at work: its part of the
// workers.
func (s *Share) Goroutines() int { return s.processors.perSearch() }

// isOld reports whether the search has worked so long that it goes behind others.
func (s *Share) isOld() bool { return s.resumed || time.Duration(s.worked.Load()) > youngFor }

// Slot returns a slot for one goroutine of the search, not acquired yet.
func (s *Share) Slot() *Slot { return &Slot{share: s} }

// patience is how long a client may keep a search from its slot: longer than it
// takes to put matches where they wait to be sent.
const patience = time.Millisecond

// WaitForClient calls send, which waits for the client to read. The search does not
// count as being at work meanwhile. After a while slot is given to others; a
// goroutine that computes in it meanwhile goes on without until it acquires it
// again, so more than the workers may compute for that time.
func (s *Share) WaitForClient(slot *Slot, send func() error) error {
	s.processors.busy.Add(-1)
	defer s.processors.busy.Add(1)
	defer s.processors.patience.Add(slot.Leave).Remove()
	return send()
}

// Slot is what one goroutine of a search computes in. Only Leave is safe for
// concurrent use.
type Slot struct {
	share *Share
	held  atomic.Bool
	// since is when the slot was acquired, counted when its time was last added
	// to that of the search.
	since, counted time.Time
}

// Acquire waits for the slot and keeps it for what follows. Another Acquire
// yields it to a waiter that is due. The error says why ctx has ended.
func (s *Slot) Acquire(ctx context.Context) error {
	if s.held.Load() {
		if s.count(); !s.isDue() {
			return ctx.Err()
		}
		s.Leave()
	}
	if err := s.share.processors.take(ctx, s.share.client, s.share.isOld()); err != nil {
		return err
	}
	s.begin()
	return nil
}

// TryAcquire acquires the slot if one is free. It is not held yet.
func (s *Slot) TryAcquire() bool {
	if !s.share.processors.try(s.share.client) {
		return false
	}
	s.begin()
	return true
}

func (s *Slot) begin() {
	s.since = s.share.now()
	s.counted = s.since
	s.held.Store(true)
}

// count adds the time with the slot to that of the search.
func (s *Slot) count() {
	now := s.share.now()
	s.share.worked.Add(int64(now.Sub(s.counted)))
	s.counted = now
}

// isDue reports whether a waiter is to have the slot now.
func (s *Slot) isDue() bool {
	old := s.share.isOld()
	return (old || s.counted.Sub(s.since) > sharedAfter) && s.share.processors.wanted(s.share.client, old)
}

// Without calls wait without the slot, and acquires it again if it was held. What
// wait waits for may be held by goroutines that wait for a slot: none waits for
// memory or git with one.
func (s *Slot) Without(ctx context.Context, wait func()) {
	held := s.held.Load()
	s.Release()
	wait()
	if held {
		_ = s.Acquire(ctx) // when ctx ends, so does the work
	}
}

// Leave gives the slot to others, if it is still held.
func (s *Slot) Leave() {
	if s.held.CompareAndSwap(true, false) {
		s.share.processors.give(s.share.client)
	}
}

// Release counts the time with the slot, and gives it to others.
func (s *Slot) Release() {
	if s.held.Load() {
		s.count()
	}
	s.Leave()
}
