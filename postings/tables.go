package postings

import "sync"

// table is the table of trigrams of a Builder, 64 MiB: one more than the number of a
// trigram's list, 0 for none.
type table [NumTrigrams]uint32

// rows is a table in rows of neighbours, which are made as they are needed: of the Linux
// tree 5, 8 and 29 MB for 1, 16 and 188 MB of text, and half a megabyte besides. A look-up
// waits for memory twice (BenchmarkBuilder).
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
// of garbage. Builders that come while Most are lent make do with rows. Some of the
// memory of lists is kept as well. It is safe for concurrent use.
type Tables struct {
	// Most is how many tables there are at a time; 0 is one.
	Most int

	mu   sync.Mutex // guards what follows
	made int
	kept *table // all zero; nil for none
	// slabs and lists are of builders before.
	slabs [][]byte
	lists []growing
}

const (
	// mostSlabs is how many slabs are kept, about as many as a group of small
	// repositories takes.
	mostSlabs = 16
	// mostLists is the length up to which lists are kept, 7 MB of them.
	mostLists = 256 << 10
)

// NewBuilder returns an empty builder that borrows its table from t.
func (t *Tables) NewBuilder() *Builder { return &Builder{tables: t} }

// Drop forgets what is kept, until some is given back.
func (t *Tables) Drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.slabs, t.lists = nil, nil
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

// takeSlab returns a slab, which may have been used.
func (t *Tables) takeSlab() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last := len(t.slabs) - 1; last >= 0 {
		slab := t.slabs[last]
		t.slabs[last], t.slabs = nil, t.slabs[:last]
		return slab
	}
	return make([]byte, 1<<slabBits)
}

// giveSlabs takes back slabs.
func (t *Tables) giveSlabs(slabs [][]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.slabs = append(t.slabs, slabs[:min(len(slabs), mostSlabs-len(t.slabs))]...)
}

// takeLists returns an empty array for lists.
func (t *Tables) takeLists() []growing {
	t.mu.Lock()
	defer t.mu.Unlock()
	lists := t.lists
	t.lists = nil
	return lists
}

// giveLists takes an array back, which is empty.
func (t *Tables) giveLists(lists []growing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := cap(lists); n > cap(t.lists) && n <= mostLists {
		t.lists = lists
	}
}
