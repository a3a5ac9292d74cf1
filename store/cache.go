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
	mu   sync.Mutex // guards all below; drop is called while it is held
	most int64
	held int64
	// spares are the entries that are read again for little, others the rest,
	// which goes only when there are no spares: to read a table of a shard again
	// takes as long as hundreds of chunks.
	spares, others ring
	// refused counts what was not taken since something was.
	refused int
}

// ring is entries of one kind and the hand that goes over them.
type ring struct {
	entries []*cached
	hand    int
}

// cached is an entry of the cache. It is part of what it stands for.
type cached struct {
	bytes int64
	// spare says that to read it again costs little.
	spare bool
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
	k.shrink(k.most - c.bytes)
	k.held += c.bytes
	r := &k.others
	if c.spare {
		r = &k.spares
	}
	r.entries = append(r.entries, c)
	return true
}

// shrink drops entries until no more than so many bytes are held.
func (k *cache) shrink(most int64) {
	for k.held > most {
		r := &k.spares
		if len(r.entries) == 0 {
			r = &k.others
		}
		r.hand %= len(r.entries)
		if r.entries[r.hand].used.Swap(false) {
			r.hand++
			continue
		}
		k.held -= r.remove(r.hand)
	}
}

// remove drops entry i, whose place the last takes, and returns its size.
func (r *ring) remove(i int) int64 {
	old, last := r.entries[i], len(r.entries)-1
	old.drop()
	r.entries[i], r.entries[last] = r.entries[last], nil
	r.entries = r.entries[:last]
	return old.bytes
}

// resize makes the cache larger by so many bytes, or smaller by as many.
func (k *cache) resize(by int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.most += by
	k.shrink(max(k.most, 0))
}

// trim drops the entries that are read again for little.
func (k *cache) trim() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := len(k.spares.entries) - 1; i >= 0; i-- {
		k.held -= k.spares.remove(i)
	}
}

// size returns how many bytes are held.
func (k *cache) size() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held
}
