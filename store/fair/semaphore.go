package fair

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrBusy is returned when a client already has as many requests waiting as it
// may have.
var ErrBusy = errors.New("too many requests of this client are waiting")

// Semaphore is a weighted semaphore that many clients share. Three rules keep
// one client from taking what the others need:
//
//   - Of the waiting requests, the one whose client holds least is served next,
//     in order of arrival where clients hold the same.
//   - A part of the capacity is for clients that hold nothing, or little where a
//     grant grows, so a client that holds as much as it can get delays no other.
//   - Each client may have a bounded number of requests waiting.
//
// The request that is next is never overtaken by a smaller one, so large
// requests do not starve. A Semaphore is safe for concurrent use.
type Semaphore struct {
	capacity, reserve int64
	maxWaiting        int

	mu      sync.Mutex // guards all below and the fields of grants
	free    int64
	held    map[string]int64
	queued  map[string]int
	waiters []*waiter
}

// waiter is a request for n that waits. ready is closed when it has its grant.
type waiter struct {
	grant *Grant
	n     int64
	ready chan struct{}
}

// Grant is the capacity given to a client. Release ends it.
type Grant struct {
	semaphore *Semaphore
	client    string
	n         int64 // 0 while it waits
	// released says that it is not to come back from a Yield.
	released bool
}

// NewSemaphore returns a semaphore over a capacity of at least 1. A quarter of
// it, and at least 1 of a capacity above 1, is for clients that hold nothing.
// Each client may have maxWaiting requests waiting; 0 means 256.
func NewSemaphore(capacity int64, maxWaiting int) *Semaphore {
	s := &Semaphore{capacity: max(capacity, 1), maxWaiting: maxWaiting, held: map[string]int64{}, queued: map[string]int{}}
	if s.maxWaiting == 0 {
		s.maxWaiting = 256
	}
	if s.free = s.capacity; s.capacity > 1 {
		s.reserve = max(s.capacity/4, 1)
	}
	return s
}

// Most returns how much one client can get.
func (s *Semaphore) Most() int64 { return s.capacity - s.reserve }

// Acquire waits for n until ctx ends. A request for more than a client can ever
// get is served as a request for that much. The error is that of ctx, or
// ErrBusy.
func (s *Semaphore) Acquire(ctx context.Context, client string, n int64) (*Grant, error) {
	g := &Grant{semaphore: s, client: client}
	if err := s.wait(ctx, g, min(n, s.Most())); err != nil {
		return nil, err
	}
	return g, nil
}

// wait waits until n is granted to g, which holds nothing before that.
func (s *Semaphore) wait(ctx context.Context, g *Grant, n int64) error {
	s.mu.Lock()
	w := &waiter{grant: g, n: n, ready: make(chan struct{})}
	if s.queued[g.client] >= s.maxWaiting {
		s.mu.Unlock()
		return ErrBusy
	}
	s.enqueue(w)
	s.serve()
	s.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.waiters, w); i >= 0 {
		s.dequeue(i)
		s.serve() // w may have been the next one, and too large
		return ctx.Err()
	}
	return nil // granted at the same time
}

// Release gives back all of the grant. A nil or released grant has nothing to
// give back.
func (g *Grant) Release() {
	if g == nil {
		return
	}
	g.semaphore.mu.Lock()
	defer g.semaphore.mu.Unlock()
	g.released = true
	g.shrink(0)
}

// Shrink gives back what the grant has beyond n.
func (g *Grant) Shrink(n int64) {
	g.semaphore.mu.Lock()
	defer g.semaphore.mu.Unlock()
	g.shrink(min(n, g.n))
}

// Grow adds n to the grant without waiting. It reports false, and adds nothing,
// if there is not so much, if a client that holds less waits for it, or if the
// grant holds nothing. Grow never waits, since a grant that waited to grow
// would block the waiters for what it holds. Grants may also grow into half of
// the reserve for clients that hold nothing, so that a client that holds little
// can do a little more.
func (g *Grant) Grow(n int64) bool {
	s := g.semaphore
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held[g.client]
	if next := s.next(); g.n == 0 || next >= 0 && s.held[s.waiters[next].grant.client] < held {
		return false
	}
	little := held+n <= s.reserve/2 && s.free >= n
	if s.free-n < s.reserve && !little {
		return false
	}
	g.n += n
	s.free -= n
	s.held[g.client] += n
	return true
}

// Yield gives the grant to a request that waits for it and whose client holds
// less, if there is one, and waits for it to come back. Long work calls it
// between two steps. After an error the grant holds nothing, and a grant that is
// released meanwhile does not come back.
func (g *Grant) Yield(ctx context.Context) error {
	s := g.semaphore
	s.mu.Lock()
	next := s.next()
	if next < 0 || g.n == 0 || s.held[s.waiters[next].grant.client] >= s.held[g.client] {
		s.mu.Unlock()
		return ctx.Err()
	}
	n := g.n
	g.shrink(0)
	s.mu.Unlock()
	if err := s.wait(ctx, g, n); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if g.released {
		g.shrink(0)
	}
	return nil
}

// Held returns how much is granted in all.
func (s *Semaphore) Held() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.capacity - s.free
}

// Waiting returns how many requests wait.
func (s *Semaphore) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiters)
}

// The lock is held in all that follows.

func (g *Grant) shrink(n int64) {
	s := g.semaphore
	less := g.n - n
	g.n = n
	s.free += less
	if s.held[g.client] -= less; s.held[g.client] == 0 {
		delete(s.held, g.client)
	}
	s.serve()
}

func (s *Semaphore) enqueue(w *waiter) {
	s.queued[w.grant.client]++
	s.waiters = append(s.waiters, w)
}

func (s *Semaphore) dequeue(i int) *waiter {
	w := s.waiters[i]
	s.waiters = slices.Delete(s.waiters, i, i+1)
	if s.queued[w.grant.client]--; s.queued[w.grant.client] == 0 {
		delete(s.queued, w.grant.client)
	}
	return w
}

// next returns the index of the request that is served next, -1 if none waits.
func (s *Semaphore) next() int {
	best := -1
	for i, w := range s.waiters {
		if best < 0 || s.held[w.grant.client] < s.held[s.waiters[best].grant.client] {
			best = i
		}
	}
	return best
}

// serve grants requests as long as there is capacity for the next one.
func (s *Semaphore) serve() {
	for i := s.next(); i >= 0 && s.fits(s.waiters[i]); i = s.next() {
		w := s.dequeue(i)
		w.grant.n = w.n
		s.free -= w.n
		s.held[w.grant.client] += w.n
		close(w.ready)
	}
}

// fits reports whether there is capacity for a request. The reserve is only for
// clients that hold nothing.
func (s *Semaphore) fits(w *waiter) bool {
	if s.held[w.grant.client] > 0 {
		return s.free-w.n >= s.reserve
	}
	return s.free >= w.n
}
