package auth

import (
	"sync"
	"time"
)

// mostRateKeys bounds the memory of a Limiter. Beyond it the keys that were
// idle longest are forgotten, so that they begin with a full allowance.
const mostRateKeys = 50_000

// Limiter lets each key have so many requests a minute, spread evenly, and at
// once as many as a tenth of that. It keeps one time per key: when its
// allowance will be full again. It is safe for concurrent use.
type Limiter struct {
	every time.Duration // between two requests
	burst time.Duration // how far ahead of itself a key may be

	mu   sync.Mutex // guards all below
	keys map[string]time.Time
}

// NewLimiter returns nil, which lets everything pass, for no requests a
// minute.
func NewLimiter(perMinute int) *Limiter {
	if perMinute <= 0 {
		return nil
	}
	every := time.Minute / time.Duration(perMinute)
	return &Limiter{every: every, burst: every * time.Duration(max(perMinute/10, 1)), keys: map[string]time.Time{}}
}

// Wait counts a request of key and returns 0, or does not and returns after
// what time to try again.
func (l *Limiter) Wait(key string, now time.Time) time.Duration { return l.WaitFor(key, 1, now) }

// WaitFor is Wait for what counts as n requests. More than may come at once are
// never let through.
func (l *Limiter) WaitFor(key string, n int, now time.Time) time.Duration {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	whole := l.keys[key]
	if whole.Before(now) {
		whole = now
	}
	next := whole.Add(time.Duration(n) * l.every)
	if ahead := next.Sub(now); ahead > l.burst {
		return ahead - l.burst
	}
	if _, known := l.keys[key]; !known && len(l.keys) >= mostRateKeys {
		l.makeRoom(now)
	}
	l.keys[key] = next
	return 0
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
