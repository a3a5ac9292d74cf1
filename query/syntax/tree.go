package syntax

import "github.com/trawlsearch/trawl/query"

// node is an element of the tree the parser builds: *leaf or *branch. The
// tree still mixes filters and patterns; query.Node comes at the very end.
type node interface {
	hasFilter() bool
}

// leaf is one filter or one pattern. Exactly one of the two is set.
type leaf struct {
	filter *query.Filter
	// typed is the filter's field as it was written.
	typed   string
	pattern *query.Pattern
	// negated is for patterns; a filter knows it itself.
	negated bool
	// depth is how many parentheses are open around the leaf.
	depth int
}

// operator says how the children of a branch belong together.
type operator uint8

const (
	// run is a list of leaves and groups written side by side, which the
	// pattern type later combines.
	run operator = iota
	and
	or
)

// branch is an operator over two children or more.
type branch struct {
	op   operator
	kids []node
	// filters caches whether a filter stands anywhere below.
	filters bool
	span    query.Span
}

func (l *leaf) hasFilter() bool   { return l.filter != nil }
func (b *branch) hasFilter() bool { return b.filters }

// empty reports whether l is a filter without a value. Such a filter says
// nothing, so it disappears as soon as it has company.
func (l *leaf) empty() bool { return l.filter != nil && l.filter.Value == "" }

// join builds the branch for kids: operators of one kind are flattened, empty
// filters dropped, and a single child is returned as it is.
func join(op operator, kids []node) node {
	b := &branch{op: op, span: query.Span{Start: start(kids[0]), End: end(kids[len(kids)-1])}}
	last := kids[len(kids)-1]
	for _, k := range kids {
		switch k := k.(type) {
		case *leaf:
			if k.empty() {
				continue
			}
		case *branch:
			if k.op == op && op != run {
				b.kids = append(b.kids, k.kids...)
				b.filters = b.filters || k.filters
				continue
			}
		}
		b.kids = append(b.kids, k)
		b.filters = b.filters || k.hasFilter()
	}
	switch len(b.kids) {
	case 0:
		return last
	case 1:
		return b.kids[0]
	}
	return b
}

func start(n node) int {
	switch n := n.(type) {
	case *leaf:
		return n.span().Start
	case *branch:
		return n.span.Start
	}
	return 0
}

func end(n node) int {
	switch n := n.(type) {
	case *leaf:
		return n.span().End
	case *branch:
		return n.span.End
	}
	return 0
}

func (l *leaf) span() query.Span {
	if l.filter != nil {
		return l.filter.Span
	}
	return l.pattern.Span
}

// leaves appends the leaves below n in the order they were written.
func leaves(n node, to []*leaf) []*leaf {
	switch n := n.(type) {
	case *leaf:
		return append(to, n)
	case *branch:
		for _, k := range n.kids {
			to = leaves(k, to)
		}
	}
	return to
}
