package identity

import (
	"sync"

	"github.com/trawlsearch/trawl/store"
)

// credentialRecords are the kinds of records that change when a credential ends or
// loses rights. The record of a session changes when it begins or is used: it ends
// with the epoch of its user.
var credentialRecords = []store.RecordKind{
	store.RecordUser, store.RecordOrg, store.RecordMember, store.RecordMembership, store.RecordToken, store.RecordApp, store.RecordGrant,
}

// watch has the changes of the store that wait for a change of the registry to end,
// since what follows from them may call the registry. It is held by one change at a
// time, under transactions.mu.
type watch struct {
	mu      sync.Mutex // guards all below
	held    bool
	pending []store.Applied
}

func (w *watch) hold() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = true
}

func (w *watch) release() []store.Applied {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = false
	pending := w.pending
	w.pending = nil
	return pending
}

// take reports whether a waits for a change to end.
func (w *watch) take(a store.Applied) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held {
		w.pending = append(w.pending, a)
	}
	return w.held
}

// applied hears of a change of the store.
func (r *transactions) applied(a store.Applied) {
	if a.Has(store.RecordCounter) {
		_ = r.noteUsed() // a damaged counter was reported when the registry was opened, or is not one
	}
	if !r.watch.take(a) {
		r.notify(a)
	}
}

// notify does what follows from a change of the store.
func (r *transactions) notify(a store.Applied) {
	if a.Has(credentialRecords...) {
		r.options().Ended()
	}
	for _, c := range a.Repositories {
		if c.Before != nil && c.After != nil && (!c.Before.Readers.Equal(c.After.Readers) || c.After.IsGone() != c.Before.IsGone()) {
			r.options().Hidden(c.Before, c.After)
		}
	}
}

// used reports whether there has ever been a user. A counter that cannot be read
// means that there has.
func (c *change) used() bool {
	if c.of.Used() {
		return true
	}
	next, err := c.counter(counterUser)
	return err != nil || next > 1
}

// noteUsed notes whether there has ever been a user.
func (r *transactions) noteUsed() error {
	if r.used.Load() {
		return nil
	}
	next, err := r.counter(counterUser)
	if err == nil && next > 1 {
		r.used.Store(true)
	}
	return err
}
