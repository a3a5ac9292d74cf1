package postings

import "sync"

// table is the table of trigrams of a Builder, 64 MiB: one more than the number of a
// trigram's list, 0 for none.
type table [NumTrigrams]uint32

// rows is a table in rows of neighbours, which are made as they are needed: 3 to 5 MB for
// some megabytes of source code, 20 for a full shard, and half a megabyte besides. A
// look-up waits for memory twice, which for full shards takes a tenth more of the
// processor.
type rows struct {
	// of has the rows by the first two bytes of their trigrams, none where there are no
	// lists.
	of   [NumTrigrams >> 8]*row
	none row
}

type row [1 << 8]uint32

func newRows() *rows {
	r := &rows{}
	for i := range r.of {
		r.of[i] = &r.none
	}
	return r
}

func (r *rows) get(t uint32) uint32 { return r.of[t>>8][t&0xff] }

func (r *rows) set(t, number uint32) {
	of := &r.of[t>>8]
	if *of == &r.none {
		*of = new(row)
	}
	(*of)[t&0xff] = number
}

// Tables lends tables of trigrams to Builders and keeps one of those that are given
// back: to make one takes longer than to index a small repository, and leaves 64 MiB
// of garbage. Builders that come while Most are lent make do with rows. It is safe for
// concurrent use.
type Tables struct {
	// Most is how many tables there are at a time; 0 is one.
	Most int

	mu   sync.Mutex // guards what follows
	made int
	kept *table // all zero; nil for none
}

// NewBuilder returns an empty builder that borrows its table from t.
func (t *Tables) NewBuilder() *Builder { return &Builder{tables: t} }

// Drop forgets the table that is kept, until one is given back.
func (t *Tables) Drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept != nil {
		t.kept = nil
		t.made--
	}
}

// take returns a table, all zero, or nil if as many are lent as there may be.
func (t *Tables) take() *table {
	t.mu.Lock()
	defer t.mu.Unlock()
	if kept := t.kept; kept != nil {
		t.kept = nil
		return kept
	}
	if t.made >= max(t.Most, 1) {
		return nil
	}
	t.made++
	return new(table)
}

// give takes back a table, all zero.
func (t *Tables) give(index *table) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept != nil {
		t.made--
	}
	t.kept = index
}
