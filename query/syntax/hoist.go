package syntax

// hoist lifts what holds for all of a text out of its top-level "or". Settings
// of the query as a whole are lifted wherever they stand outside parentheses.
// Filters are lifted, so that in repo:a x or y and in x or y repo:a the filter
// holds for both terms, only where the text cannot have meant anything else: no
// parentheses around parts of the "or", filters first in the first operand and,
// if at all elsewhere, last in the last one.
func hoist(t tree) node {
	top, ok := t.root.(*branch)
	if !ok || top.op != or {
		return t.root
	}
	rest, settings := takeSettings(top, nil)
	whole := distinct(settings)
	if rest != nil {
		whole = append(whole, hoistFilters(rest, t.clarified))
	}
	return join(and, whole)
}

// hoistFilters lifts the filters around an "or" of which no part is in
// parentheses.
func hoistFilters(n node, clarified bool) node {
	top, ok := n.(*branch)
	if !ok || top.op != or || clarified {
		return n
	}
	last := len(top.kids) - 1
	var lifted []node
	kids := make([]node, len(top.kids))
	for i, k := range top.kids {
		f := frameOf(k)
		switch {
		case !f.ok,
			len(f.filters) > 0 && i < last && (i > 0 || !f.leading),
			len(f.filters) > 0 && i == last && f.leading:
			return n
		}
		lifted = append(lifted, f.filters...)
		kids[i] = without(k, f.isFilter)
	}
	return join(and, append(lifted, join(or, kids)))
}

// frame is the filters of an operand of an "or".
type frame struct {
	filters []node
	// leading says that they stand before the patterns.
	leading bool
	// ok says that there are patterns, and filters only on one side of them.
	ok       bool
	isFilter func(*leaf) bool
}

// frameOf reads the filters of an operand. content: is written as a filter, and
// is the pattern where there is no other.
func frameOf(n node) frame {
	all := leaves(n, nil)
	plain := false
	for _, l := range all {
		plain = plain || l.filter == nil
	}
	f := frame{isFilter: func(l *leaf) bool { return l.filter != nil && (plain || l.filter.Field != "content") }}
	switches := 0
	for i, l := range all {
		is := f.isFilter(l)
		if is {
			f.filters = append(f.filters, l)
		}
		if i == 0 {
			f.leading = is
		} else if is != f.isFilter(all[i-1]) {
			switches++
		}
	}
	f.ok = len(f.filters) < len(all) && switches <= 1
	return f
}

// takeSettings returns n without the settings that stand outside parentheses,
// nil if nothing else is left, and appends those to found.
func takeSettings(n node, found []*leaf) (node, []*leaf) {
	taken := map[*leaf]bool{}
	for _, l := range leaves(n, nil) {
		if l.depth == 0 && l.filter != nil && names[l.filter.Field].whole {
			taken[l] = true
			found = append(found, l)
		}
	}
	if len(taken) == 0 {
		return n, found
	}
	return without(n, func(l *leaf) bool { return taken[l] }), found
}

// distinct leaves out settings that a later one repeats.
func distinct(settings []*leaf) []node {
	last := map[string]int{}
	key := func(l *leaf) string { return l.filter.String() }
	for i, l := range settings {
		last[key(l)] = i
	}
	var out []node
	for i, l := range settings {
		if last[key(l)] == i {
			out = append(out, l)
		}
	}
	return out
}

// without rebuilds n without some leaves; nil if none is left.
func without(n node, drop func(*leaf) bool) node {
	b, ok := n.(*branch)
	if !ok {
		if drop(n.(*leaf)) {
			return nil
		}
		return n
	}
	var kids []node
	same := true
	for _, k := range b.kids {
		left := without(k, drop)
		same = same && left == k
		if left != nil {
			kids = append(kids, left)
		}
	}
	switch {
	case same:
		return n
	case len(kids) == 0:
		return nil
	}
	return join(b.op, kids)
}
