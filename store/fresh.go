package store

import "time"

// leastGrace is how long a node that has lost its log counts as current at least. It
// asks the log several times in a second.
const leastGrace = time.Second

// Freshness decides whether what a node has may still be shown and believed: who its
// users are, which credentials are good, and who may see what.
type Freshness struct {
	// Confirmed is that of a Node.
	Confirmed func() (at time.Time, ok bool)
	// Grace is how long a node is current after it has known the last version, a second
	// at least.
	Grace time.Duration
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Current reports whether the node is current: it shares no log, or has known the last
// version within the grace. The time is taken by the clock on the wall and by the
// monotonic one, which stops while a machine is suspended; the longer one counts.
func (f Freshness) Current() bool {
	at, shared := f.Confirmed()
	if !shared {
		return true
	}
	now, grace := time.Now, max(f.Grace, leastGrace)
	if f.Now != nil {
		now = f.Now
	}
	t := now()
	age := t.Sub(at)
	return age >= 0 && age <= grace && t.Round(0).Sub(at.Round(0)) <= grace
}
