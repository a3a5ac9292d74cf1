package admission

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Processors lets as many goroutines of searches compute at once as there are
// workers, whatever the number of searches: with more of them each takes longer,
// and their memory waits with them. Searches that have worked little go first, so
// that a search with a handful of results does not wait for those that go through
// everything. Among equals the client with the fewest slots is served first, in
// order of arrival, so that no client waits for all the searches of another. A
// client without a slot may have a spare one.
//
// A search that works alone keeps its slot until it has worked so long that it
// counts as old, or its client does not read, or its client holds more slots
// than one that waits. Searches of equal length are on average answered sooner
// one after the other than side by side. Processors is safe for concurrent use.
type Processors struct {
	workers int
	// patience takes slots from searches whose clients do not read.
	patience *Delay
	// busy counts the searches at work: those that wait neither for a ticket nor
	// for their client.
	busy atomic.Int32

	mu sync.Mutex // guards all below
	// free is how many slots there are, negative by those that were granted
	// beyond their number; spare is how many these may be.
	free, spare int
	// young and old are the waiters, first come first; passed counts the young
	// that were served before an old one.
	young, old []*waiter
	passed     int
	// held counts slots by client.
	held map[string]int
}

// waiter is a goroutine that waits; ready is closed when it has its slot.
type waiter struct {
	client string
	ready  chan struct{}
}

// youngFor is how long a search works before it counts as old: several times as
// long as a search takes that is limited to a page of results, also when others
// use the processors meanwhile. A search that is old before its end waits for all
// that came later, which makes it the slowest of a hundred.
const youngFor = 100 * time.Millisecond

// sharedAfter is how long a search keeps its slot from another client that has
// fewer: too short for that client to notice.
const sharedAfter = 10 * time.Millisecond

// oneOldIn is the share of slots that the old have at least: one in so many.
const oneOldIn = 4

// NewProcessors returns so many slots, and so many spare ones.
func NewProcessors(workers, spare int) *Processors {
	return &Processors{workers: workers, patience: NewDelay(patience), free: workers, spare: spare, held: map[string]int{}}
}

// perSearch returns how many goroutines a search may have at work.
func (p *Processors) perSearch() int { return max(p.workers/max(int(p.busy.Load()), 1), 1) }

// Busy returns how many searches are at work.
func (p *Processors) Busy() int { return int(p.busy.Load()) }

// Free returns how many slots are free, negative by the spare ones that are held.
func (p *Processors) Free() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.free
}

// Waiting returns how many goroutines wait for a slot.
func (p *Processors) Waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.young) + len(p.old)
}

// take waits for a slot until ctx ends, which is the error then.
func (p *Processors) take(ctx context.Context, client string, old bool) error {
	if p.try(client) {
		return nil
	}
	w := &waiter{client, make(chan struct{})}
	line := &p.young
	if old {
		line = &p.old
	}
	p.mu.Lock()
	if p.has(client) { // it came back meanwhile
		p.grant(client)
		p.mu.Unlock()
		return nil
	}
	*line = append(*line, w)
	p.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(*line, w); i >= 0 {
		*line = slices.Delete(*line, i, i+1)
	} else { // it came at the same time
		p.end(client)
	}
	return ctx.Err()
}

// try takes a slot if there is one.
func (p *Processors) try(client string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.has(client) {
		return false
	}
	p.grant(client)
	return true
}

// give ends what take or try began.
func (p *Processors) give(client string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(client)
}

// wanted reports whether a waiter is to have the slot of a client's search.
func (p *Processors) wanted(client string, old bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if old {
		return len(p.young)+len(p.old) > 0
	}
	return slices.ContainsFunc(p.young, func(w *waiter) bool { return p.held[w.client] < p.held[client] })
}

// The lock is held in all that follows.

// has reports whether there is a slot for a client. A client that has none may have
// a spare one: the operating system shares processors out within milliseconds,
// where a slot comes back only when a document is verified, which may be large.
func (p *Processors) has(client string) bool {
	return p.free > 0 || p.held[client] == 0 && p.free > -p.spare
}

func (p *Processors) grant(client string) {
	p.free--
	p.held[client]++
}

// end takes the slot back and gives it to the next waiter.
func (p *Processors) end(client string) {
	p.free++
	if p.held[client]--; p.held[client] <= 0 {
		delete(p.held, client)
	}
	line, passed := &p.young, p.passed
	switch {
	case len(p.young) == 0 && len(p.old) == 0:
		return
	case len(p.young) == 0 || len(p.old) > 0 && p.passed >= oneOldIn-1:
		line, passed = &p.old, 0
	case len(p.old) > 0:
		passed++
	}
	best := 0
	for i, w := range *line {
		if p.held[w.client] < p.held[(*line)[best].client] {
			best = i
		}
	}
	w := (*line)[best]
	if !p.has(w.client) {
		return // what came back was a spare one
	}
	p.passed = passed
	*line = slices.Delete(*line, best, best+1)
	p.grant(w.client)
	close(w.ready)
}
