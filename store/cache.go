package store

import (
	"sync"
	"sync/atomic"
)

// cache bounds what is kept in memory of shards: chunks of text that were read
// more than once, and the tables of shards. What it holds lies where it is
// looked for, behind an atomic pointer, so that finding it takes no lock and no
// hashing: the engine's own cache takes microseconds for a chunk, more than it
// takes to search the block that was wanted of it. The cache only decides what
// goes, by the clock algorithm: a hand passes over all entries, takes away the
// mark of those that were used since it came by last, and drops the others.
//
// An entry that is dropped stays good for those who have it; the garbage
// collector knows when the last of them is done.
type cache struct {
	most int64

	mu   sync.Mutex // guards all below; drop is called while it is held
	held int64
	ring []*cached
	hand int
	// refused counts what was not taken since something was.
	refused int
}

// cached is an entry of the cache. It is part of what it stands for.
type cached struct {
	bytes int64
	// drop takes the entry from where it is looked for.
	drop func()
	used atomic.Bool
}

// touch marks the entry as used.
func (c *cached) touch() {
	// Usually it is: reading does not take the line from other processors.
	if !c.used.Load() {
		c.used.Store(true)
	}
}

// add takes an entry in, dropping others to make room. An entry that does not
// fit at all is not taken.
func (k *cache) add(c *cached) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.insert(c)
}

// oneIn is which share of what is offered a full cache takes, so that a search
// through more text than fits does not replace all of it again and again.
const oneIn = 8

// offer is add for an entry that need not be taken: a full cache takes a few.
func (k *cache) offer(bytes int64, make func() *cached) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held+bytes > k.most {
		if k.refused++; k.refused%oneIn != 0 {
			return
		}
	}
	k.insert(make())
}

func (k *cache) insert(c *cached) bool {
	if c.bytes > k.most {
		return false
	}
	for k.held+c.bytes > k.most {
		k.hand %= len(k.ring)
		old := k.ring[k.hand]
		if old.used.Swap(false) {
			k.hand++
			continue
		}
		old.drop()
		k.held -= old.bytes
		last := len(k.ring) - 1
		k.ring[k.hand], k.ring[last] = k.ring[last], nil
		k.ring = k.ring[:last]
	}
	k.held += c.bytes
	k.ring = append(k.ring, c)
	return true
}

// size returns how many bytes are held.
func (k *cache) size() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held
}
