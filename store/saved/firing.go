package saved

import (
	"errors"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/table"
)

// Firing is what was new in a repository at one time.
type Firing struct {
	Search uint32 `json:"search"`
	// Number counts the firings of the search from 1.
	Number uint32 `json:"number"`
	// Query is what was searched. Repository is the ID of where, Name its name then.
	Query      string    `json:"query"`
	Repository uint32    `json:"repository"`
	Name       string    `json:"name"`
	At         time.Time `json:"at"`
	// Count is how many matches are new; Matches are the first of them.
	Count   int     `json:"count"`
	Matches []Found `json:"matches"`
	// Deliveries say what became of telling of it, one for each target of the monitor.
	Deliveries []Delivery `json:"deliveries,omitempty"`
}

// Delivery is how far telling of a firing is, in one way.
type Delivery struct {
	Kind string `json:"kind"`
	// State is the empty word for one that is still to come.
	State DeliveryState `json:"state,omitempty"`
	// Tries counts the failures, of which Failure is the last; Next is when it is tried again.
	Tries   int       `json:"tries,omitempty"`
	Failure string    `json:"failure,omitempty"`
	Next    time.Time `json:"next,omitzero"`
	// With is the number of the first firing in the message that tells of it, once one
	// was tried; 0 before, and for what old programs tried.
	With uint32 `json:"with,omitempty"`
	// Ended is when it came to its state.
	Ended time.Time `json:"ended,omitzero"`
}

// DeliveryState is how a delivery has ended.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryWaits DeliveryState = ""
	DeliveryDone  DeliveryState = "delivered"
	DeliveryEnded DeliveryState = "given up"
)

// Delivery returns the delivery of a kind, nil if there is none.
func (f *Firing) Delivery(kind string) *Delivery {
	for i := range f.Deliveries {
		if f.Deliveries[i].Kind == kind {
			return &f.Deliveries[i]
		}
	}
	return nil
}

// waits reports whether there is something of the firing left to tell.
func (f *Firing) waits() bool {
	return slices.ContainsFunc(f.Deliveries, func(d Delivery) bool { return d.State == DeliveryWaits })
}

// due is when the next of its deliveries is to be tried.
func (f *Firing) due() (at time.Time) {
	for _, d := range f.Deliveries {
		if d.State == DeliveryWaits && (at.IsZero() || d.Next.Before(at)) {
			at = d.Next
		}
	}
	return at
}

const (
	// shownMatches are those of a firing that are kept.
	shownMatches = 20
	// MaxFirings is how many firings of a monitor are kept.
	MaxFirings = 300
)

// firingKey is a firing: search(4) number(4), big-endian, on disk.
type firingKey struct{ Search, Number uint32 }

func newFiring(m *Monitor, at Looked, fresh []Found, now time.Time) *Firing {
	f := &Firing{Search: m.Search, Number: m.Firings + 1, Query: m.Query, Repository: at.Repository, Name: at.Name, At: now, Count: len(fresh)}
	f.Matches = fresh[:min(len(fresh), shownMatches)]
	for _, t := range m.Targets {
		f.Deliveries = append(f.Deliveries, Delivery{Kind: t.Kind, Next: now.Truncate(time.Millisecond)})
	}
	return f
}

// Firings are what the monitors of a book have told or have to tell.
type Firings struct{ *base }

// drop drops the firing of a monitor that is one too many.
func (b Firings) drop(c *store.Records, m *Monitor) error {
	if m.Firings <= MaxFirings {
		return nil
	}
	key := firingKey{m.Search, m.Firings - MaxFirings}
	old, err := firings.Get(b.st, key)
	switch {
	case err == nil && old.waits():
		m.Untold++
	case err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrCorrupt):
		return err
	}
	firings.Delete(c, key)
	waiting.Delete(c, key)
	return nil
}

// schedule has a change store when a firing is to be told.
func (f *Firing) schedule(c *store.Records) error {
	key := firingKey{f.Search, f.Number}
	if !f.waits() {
		waiting.Delete(c, key)
		return nil
	}
	due := f.due().UnixMilli()
	return waiting.Put(c, key, &due)
}

// All returns what a monitor has told or has to tell, the last first, but for damaged
// ones.
func (b Firings) All(search uint32) ([]*Firing, error) {
	all, err := firings.All(b.st, store.RecordRange{Prefix: table.ID(search)}, b.o.Damaged)
	slices.Reverse(all)
	return all, err
}

// Waiting calls f with the firings that are to be told, and when.
func (b Firings) Waiting(f func(search, number uint32, due time.Time)) error {
	return waiting.Each(b.st, store.RecordRange{}, b.o.Damaged, func(k firingKey, due *int64) (bool, error) {
		f(k.Search, k.Number, time.UnixMilli(*due).UTC())
		return true, nil
	})
}

// Get returns a firing, or an error that is store.ErrNotFound.
func (b Firings) Get(search, number uint32) (*Firing, error) {
	return firings.Get(b.st, firingKey{search, number})
}

// Change has f alter firings, but for those that are not there any more.
func (b Firings) Change(search uint32, numbers []uint32, f func(*Firing)) error {
	return b.update(func(b *Book, c *store.Records) error {
		for _, number := range numbers {
			key := firingKey{search, number}
			v, err := firings.Get(b.st, key)
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err == nil {
				f(v)
				err = errors.Join(v.schedule(c), firings.Put(c, key, v))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// EndWaiting gives up a firing that cannot be read.
func (b Firings) EndWaiting(search, number uint32) error {
	return b.update(func(_ *Book, c *store.Records) error {
		waiting.Delete(c, firingKey{search, number})
		return nil
	})
}
