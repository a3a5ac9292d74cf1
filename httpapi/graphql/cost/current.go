package cost

import "sync/atomic"

// Current holds limits that change while requests are served. A nil one holds the
// defaults. It is safe for concurrent use.
type Current struct{ limits atomic.Pointer[Limits] }

// NewCurrent returns l, to be changed by Set.
func NewCurrent(l Limits) *Current {
	c := &Current{}
	c.Set(l)
	return c
}

// Set puts l in force, with the defaults filled in, and returns what was before.
func (c *Current) Set(l Limits) (before Limits) {
	l = l.WithDefaults()
	if p := c.limits.Swap(&l); p != nil {
		return *p
	}
	return Limits{}.WithDefaults()
}

// Load returns the limits now, with the defaults filled in.
func (c *Current) Load() Limits {
	if c != nil {
		if p := c.limits.Load(); p != nil {
			return *p
		}
	}
	return Limits{}.WithDefaults()
}
