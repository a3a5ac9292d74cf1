package auth

import (
	"sync"
	"sync/atomic"
	"time"
)

// mostRateKeys bounds the memory of a Limiter. Beyond it the keys that were
// idle longest are forgotten, so that they begin with a full allowance.
const mostRateKeys = 50_000

// Limiter lets each key have so many requests a minute, spread evenly, and at
// once as many as a tenth of that. It keeps one time per key: when its
// allowance will be full again. Several nodes that serve the same clients divide
// the allowance. It is safe for concurrent use.
type Limiter struct {
	perMinute atomic.Int64
	nodes     func() int // nil is one

	mu   sync.Mutex // guards all below
	keys map[string]time.Time
}

// NewLimiter returns a limiter of so many requests a minute; 0 lets everything pass,
// as nil does. nodes, if set, returns how many nodes are alive: each lets a part of the
// requests pass, and one a minute at least.
func NewLimiter(perMinute int, nodes func() int) *Limiter {
	l := &Limiter{nodes: nodes, keys: map[string]time.Time{}}
	l.SetRate(perMinute)
	return l
}

// SetRate changes how many requests a minute pass; 0 lets everything pass. What was
// counted before counts on.
func (l *Limiter) SetRate(perMinute int) { l.perMinute.Store(int64(max(perMinute, 0))) }

// Wait counts a request of key and returns 0, or does not and returns after
// what time to try again.
func (l *Limiter) Wait(key string, now time.Time) time.Duration { return l.WaitFor(key, 1, now) }

// WaitFor is Wait for what counts as n requests. More than may come at once are
// never let through; several nodes let through what one does, and later.
func (l *Limiter) WaitFor(key string, n int, now time.Time) time.Duration {
	if l == nil {
		return 0
	}
	perMinute := int(l.perMinute.Load())
	if perMinute == 0 {
		return 0
	}
	every, most := l.allowance(perMinute, n)
	l.mu.Lock()
	defer l.mu.Unlock()
	whole := l.keys[key]
	if whole.Before(now) {
		whole = now
	}
	next, burst := whole.Add(time.Duration(n)*every), time.Duration(most)*every
	if ahead := next.Sub(now); ahead > burst {
		return ahead - burst
	}
	if _, known := l.keys[key]; !known && len(l.keys) >= mostRateKeys {
		l.makeRoom(now)
	}
	l.keys[key] = next
	return 0
}

// allowance returns how far apart requests are, and how many may come at once, when
// one counts as n.
func (l *Limiter) allowance(perMinute, n int) (every time.Duration, most int) {
	nodes := 1
	if l.nodes != nil {
		nodes = max(l.nodes(), 1)
	}
	part := max(perMinute/nodes, 1)
	most = max(part/10, 1)
	if n <= max(perMinute/10, 1) {
		most = max(most, n)
	}
	return time.Minute / time.Duration(part), most
}

// makeRoom forgets the keys whose allowance is whole, and if there are none the
// one that is nearest to it.
func (l *Limiter) makeRoom(now time.Time) {
	nearest := ""
	for k, whole := range l.keys {
		if !whole.After(now) {
			delete(l.keys, k)
		} else if nearest == "" || whole.Before(l.keys[nearest]) {
			nearest = k
		}
	}
	if len(l.keys) >= mostRateKeys {
		delete(l.keys, nearest)
	}
}
