package postings

import "sync/atomic"

// table is the table of trigrams of a Builder, 64 MiB.
type table [NumTrigrams]uint32

// Tables lends tables of trigrams to Builders and keeps one of those that are given
// back: to make one takes longer than to index a small repository, and leaves 64 MiB
// of garbage. The zero value keeps none yet. It is safe for concurrent use.
type Tables struct{ kept atomic.Pointer[table] } // all zero

// NewBuilder returns an empty builder that borrows its table from t.
func (t *Tables) NewBuilder() *Builder { return &Builder{tables: t} }

// Drop forgets the table that is kept, until one is given back.
func (t *Tables) Drop() { t.kept.Store(nil) }

func (t *Tables) take() *table {
	if kept := t.kept.Swap(nil); kept != nil {
		return kept
	}
	return new(table)
}

// give takes back a table, all zero.
func (t *Tables) give(index *table) { t.kept.Store(index) }
