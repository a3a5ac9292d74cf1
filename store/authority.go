package store

import (
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
