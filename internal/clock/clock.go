package clock

import (
	"sync"
	"time"
)

// Clock is a time that is moved by hand. It is safe for concurrent use.
type Clock struct {
	mu sync.Mutex
	at time.Time // guarded by mu
}

// New returns a clock that stands at a time.
func New(at time.Time) *Clock { return &Clock{at: at} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Add moves the clock by d.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}
