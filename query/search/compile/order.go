package compile

import (
	"slices"

	"github.com/trawlsearch/trawl/postings"
)

// NextAtom is an atom in the order in which lists are read.
type NextAtom struct {
	Atom int
	// Needed says that no document matches without it.
	Needed bool
}

// readingOrder puts the atoms that a document needs first, the rarest before the
// others: what they rule out need not be looked up for those behind.
func (b *Query) readingOrder() []NextAtom {
	order := make([]NextAtom, len(b.Atoms))
	for i := range order {
		order[i].Atom = i
	}
	need := func(t Tree) {
		if l, ok := t.(Leaf); ok {
			order[l].Needed = true
		}
	}
	need(b.Tree)
	if t, ok := b.Tree.(*And); ok {
		for _, k := range t.Kids {
			need(k)
		}
	}
	slices.SortStableFunc(order, func(x, y NextAtom) int {
		if x.Needed != y.Needed {
			if x.Needed {
				return -1
			}
			return 1
		}
		return postings.Commonness(b.Atoms[x.Atom].Expr) - postings.Commonness(b.Atoms[y.Atom].Expr)
	})
	return order
}
