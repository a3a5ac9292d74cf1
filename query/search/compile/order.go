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
func (q *Query) readingOrder() []NextAtom {
	order := make([]NextAtom, len(q.Atoms))
	for i := range order {
		order[i].Atom = i
	}
	need := func(t Tree) {
		if l, ok := t.(Leaf); ok {
			order[l].Needed = true
		}
	}
	need(q.Tree)
	if t, ok := q.Tree.(*And); ok {
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
		return postings.Commonness(q.Atoms[x.Atom].Expr) - postings.Commonness(q.Atoms[y.Atom].Expr)
	})
	return order
}
