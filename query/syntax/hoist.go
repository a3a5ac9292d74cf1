package syntax

// hoist lifts filters out of a simple "or", so that in repo:a x or y the
// filter holds for both terms. It does so only where the text cannot have
// meant anything else: no parentheses around parts of the "or", filters first
// in the first operand and, if at all elsewhere, last in the last one.
//
// A text that begins with a pattern keeps its trailing filters in the last
// operand: in x or y repo:a nothing says that the writer sees repo:a as a frame
// around both.
func hoist(t tree) node {
	top, ok := t.root.(*branch)
	if !ok || top.op != or || t.clarified {
		return t.root
	}
	last := len(top.kids) - 1
	var lifted []node
	for i, k := range top.kids {
		filters, leading, ok := frame(k)
		if !ok || i == 0 && !leading || 0 < i && i < last && len(filters) > 0 || i == last && leading {
			return t.root
		}
		lifted = append(lifted, filters...)
	}
	kids := make([]node, len(top.kids))
	for i, k := range top.kids {
		kids[i] = withoutFilters(k)
	}
	return join(and, append(lifted, join(or, kids)))
}

// frame returns the filters of an operand if it also has a pattern and the
// filters stand all before the patterns (leading) or all after.
func frame(n node) (filters []node, leading, ok bool) {
	patterns, switches := 0, 0
	wasFilter := false
	for i, l := range leaves(n, nil) {
		isFilter := l.filter != nil
		if i == 0 {
			leading = isFilter
		} else if isFilter != wasFilter {
			switches++
		}
		wasFilter = isFilter
		if isFilter {
			filters = append(filters, l)
		} else {
			patterns++
		}
	}
	return filters, leading, patterns > 0 && switches <= 1
}

// withoutFilters rebuilds an operand that frame has accepted.
func withoutFilters(n node) node {
	b, ok := n.(*branch)
	if !ok || !b.filters {
		return n
	}
	var kids []node
	for _, k := range b.kids {
		if l, ok := k.(*leaf); ok && l.filter != nil {
			continue
		}
		if k, ok := k.(*branch); ok && onlyFilters(k) {
			continue
		}
		kids = append(kids, withoutFilters(k))
	}
	return join(b.op, kids)
}

func onlyFilters(b *branch) bool {
	for _, l := range leaves(b, nil) {
		if l.filter == nil {
			return false
		}
	}
	return true
}
