package store

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/trawlsearch/trawl/postings"
)

// Snapshot is one moment of the store. It is safe for concurrent use; the
// lists and texts made from it are not.
type Snapshot struct {
	s    *Store
	m    *version
	c    *catalogue
	snap *pebble.Snapshot
}

// Snapshot returns what was committed last, and waits for no commit at work.
// The caller closes it.
func (s *Store) Snapshot() *Snapshot {
	m := s.versions.hold()
	s.versions.count(1)
	return &Snapshot{s: s, m: m, c: m.catalogue, snap: m.snap}
}

// Close releases the snapshot; nothing borrowed from it may be used after.
func (sn *Snapshot) Close() error {
	sn.s.versions.count(-1)
	sn.s.versions.release(sn.m)
	return nil
}

// Commit is that of the store, for a change that was prepared from sn. It fails
// with ErrBroken when the store had to be opened again since, as then what the
// last commit before that was about may be there or not.
func (sn *Snapshot) Commit(c Change) error {
	c.basis = sn.m.engine
	return sn.s.Commit(c)
}

// Repositories returns all repositories by stars descending, then ID
// descending: the order in which they are listed. The records are shared and
// not to be changed.
func (sn *Snapshot) Repositories() []*Repository {
	out := make([]*Repository, 0, len(sn.c.repositories))
	for _, r := range sn.c.repositories {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *Repository) int {
		return cmp.Or(b.Stars-a.Stars, cmp.Compare(b.ID, a.ID))
	})
	return out
}

// Repository returns the repository of that name, or an error that is
// ErrNotFound.
func (sn *Snapshot) Repository(name string) (*Repository, error) {
	if r := sn.c.byName[name]; r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("repository %q: %w", name, ErrNotFound)
}

// RepositoryByID returns the repository or nil.
func (sn *Snapshot) RepositoryByID(id uint32) *Repository { return sn.c.repositories[id] }

// View is a shard as a snapshot sees it. It is safe for concurrent use.
type View struct {
	*Shard
	// Dead are the documents no longer part of any generation; nil is none.
	Dead *postings.Set
	// Aside says why the shard is out of service; nil is that it is not. Nothing
	// can be read of one that is.
	Aside *Aside
	away  map[uint32][]*postings.Set
	// pin holds the tables once they have been loaded: copies of a View have the
	// same, even if the shard's are dropped meanwhile.
	pin *atomic.Pointer[shardTables]
	// sn is nil for a shard in memory, whose text is memory.
	sn     *Snapshot
	memory []byte
}

// Shards returns the shards in the order searches visit them.
func (sn *Snapshot) Shards() []View {
	out := make([]View, len(sn.c.order))
	for i, id := range sn.c.order {
		out[i], _ = sn.Shard(id)
	}
	return out
}

// Shard returns one shard; ok is false when the snapshot has none of that ID.
func (sn *Snapshot) Shard(id uint32) (v View, ok bool) {
	sh := sn.c.shards[id]
	return View{Shard: sh, Dead: sn.c.dead[id], Aside: sn.c.aside[id], away: sn.c.away[id], pin: &atomic.Pointer[shardTables]{}, sn: sn}, sh != nil
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
	if v.Aside != nil {
		return nil, inShard(v.ID, fmt.Errorf("%w: %s", ErrAside, v.Aside.Reason))
	}
	t, err := v.Shard.load(v.sn.snap, v.sn.s.cache)
	if err != nil {
		return nil, err
	}
	v.pin.Store(t)
	return t, nil
}

// tables are the pinned ones; Documents must have succeeded before.
func (v View) tables() *shardTables { return v.pin.Load() }

// DocOf maps each block to its document. Documents must have succeeded before.
func (v View) DocOf() []uint16 { return v.tables().docOf }

// Newlines counts the newlines of each block. Documents must have succeeded
// before.
func (v View) Newlines() []uint16 { return v.tables().newlines }

// ScanAlways returns the blocks that have text and are not indexed, or nil.
// Documents must have succeeded before.
func (v View) ScanAlways() *postings.Set { return v.tables().scan }

// MayFoldWide reports whether the text of blocks lo up to hi, which are those of
// a document, may hold U+017F or U+212A. Documents must have succeeded before.
func (v View) MayFoldWide(lo, hi int) bool {
	if v.InMemory() {
		return true
	}
	for _, set := range []*postings.Set{v.tables().wide, v.tables().scan} {
		if set != nil && set.Meets(lo, hi) {
			return true
		}
	}
	return false
}

// Lists reads posting lists of one field of one shard; it implements
// postings.Reader. It is not safe for concurrent use.
type Lists struct {
	v     View
	field Field
	r     *ListReader
	// wide is for symbols; those of the other fields are the shard's.
	wide *postings.Set
}

// Lists returns the lists of the content or the paths, read through r; those of
// symbols are SymbolLists. Documents must have succeeded before.
func (v View) Lists(f Field, r *ListReader) *Lists { return &Lists{v: v, field: f, r: r} }

// Exact reports whether List and Scan know trigrams with an upper-case letter.
func (l *Lists) Exact() bool { return l.field == FieldContent && l.v.Header.exact() }

// fieldOf returns the field under which the list of t stands.
func (l *Lists) fieldOf(t postings.Trigram) Field {
	if l.field == FieldContent && t.Exact() {
		return FieldExact
	}
	return l.field
}

// List appends the encoded list of t to dst.
func (l *Lists) List(dst []byte, t postings.Trigram) ([]byte, error) {
	l.r.key = appendKeyPosting(l.r.key[:0], l.v.ID, l.fieldOf(t), t)
	return l.r.get(dst)
}

// Scan yields the lists of the trigrams from lo up to but not including hi, exact
// ones if lo is. f must not read lists through the same reader.
func (l *Lists) Scan(lo, hi postings.Trigram, f func(value []byte) (bool, error)) error {
	field := l.fieldOf(lo)
	l.r.key = appendKeyPosting(l.r.key[:0], l.v.ID, field, lo)
	if hi < postings.NumTrigrams {
		l.r.end = appendKeyPosting(l.r.end[:0], l.v.ID, field, hi)
	} else {
		l.r.end = append(l.r.end[:0], keyAfter(appendKeyField(nil, l.v.ID, field))...)
	}
	return l.r.scan(f)
}

// WideFold returns the blocks, or for paths the documents, with a rune outside
// ASCII that folds to an ASCII letter.
func (l *Lists) WideFold() *postings.Set {
	switch l.field {
	case FieldPath:
		return l.v.tables().widePath
	case FieldSymbol:
		return l.wide
	}
	return l.v.tables().wide
}

// ScanAlways returns the blocks that are not indexed, for the content field.
func (l *Lists) ScanAlways() *postings.Set {
	if l.field != FieldContent {
		return nil
	}
	return l.v.tables().scan
}
