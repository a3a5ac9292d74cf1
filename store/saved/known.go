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

const (
	// MaxMatches is how many matches of a repository a monitor tells apart.
	MaxMatches = 10_000
	// maxKnown is how many it remembers, of which some are not there any more.
	maxKnown = 2 * MaxMatches
	// maxKnownOfAll is how many matches one monitor remembers in all repositories.
	maxKnownOfAll = 250_000
)

// ErrTooManyKnown says that a monitor would have to remember too many matches.
var ErrTooManyKnown = fmt.Errorf("the monitor would have to know of more than %d matches", maxKnownOfAll)

// knownKey is what a monitor knows of a repository: search(4) repository(4), big-endian,
// on disk.
type knownKey struct{ Search, Repository uint32 }

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

// Know takes over what a monitor finds in a repository now, no two with the same hash; whole
// says that nothing of it was left out. What it did not know is a firing, which is
// returned; nil is that there is none. When a repository is first looked at, that is only
// so if it came after the monitor began, and what is not whole is not taken for all that
// was there. All is in one commit: a match fires once, whatever happens in between.
//
// The error is ErrConflict if the monitor has begun anew since it was read as old, and
// ErrTooManyKnown if that is more than it can remember.
func (b Monitors) Know(old *Monitor, at Looked, found []Found, whole bool) (fired *Firing, err error) {
	err = b.update(func(b *Book, c *store.Records) error {
		fired = nil
		m, err := b.Monitors.current(old)
		if err != nil {
			return err
		}
		key := knownKey{m.Search, at.Repository}
		known, first, err := b.Monitors.known(key)
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
			fired = newFiring(m, at, fresh, b.now())
			m.Firings = fired.Number
			err = errors.Join(err, b.Firings.drop(c, m), fired.schedule(c), firings.Put(c, firingKey{m.Search, fired.Number}, fired))
		}
		return errors.Join(err, monitors.Put(c, m.Search, m))
	})
	return fired, err
}

// known returns the hashes that a monitor knows of a repository. first is that it knows
// nothing yet.
func (b Monitors) known(key knownKey) (all []uint64, first bool, err error) {
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

// Looked returns the repositories that a monitor has looked at whole, with their states
// then.
func (b Monitors) Looked(search uint32) (map[uint32]uint64, error) {
	out := map[uint32]uint64{}
	err := looked.Each(b.st, store.RecordRange{Prefix: table.ID(search)}, b.o.Damaged, func(k knownKey, state *uint64) (bool, error) {
		out[k.Repository] = *state
		return true, nil
	})
	return out, err
}

// Forget drops what a monitor knows of a repository, which is gone or damaged.
func (b Monitors) Forget(search, repository uint32) error {
	return b.update(func(b *Book, c *store.Records) error {
		key := knownKey{search, repository}
		if known, _, err := b.Monitors.known(key); err == nil && len(known) > 0 {
			m, err := b.Monitors.Get(search)
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
