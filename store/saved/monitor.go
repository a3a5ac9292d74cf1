package saved

import (
	"encoding/binary"
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

// NewTarget returns a target whose address is a secret, of which shown may be seen.
func (b *Book) NewTarget(kind, address, shown string) (t Target, err error) {
	if b.Key == nil || address == shown {
		return Target{Kind: kind, Address: address}, nil
	}
	t = Target{Kind: kind, Address: shown}
	t.Sealed, err = b.Key.seal(sealedTarget, address)
	return t, err
}

// Address returns the address of a target with its secrets.
func (b *Book) Address(t Target) (string, error) {
	if len(t.Sealed) == 0 {
		return t.Address, nil
	}
	if b.Key == nil {
		return "", ErrSealed
	}
	return b.Key.unseal(sealedTarget, t.Sealed)
}

// Found is a match as a firing keeps it.
type Found struct {
	// Hash tells matches of a repository apart; it stays the same where lines move.
	Hash uint64 `json:"-"`
	Path string `json:"path,omitempty"`
	// Line is counted from 1, 0 for what is no line.
	Line int `json:"line,omitempty"`
	// Commit is the full hex id of the commit that was searched, or that is the match.
	Commit string `json:"commit,omitempty"`
	Text   string `json:"text,omitempty"`
}

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
	// MaxMatches is how many matches of a repository a monitor tells apart.
	MaxMatches = 10_000
	// maxKnown is how many it remembers, of which some are not there any more.
	maxKnown = 2 * MaxMatches
	// maxKnownOfAll is how many matches one monitor remembers in all repositories.
	maxKnownOfAll = 250_000
	// shownMatches are those of a firing that are kept.
	shownMatches = 20
	// MaxFirings is how many firings of a monitor are kept.
	MaxFirings = 300
)

// ErrTooManyKnown says that a monitor would have to remember too many matches.
var ErrTooManyKnown = fmt.Errorf("the monitor would have to know of more than %d matches", maxKnownOfAll)

// firingKey is a firing: search(4) number(4), big-endian, on disk. knownKey is what a
// monitor knows of a repository: search(4) repository(4).
type (
	firingKey struct{ Search, Number uint32 }
	knownKey  struct{ Search, Repository uint32 }
)

// Looked is where a monitor looks: a repository, and a number that differs when there is
// something else in it.
type Looked struct {
	Repository uint32
	Name       string
	Created    time.Time
	State      uint64
}

// checkKnown is for the hashes of matches, each in eight bytes, sorted.
func checkKnown(_ knownKey, value *[]byte) error {
	if len(*value)%8 != 0 || len(*value) > 8*maxKnown {
		return fmt.Errorf("%d bytes", len(*value))
	}
	return nil
}

// Monitors returns all monitors by their searches, but for damaged ones.
func (b *Book) Monitors() ([]*Monitor, error) {
	return monitors.All(b.st, store.RecordRange{}, b.leaveOut)
}

// Monitor returns that of a saved search, or an error that is store.ErrNotFound.
func (b *Book) Monitor(search uint32) (*Monitor, error) { return monitors.Get(b.st, search) }

// SetMonitor has a saved search watched for a user, or says where its monitor tells from
// now on. What it knows stays.
func (b *Book) SetMonitor(search, creator uint32, targets []Target) (m *Monitor, err error) {
	err = b.update(func(b *Book, c *store.Records) error {
		s, err := b.Search(search)
		if err != nil {
			return err
		}
		m, err = b.Monitor(search)
		if errors.Is(err, store.ErrNotFound) {
			now := b.now().UTC()
			m, err = &Monitor{Search: search, Query: s.Query, Created: now, Since: now, Creator: creator}, nil
		}
		if err != nil {
			return err
		}
		if m.Creator != creator {
			// who sees other repositories would be told that all in them is new
			if err := b.begin(c, m, m.Query); err != nil {
				return err
			}
		}
		m.Creator, m.Targets = creator, targets
		return monitors.Put(c, search, m)
	})
	return m, err
}

// begin has a monitor begin with a query, of which it knows nothing yet.
func (b *Book) begin(c *store.Records, m *Monitor, query string) error {
	m.Query, m.Since, m.Begun = query, b.now().UTC(), false
	m.Failure, m.Left, m.LeftMore, m.Known = "", nil, 0, 0
	return errors.Join(b.deleteOf(c, store.RecordKnown, m.Search), b.deleteOf(c, store.RecordLooked, m.Search))
}

// ChangeMonitor has change alter a monitor. The error is ErrConflict if it has begun anew
// since it was read as old.
func (b *Book) ChangeMonitor(old *Monitor, change func(*Monitor)) error {
	return b.update(func(b *Book, c *store.Records) error {
		m, err := b.monitorAs(old)
		if err != nil {
			return err
		}
		change(m)
		return monitors.Put(c, m.Search, m)
	})
}

func (b *Book) monitorAs(old *Monitor) (*Monitor, error) {
	m, err := b.Monitor(old.Search)
	if err == nil && !m.same(old) {
		err = fmt.Errorf("monitor of saved search %d: %w", old.Search, ErrConflict)
	}
	return m, err
}

// RestartMonitor gives a monitor another query, with which it begins anew.
func (b *Book) RestartMonitor(search uint32, query string) (m *Monitor, err error) {
	err = b.update(func(b *Book, c *store.Records) error {
		if m, err = b.Monitor(search); err != nil {
			return err
		}
		return errors.Join(b.begin(c, m, query), monitors.Put(c, search, m))
	})
	return m, err
}

// RemoveMonitor forgets a monitor and all that it knows and has told.
func (b *Book) RemoveMonitor(search uint32) error {
	return b.update(func(b *Book, c *store.Records) error { return b.removeMonitor(c, search) })
}

func (b *Book) removeMonitor(c *store.Records, search uint32) error {
	monitors.Delete(c, search)
	return errors.Join(b.deleteOf(c, store.RecordKnown, search), b.deleteOf(c, store.RecordLooked, search), b.deleteOf(c, store.RecordFiring, search), b.deleteOf(c, store.RecordWaiting, search))
}

// deleteOf deletes the records of a kind whose ids begin with that of a search.
func (b *Book) deleteOf(c *store.Records, kind store.RecordKind, search uint32) error {
	return b.st.EachRecord(store.RecordRange{Kind: kind, Prefix: table.ID(search)}, func(id, _ []byte) (bool, error) {
		c.Delete(kind, id)
		return true, nil
	})
}

// Know takes over what a monitor finds in a repository now, no two with the same hash; whole
// says that nothing of it was left out. What it did not know is a firing, which is
// returned; nil is that there is none. When a repository is first looked at, that is only
// so if it came after the monitor began, and what is not whole is not taken for all that
// was there. All is in one commit: a match fires once, whatever happens in between.
//
// The error is ErrConflict if the monitor has begun anew since it was read as old, and
// ErrTooManyKnown if that is more than it can remember.
func (b *Book) Know(old *Monitor, at Looked, found []Found, whole bool) (fired *Firing, err error) {
	err = b.update(func(b *Book, c *store.Records) error {
		fired = nil
		m, err := b.monitorAs(old)
		if err != nil {
			return err
		}
		key := knownKey{m.Search, at.Repository}
		known, first, err := b.known(key)
		if err != nil || first && !whole {
			return err
		}
		var fresh []Found
		for _, f := range found {
			if _, is := slices.BinarySearch(known, f.Hash); !is {
				fresh = append(fresh, f)
			}
		}
		if whole {
			if err := looked.Put(c, key, &at.State); err != nil {
				return err
			}
		}
		if len(fresh) == 0 && !first {
			return nil
		}
		all, added := known, fresh
		if len(known)+len(fresh) > maxKnown {
			all, added = nil, found // what is not there any more is forgotten
		}
		out := make([]byte, 0, 8*(len(all)+len(added)))
		for _, f := range added {
			all = append(all, f.Hash)
		}
		slices.Sort(all)
		for _, h := range all {
			out = binary.BigEndian.AppendUint64(out, h)
		}
		if m.Known += len(all) - len(known); m.Known > maxKnownOfAll {
			return ErrTooManyKnown
		}
		err = knowns.Put(c, key, &out)
		if len(fresh) > 0 && (!first || at.Created.After(m.Since)) {
			fired = newFiring(m, at, fresh, b.now().UTC())
			m.Firings = fired.Number
			err = errors.Join(err, b.dropFiring(c, m), b.putFiring(c, fired))
		}
		return errors.Join(err, monitors.Put(c, m.Search, m))
	})
	return fired, err
}

// known returns the hashes that a monitor knows of a repository. first is that it knows
// nothing yet.
func (b *Book) known(key knownKey) (all []uint64, first bool, err error) {
	value, err := knowns.Lookup(b.st, key)
	if errors.Is(err, store.ErrNotFound) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	for h := range slices.Chunk(*value, 8) {
		all = append(all, binary.BigEndian.Uint64(h))
	}
	return all, false, nil
}

func newFiring(m *Monitor, at Looked, fresh []Found, now time.Time) *Firing {
	f := &Firing{Search: m.Search, Number: m.Firings + 1, Query: m.Query, Repository: at.Repository, Name: at.Name, At: now, Count: len(fresh)}
	f.Matches = fresh[:min(len(fresh), shownMatches)]
	for _, t := range m.Targets {
		f.Deliveries = append(f.Deliveries, Delivery{Kind: t.Kind, Next: now.Truncate(time.Millisecond)})
	}
	return f
}

// Looked returns the repositories that a monitor has looked at whole, with their states
// then.
func (b *Book) Looked(search uint32) (map[uint32]uint64, error) {
	out := map[uint32]uint64{}
	err := looked.Each(b.st, store.RecordRange{Prefix: table.ID(search)}, b.leaveOut, func(k knownKey, state *uint64) (bool, error) {
		out[k.Repository] = *state
		return true, nil
	})
	return out, err
}

// Forget drops what a monitor knows of a repository, which is gone or damaged.
func (b *Book) Forget(search, repository uint32) error {
	return b.update(func(b *Book, c *store.Records) error {
		key := knownKey{search, repository}
		if known, _, err := b.known(key); err == nil && len(known) > 0 {
			m, err := b.Monitor(search)
			if err != nil {
				return err
			}
			m.Known -= len(known)
			if err := monitors.Put(c, search, m); err != nil {
				return err
			}
		}
		knowns.Delete(c, key)
		looked.Delete(c, key)
		return nil
	})
}

// dropFiring drops the firing of a monitor that is one too many.
func (b *Book) dropFiring(c *store.Records, m *Monitor) error {
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

// putFiring has a change store a firing, and when it is to be told.
func (b *Book) putFiring(c *store.Records, f *Firing) error {
	key := firingKey{f.Search, f.Number}
	if f.waits() {
		due := f.due().UnixMilli()
		if err := waiting.Put(c, key, &due); err != nil {
			return err
		}
	} else {
		waiting.Delete(c, key)
	}
	return firings.Put(c, key, f)
}

// Firings returns what a monitor has told or has to tell, the last first, but for damaged
// ones.
func (b *Book) Firings(search uint32) ([]*Firing, error) {
	all, err := firings.All(b.st, store.RecordRange{Prefix: table.ID(search)}, b.leaveOut)
	slices.Reverse(all)
	return all, err
}

// Waiting calls f with the firings that are to be told, and when.
func (b *Book) Waiting(f func(search, number uint32, due time.Time)) error {
	return waiting.Each(b.st, store.RecordRange{}, b.leaveOut, func(k firingKey, due *int64) (bool, error) {
		f(k.Search, k.Number, time.UnixMilli(*due).UTC())
		return true, nil
	})
}

// Firing returns a firing, or an error that is store.ErrNotFound.
func (b *Book) Firing(search, number uint32) (*Firing, error) {
	return firings.Get(b.st, firingKey{search, number})
}

// ChangeFiring has change alter a firing.
func (b *Book) ChangeFiring(search, number uint32, change func(*Firing)) error {
	return b.update(func(b *Book, c *store.Records) error {
		f, err := b.Firing(search, number)
		if err != nil {
			return err
		}
		change(f)
		return b.putFiring(c, f)
	})
}

// EndWaiting gives up a firing that cannot be read.
func (b *Book) EndWaiting(search, number uint32) error {
	return b.update(func(_ *Book, c *store.Records) error {
		waiting.Delete(c, firingKey{search, number})
		return nil
	})
}
