package shard

import (
	"container/list"
	"sync"
	"sync/atomic"
)

// cache bounds the memory for parts of shards: chunks of text that were read
// more than once, and the tables of shards. The shard itself points to its
// cached parts, by atomic pointers, so that finding one takes no lock and no
// hashing. The engine's own cache takes microseconds for a chunk, more than
// searching one of its blocks takes. The cache only decides which entries to
// evict, by the clock algorithm: the first entry of the queue goes to the back
// again without its mark if it was used since its last turn, and is evicted
// otherwise.
//
// An evicted entry stays valid for its readers; the garbage collector frees it
// after the last of them.
type cache struct {
	mu   sync.Mutex // guards all below; drop is called while it is held
	most int64
	held int64
	// spares are the entries that are read again for little, others the rest,
	// which goes only when there are no spares: to read a table of a shard again
	// takes as long as hundreds of chunks. Both are of *cached.
	spares, others list.List
	// offered is how many bytes were offered while the cache was full, once,
	// counts those that came for the first time in a while.
	offered int64
	once    int
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

// add takes an entry in, dropping others for it. An entry that does not
// fit at all is not taken.
func (k *cache) add(c *cached) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.insert(c)
}

// A full cache takes one in oneIn of the entries that are offered once, so that
// a search through more text than fits does not replace all of it again and
// again. An entry that is offered twice is taken, if less than the part of the
// cache that soon names was offered in between: similar searches follow each
// other.
const (
	oneIn = 32
	soon  = 8
)

// offeredUnit is what sightings are counted in.
const offeredUnit = 32 << 10

// sighting is when an entry was last offered to a full cache, by what else was;
// 0 is never. It is guarded by the lock of the cache.
type sighting uint32

// offer is add for an entry that need not be taken: a full cache takes what was
// offered not long before, and a few of the others.
func (k *cache) offer(bytes int64, last *sighting, make func() *cached) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held+bytes > k.most && !k.wants(bytes, last) {
		return
	}
	k.insert(make())
}

// wants reports whether a full cache takes an entry. The lock is held.
func (k *cache) wants(bytes int64, last *sighting) bool {
	now, before := sighting(k.offered/offeredUnit)+1, *last
	*last = now
	k.offered += bytes
	if before != 0 && int64(now-before) <= k.most/soon/offeredUnit {
		return true
	}
	k.once++
	return k.once%oneIn == 0
}

func (k *cache) insert(c *cached) bool {
	if c.bytes > k.most {
		return false
	}
	k.shrink(k.most - c.bytes)
	k.held += c.bytes
	line := &k.others
	if c.spare {
		line = &k.spares
	}
	line.PushBack(c)
	return true
}

// shrink drops entries until no more than so many bytes are held.
func (k *cache) shrink(most int64) {
	for k.held > most {
		line := &k.spares
		if line.Len() == 0 {
			line = &k.others
		}
		if first := line.Front(); first.Value.(*cached).used.Swap(false) {
			line.MoveToBack(first)
		} else {
			k.remove(line, first)
		}
	}
}

func (k *cache) remove(line *list.List, e *list.Element) {
	c := line.Remove(e).(*cached)
	c.drop()
	k.held -= c.bytes
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
	for k.spares.Len() > 0 {
		k.remove(&k.spares, k.spares.Front())
	}
}

// size returns how many bytes are held.
func (k *cache) size() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held
}
