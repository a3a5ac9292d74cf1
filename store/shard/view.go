package shard

import (
	"fmt"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/tidwall/btree"
	"github.com/trawlsearch/trawl/postings"
)

// Exclusions are the sets of View.Away, by repository.
type Exclusions = btree.Map[uint32, []*postings.Set]

// Source is the source of views: a snapshot of the engine, read through the
// caches of a budget.
type Source struct {
	Reader pebble.Reader
	*Budget
}

// View returns a shard with the sets that View says of it. The sets are shared.
func (src *Source) View(sh *Shard, dead *postings.Set, away *Exclusions, aside *Quarantine) View {
	return View{Shard: sh, Dead: dead, Quarantine: aside, away: away, pin: &atomic.Pointer[shardTables]{}, src: src}
}

// Load reads the tables of a shard into the cache, so that the first search of the
// shard does not have to. A search that finds them unreadable reports it.
func (src *Source) Load(sh *Shard) {
	defer func() { _ = recover() }() // damage, which the search finds as well
	_, _ = sh.load(src.Reader, src.cache)
}

// View is a shard as a snapshot sees it. It is safe for concurrent use.
type View struct {
	*Shard
	// Dead are the documents no longer part of any generation; nil is none.
	Dead *postings.Set
	// Quarantine says why the shard is out of service; nil is that it is not. Nothing
	// can be read of one that is.
	Quarantine *Quarantine
	away       *Exclusions
	// pin holds the tables once they have been loaded: copies of a View have the
	// same, even if the shard's are dropped meanwhile.
	pin *atomic.Pointer[shardTables]
	// src is nil for a shard in memory, whose text is memory.
	src    *Source
	memory []byte
}

// Away are the branch exclusions: by number of the repository's branches, the
// documents in the shard that the branch does not hold. It is nil if every
// branch holds all live documents, as with one branch, and a set is nil for a
// branch that holds all. The sets are shared and must not be changed.
func (v View) Away(repository uint32) []*postings.Set {
	if v.away == nil {
		return nil
	}
	sets, _ := v.away.Get(repository)
	return sets
}

// Documents returns the shard's document table.
func (v View) Documents() (*Documents, error) {
	t, err := v.load()
	if err != nil {
		return nil, err
	}
	return t.docs, nil
}

// load returns the tables and pins them.
func (v View) load() (*shardTables, error) {
	if t := v.pin.Load(); t != nil {
		return t, nil
	}
	if err := v.inService(); err != nil {
		return nil, err
	}
	t, err := v.Shard.load(v.src.Reader, v.src.cache)
	if err != nil {
		return nil, err
	}
	v.pin.Store(t)
	return t, nil
}

// inService fails with ErrQuarantined if the shard is out of service.
func (v View) inService() error {
	if v.Quarantine == nil {
		return nil
	}
	return inShard(v.ID, fmt.Errorf("%w: %s", ErrQuarantined, v.Quarantine.Reason))
}

// Ready fails with ErrQuarantined if nothing can be read of the shard, and if nothing of
// it is there: lists that are missing say the same as lists that have nothing.
func (v View) Ready() error {
	if v.InMemory() {
		return nil
	}
	_, err := v.sets()
	return err
}

// tables are the pinned ones; Documents must have succeeded before.
func (v View) tables() *shardTables { return v.pin.Load() }

// Loaded reports whether the document table is in memory.
func (v View) Loaded() bool { return v.pin.Load() != nil || v.Shard.memory.tables.Load() != nil }

// DocOf maps each block to its document. Documents must have succeeded before.
func (v View) DocOf() []uint16 { return v.tables().docOf }

// sets returns the sets beside the lists.
func (v View) sets() (*listSets, error) {
	if t := v.pin.Load(); t != nil {
		return t.sets, nil
	}
	if err := v.inService(); err != nil {
		return nil, err
	}
	return v.loadSets(v.src.Reader, v.src.cache)
}

// Newlines counts the newlines of each block. Documents must have succeeded
// before.
func (v View) Newlines() []uint16 { return v.tables().newlines }

// ScanAlways returns the blocks that have text and are not indexed, or nil.
// Documents must have succeeded before.
func (v View) ScanAlways() *postings.Set { return v.tables().sets.scan }

// MayFoldWide reports whether the text of blocks lo up to hi, which are those of
// a document, may hold U+017F or U+212A. Documents must have succeeded before.
func (v View) MayFoldWide(lo, hi int) bool {
	if v.InMemory() {
		return true
	}
	sets := v.tables().sets
	for _, set := range []*postings.Set{sets.wide, sets.scan} {
		if set != nil && set.Meets(lo, hi) {
			return true
		}
	}
	return false
}

// Commits returns the commit table of a history shard, nil for any other.
func (v View) Commits() (*Commits, error) {
	t, err := v.load()
	if err != nil {
		return nil, err
	}
	return t.commits, nil
}
