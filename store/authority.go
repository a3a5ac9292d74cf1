package store

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/tidwall/btree"
	"github.com/trawlsearch/trawl/store/engine"
)

// Version numbers the states of a store since it was opened: each commit makes the
// next one.
type Version uint64

// authority decides which change makes which version. There is one for each store.
type authority interface {
	// commit makes the version after the last one from ops, on disk and in the
	// catalogue, and notifies those who subscribed. It fails with ErrConflict, and
	// then changes nothing, if what was read, or what ops write, has changed since
	// base.
	commit(base base, reads []keyRange, ops []operation) error
}

// base is what a change was prepared from.
type base struct {
	version *version
	// runs says that the change adds runs, which were written before.
	runs bool
}

// localAuthority is the authority of a data directory that no other process
// changes. A commit and its application are one batch.
type localAuthority struct{ s *Store }

func (a localAuthority) commit(base base, reads []keyRange, ops []operation) error {
	s := a.s
	s.mu.Lock()
	defer s.unlock()
	if err := s.writable(); err != nil {
		return err
	}
	if base.version.engine != s.engine {
		// The last commit before that may be there or not, and so may its runs.
		if base.runs {
			return fmt.Errorf("%w: the store was opened again while the change was prepared", ErrBroken)
		}
		return fmt.Errorf("%w: %w: the store was opened again while the change was prepared", ErrConflict, ErrBroken)
	}
	if key, changed := s.journal.changed(base.version.number, reads, ops); changed {
		return fmt.Errorf("%w: record %q", ErrConflict, key)
	}
	if s.catalogue.aside.Len() > 0 {
		after := s.catalogue.clone()
		after.apply(ops)
		ops = append(ops, after.unwantedOperations()...)
	}
	return s.install(ops)
}

// install makes the next version from ops, on disk and in the catalogue. When the
// engine could not write, what it holds in memory and what is on disk may differ:
// then the version before stays. mu is held.
func (s *Store) install(ops []operation) error {
	before, next := s.catalogue, s.catalogue.clone()
	next.apply(ops)
	b := &batch{Batch: s.engine.DB.NewBatch()}
	defer b.Close()
	b.putOperations(ops)
	if b.err != nil {
		return b.err
	}
	if err := s.engine.Do(func() error { return b.Commit(pebble.Sync) }); err != nil {
		return err
	}
	s.publish(next)
	s.journal.note(s.version, ops)
	if len(s.subscribers) > 0 {
		s.pending = append(s.pending, applied(s.version, before, ops))
	}
	return nil
}

// publish makes next the catalogue of the next version. mu is held.
func (s *Store) publish(next *catalogue) {
	s.version++
	s.catalogue = next
	s.versions.publish(s.engine, s.version, next)
}

// keyRange is the keys from lower on and before upper.
type keyRange struct{ lower, upper string }

func prefixRange(prefix []byte) keyRange {
	o := engine.Prefix(prefix)
	return keyRange{string(o.LowerBound), string(o.UpperBound)}
}

// journalKeys is how many changes of keys a journal remembers. A transaction lasts
// milliseconds, and one commit changes some thousands at most.
const journalKeys = 1 << 14

// journal remembers which keys the last versions changed.
type journal struct {
	// last has the version that changed a key last.
	last btree.Map[string, Version]
	// order are the changes, oldest first.
	order []journalEntry
	// forgotten is the newest version of which not all changes are remembered.
	forgotten Version
}

type journalEntry struct {
	key     string
	version Version
}

// note remembers what ops changed.
func (j *journal) note(v Version, ops []operation) {
	for _, op := range ops {
		key := string(op.key())
		j.last.Set(key, v)
		j.order = append(j.order, journalEntry{key, v})
	}
	if len(j.order) <= 2*journalKeys {
		return
	}
	gone := j.order[:len(j.order)-journalKeys]
	for _, e := range gone {
		if at, _ := j.last.Get(e.key); at == e.version {
			j.last.Delete(e.key)
		}
		j.forgotten = e.version
	}
	j.order = append([]journalEntry(nil), j.order[len(gone):]...)
}

// changed returns a key that was read, or is to be written by ops, and has changed
// since a version. It errs on the side of change.
func (j *journal) changed(since Version, reads []keyRange, ops []operation) (key string, changed bool) {
	if since < j.forgotten {
		return "", true
	}
	for _, op := range ops {
		key := string(op.key())
		if at, _ := j.last.Get(key); at > since {
			return key, true
		}
	}
	for _, r := range reads {
		j.last.Ascend(r.lower, func(k string, at Version) bool {
			if k >= r.upper {
				return false
			}
			key, changed = k, at > since
			return !changed
		})
		if changed {
			return key, true
		}
	}
	return "", false
}
