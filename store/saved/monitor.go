package saved

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/table"
)

// Monitor runs a saved search again in repositories that have changed, and tells of
// matches that were not there before.
type Monitor struct {
	// Search is the ID of the saved search.
	Search uint32 `json:"search"`
	// Query is the one that was run. When the saved search has another, it begins anew.
	Query string `json:"query"`
	// Creator is the ID of the user for whom it searches: who said last where it tells.
	Creator uint32    `json:"creator"`
	Created time.Time `json:"created"`
	// Targets are where it tells, at most one of each kind.
	Targets []Target `json:"targets,omitempty"`
	// Since is when it began, with this query and user: what was in a repository of before
	// when it was first looked at is told to nobody. Begun says that all have been looked at.
	Since time.Time `json:"since"`
	Begun bool      `json:"begun,omitempty"`
	// Failure is why it does not search at all, "" if it does. Left are repositories that
	// could not be searched whole, the first of them, and LeftMore counts the others.
	Failure  string    `json:"failure,omitempty"`
	Left     []LeftOut `json:"left,omitempty"`
	LeftMore int       `json:"leftMore,omitempty"`
	// Known counts the matches that it remembers.
	Known int `json:"known,omitempty"`
	// Firings is the number of the last firing. Untold counts those that were dropped before
	// they could be told everywhere.
	Firings uint32 `json:"firings,omitempty"`
	Untold  int    `json:"untold,omitempty"`
}

// LeftOut is a repository that could not be searched whole, and why.
type LeftOut struct {
	Repository uint32 `json:"repository"`
	Why        string `json:"why"`
}

// same reports whether m is still what it was when it was read, but for what it found.
func (m *Monitor) same(as *Monitor) bool {
	return m.Query == as.Query && m.Creator == as.Creator && m.Since.Equal(as.Since)
}

// Target is where a monitor tells of new matches.
type Target struct {
	// Kind is the word of httpapi/notify.
	Kind string `json:"kind"`
	// Address is whole where it is no secret; what else there is to it is Sealed.
	Address string `json:"address,omitempty"`
	Sealed  []byte `json:"sealed,omitempty"`
}

// Target returns that of a kind, nil if there is none.
func (m *Monitor) Target(kind string) *Target {
	if i := slices.IndexFunc(m.Targets, func(t Target) bool { return t.Kind == kind }); i >= 0 {
		return &m.Targets[i]
	}
	return nil
}

// Monitors are the monitors of a book, and what they know.
type Monitors struct{ *base }

// All returns all monitors by their searches, but for damaged ones.
func (b Monitors) All() ([]*Monitor, error) {
	return monitors.All(b.st, store.RecordRange{}, b.o.Damaged)
}

// Get returns that of a saved search, or an error that is store.ErrNotFound.
func (b Monitors) Get(search uint32) (*Monitor, error) { return monitors.Get(b.st, search) }

// Set has a saved search watched for a user, or says where its monitor tells from
// now on. What it knows stays.
func (b Monitors) Set(search, creator uint32, targets []Target) (m *Monitor, err error) {
	err = b.update(func(b *Book, c *store.Records) error {
		s, err := b.Searches.Get(search)
		if err != nil {
			return err
		}
		m, err = b.Monitors.Get(search)
		if errors.Is(err, store.ErrNotFound) {
			now := b.now()
			m, err = &Monitor{Search: search, Query: s.Query, Created: now, Since: now, Creator: creator}, nil
		}
		if err != nil {
			return err
		}
		if m.Creator != creator {
			// who sees other repositories would be told that all in them is new
			if err := b.Monitors.begin(c, m, m.Query); err != nil {
				return err
			}
		}
		m.Creator, m.Targets = creator, targets
		return monitors.Put(c, search, m)
	})
	return m, err
}

// begin has a monitor begin with a query, of which it knows nothing yet.
func (b Monitors) begin(c *store.Records, m *Monitor, query string) error {
	m.Query, m.Since, m.Begun = query, b.now(), false
	m.Failure, m.Left, m.LeftMore, m.Known = "", nil, 0, 0
	return b.delete(c, store.RecordRange{Prefix: table.ID(m.Search)}, store.RecordKnown, store.RecordLooked)
}

// Change has f alter a monitor. The error is ErrConflict if it has begun anew
// since it was read as old.
func (b Monitors) Change(old *Monitor, f func(*Monitor)) error {
	return b.update(func(b *Book, c *store.Records) error {
		m, err := b.Monitors.current(old)
		if err != nil {
			return err
		}
		f(m)
		return monitors.Put(c, m.Search, m)
	})
}

func (b Monitors) current(old *Monitor) (*Monitor, error) {
	m, err := b.Get(old.Search)
	if err == nil && !m.same(old) {
		err = fmt.Errorf("monitor of saved search %d: %w", old.Search, ErrConflict)
	}
	return m, err
}

// Restart gives a monitor another query, with which it begins anew.
func (b Monitors) Restart(search uint32, query string) (*Monitor, error) {
	return change(b.base, monitors, search, func(b *Book, c *store.Records, m *Monitor) error {
		return b.Monitors.begin(c, m, query)
	})
}

// Remove forgets a monitor and all that it knows and has told.
func (b Monitors) Remove(search uint32) error {
	return b.update(func(b *Book, c *store.Records) error { return b.Monitors.remove(c, search) })
}

func (b Monitors) remove(c *store.Records, search uint32) error {
	monitors.Delete(c, search)
	return b.delete(c, store.RecordRange{Prefix: table.ID(search)}, store.RecordKnown, store.RecordLooked, store.RecordFiring, store.RecordWaiting)
}

// NewTarget returns a target whose address is a secret, of which shown may be seen.
func (b Monitors) NewTarget(kind, address, shown string) (Target, error) {
	kept, sealed, err := b.o.Key.seal(sealedTarget, address, shown)
	return Target{Kind: kind, Address: kept, Sealed: sealed}, err
}

// Address returns the address of a target with its secrets.
func (b Monitors) Address(t Target) (string, error) {
	return b.o.Key.unseal(sealedTarget, t.Address, t.Sealed)
}
