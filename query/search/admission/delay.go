package admission

import (
	"slices"
	"sync"
	"time"
)

// Delay calls functions a fixed time after they were added, unless they are
// removed before. All wait on one timer: to set one wakes the thread that waits
// for the network, which costs a tenth of a small search, and nearly all functions
// are removed before it passes. It is safe for concurrent use.
type Delay struct {
	after time.Duration

	mu sync.Mutex // guards all below
	// waiting are in the order in which they are due.
	waiting []*Delayed
	// isSet says that the timer is set, for the first or for an earlier one.
	isSet bool
	timer *time.Timer
}

// Delayed is a function that waits.
type Delayed struct {
	delay *Delay
	call  func()
	due   time.Time
}

// NewDelay returns a delay of a length.
func NewDelay(after time.Duration) *Delay { return &Delay{after: after} }

// Add has call called later, in a goroutine that calls other functions too, so it
// returns soon.
func (d *Delay) Add(call func()) *Delayed {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := &Delayed{d, call, time.Now().Add(d.after)}
	d.waiting = append(d.waiting, w)
	d.set(d.after)
	return w
}

// Remove has the function not called, unless it is about to be.
func (d *Delayed) Remove() {
	d.delay.mu.Lock()
	defer d.delay.mu.Unlock()
	if i := slices.Index(d.delay.waiting, d); i >= 0 {
		d.delay.waiting = slices.Delete(d.delay.waiting, i, i+1)
	}
}

// set sets the timer unless it is set. The lock is held.
func (d *Delay) set(after time.Duration) {
	switch {
	case d.isSet:
		return
	case d.timer == nil:
		d.timer = time.AfterFunc(after, d.callDue)
	default:
		d.timer.Reset(after)
	}
	d.isSet = true
}

// callDue calls the functions that are due.
func (d *Delay) callDue() {
	for _, w := range d.takeDue() {
		w.call()
	}
}

// takeDue returns what is due, which waits no more, and sets the timer for what is
// next.
func (d *Delay) takeDue() []*Delayed {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.isSet = false
	now, n := time.Now(), 0
	for n < len(d.waiting) && !d.waiting[n].due.After(now) {
		n++
	}
	due := slices.Clone(d.waiting[:n])
	d.waiting = slices.Delete(d.waiting, 0, n)
	if len(d.waiting) > 0 {
		d.set(d.waiting[0].due.Sub(now))
	}
	return due
}
