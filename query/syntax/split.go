package syntax

import "github.com/trawlsearch/trawl/query"

// draft is a basic query in the making: filters and patterns that all hold.
type draft struct {
	filters  []*query.Filter
	patterns []node
}

// split turns the tree into a union of drafts by distributing "and" over those
// "or" nodes that hold filters; an expression of patterns only stays whole.
func split(n node) ([]draft, error) {
	if count, leaves := size(n); count > maxBasics || leaves > maxBasicLeaves {
		return nil, tooManyBasics()
	}
	return distribute(n), nil
}

// size counts the drafts that n splits into and the leaves in all of them, so
// that a product that grows beyond the limits is seen before it is built.
func size(n node) (count, leavesInAll int) {
	b, ok := n.(*branch)
	if !ok {
		return 1, 1
	}
	whole := b.op == or && !b.filters
	for i, k := range b.kids {
		c, l := size(k)
		switch {
		case i == 0:
			count, leavesInAll = c, l
		case whole:
			leavesInAll += l
		case b.op == or:
			count, leavesInAll = count+c, leavesInAll+l
		default:
			count, leavesInAll = count*c, leavesInAll*c+l*count
		}
		count, leavesInAll = min(count, 1<<20), min(leavesInAll, 1<<20)
	}
	return count, leavesInAll
}

func distribute(n node) []draft {
	b, ok := n.(*branch)
	if !ok {
		if f := n.(*leaf).filter; f != nil {
			return []draft{{filters: []*query.Filter{f}}}
		}
		return []draft{{patterns: []node{n}}}
	}
	if !b.filters {
		if b.op == and {
			return []draft{{patterns: b.kids}}
		}
		return []draft{{patterns: []node{b}}}
	}
	if b.op == or {
		var all []draft
		for _, k := range b.kids {
			all = append(all, distribute(k)...)
		}
		return all
	}
	return product(b.kids)
}

// product ands the drafts of all kids. The alternatives of the first kid vary
// fastest.
func product(kids []node) []draft {
	all := []draft{{}}
	for _, k := range kids {
		alternatives := distribute(k)
		if len(alternatives) == 1 {
			for i := range all {
				all[i].add(alternatives[0])
			}
			continue
		}
		next := make([]draft, 0, len(all)*len(alternatives))
		for _, alt := range alternatives {
			for _, d := range all {
				d = draft{append([]*query.Filter(nil), d.filters...), append([]node(nil), d.patterns...)}
				d.add(alt)
				next = append(next, d)
			}
		}
		all = next
	}
	return all
}

func (d *draft) add(other draft) {
	d.filters = append(d.filters, other.filters...)
	d.patterns = append(d.patterns, other.patterns...)
}

// basic finishes a draft.
func (d draft) basic() query.Basic {
	b := query.Basic{}
	for _, f := range d.filters {
		b.Filters = append(b.Filters, *f)
	}
	switch len(d.patterns) {
	case 0:
	case 1:
		b.Pattern = expression(d.patterns[0])
	default:
		b.Pattern = &query.And{Children: expressions(d.patterns)}
	}
	return b
}

// expression turns a tree of patterns into the query's own. The patterns are
// shared between the basic queries they take part in.
func expression(n node) query.Node {
	switch n := n.(type) {
	case *branch:
		if n.op == or {
			return &query.Or{Children: expressions(n.kids)}
		}
		return &query.And{Children: expressions(n.kids)}
	case *leaf:
		if n.negated {
			return &query.Not{Child: n.pattern}
		}
		return n.pattern
	}
	panic("syntax: tree node of unknown kind")
}

func expressions(kids []node) []query.Node {
	out := make([]query.Node, len(kids))
	for i, k := range kids {
		out[i] = expression(k)
	}
	return out
}
