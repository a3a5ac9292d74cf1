package store

import (
	"fmt"
	"slices"

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
	if err := s.conflict(base, reads, ops); err != nil {
		return err
	}
	return s.install(s.version+1, s.withUnwanted(ops))
}

// conflict fails if what was read, or what ops write, has changed since base. mu is
// held.
func (s *Store) conflict(base base, reads []keyRange, ops []operation) error {
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
	return nil
}

// withUnwanted adds to ops what deletes the quarantined shards that are not needed
// behind them. mu is held.
func (s *Store) withUnwanted(ops []operation) []operation {
	if s.catalogue.aside.Len() == 0 {
		return ops
	}
	after := s.catalogue.clone()
	after.apply(ops)
	return append(slices.Clip(ops), after.unwantedOperations()...)
}

// installHere makes a change that concerns this directory alone: no other node sees
// it, and it takes no version of a log. mu is held.
func (s *Store) installHere(ops []operation) error { return s.install(s.afterHere(), ops) }

// afterHere is the version behind a change that concerns this directory alone.
func (s *Store) afterHere() Version {
	if s.Shares() {
		return s.version
	}
	return s.version + 1
}

// Shares reports whether the store follows a log, which other nodes write as well.
func (s *Store) Shares() bool {
	_, shared := s.authority.(*sharedAuthority)
	return shared
}

// install makes a version from ops, on disk and in the catalogue. When the engine
// could not write, what it holds in memory and what is on disk may differ: then the
// version before stays. mu is held.
func (s *Store) install(v Version, ops []operation) error {
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
	s.publish(v, next)
	s.journal.note(v, ops)
	s.deliveries.add(applied(s.version, before, ops))
	return nil
}

// publish makes c the catalogue of a version. mu is held.
func (s *Store) publish(v Version, c *catalogue) {
	s.version, s.catalogue = v, c
	s.versions.publish(s.engine, v, c)
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

// forget makes j remember no change up to a version.
func (j *journal) forget(v Version) { *j = journal{forgotten: v} }

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
