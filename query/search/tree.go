package search

// tree is a pattern expression over atoms by number.
type tree interface{}

type (
	constant bool
	leaf     int
	and      struct{ kids []tree }
	or       struct{ kids []tree }
	not      struct{ kid tree }
)

// simplify folds constants.
func simplify(t tree) tree {
	switch t := t.(type) {
	case *and:
		return foldKids(t.kids, true)
	case *or:
		return foldKids(t.kids, false)
	case *not:
		kid := simplify(t.kid)
		if c, ok := kid.(constant); ok {
			return !c
		}
		return &not{kid}
	}
	return t
}

func foldKids(kids []tree, unit constant) tree {
	var out []tree
	for _, k := range kids {
		k = simplify(k)
		if c, ok := k.(constant); ok {
			if c != unit {
				return c
			}
			continue
		}
		out = append(out, k)
	}
	switch {
	case len(out) == 0:
		return unit
	case len(out) == 1:
		return out[0]
	case bool(unit):
		return &and{out}
	}
	return &or{out}
}

// eval returns the truth of t, asking for atoms only as needed.
func eval(t tree, atom func(int) bool) bool {
	switch t := t.(type) {
	case constant:
		return bool(t)
	case leaf:
		return atom(int(t))
	case *and:
		for _, k := range t.kids {
			if !eval(k, atom) {
				return false
			}
		}
		return true
	case *or:
		for _, k := range t.kids {
			if eval(k, atom) {
				return true
			}
		}
		return false
	case *not:
		return !eval(t.kid, atom)
	}
	panic("search: unknown tree")
}

// visitTrue calls f for every atom that makes t true: those of all branches
// that hold, none under a negation. t must hold.
func visitTrue(t tree, atom func(int) bool, f func(int)) {
	switch t := t.(type) {
	case leaf:
		f(int(t))
	case *and:
		for _, k := range t.kids {
			visitTrue(k, atom, f)
		}
	case *or:
		for _, k := range t.kids {
			if eval(k, atom) {
				visitTrue(k, atom, f)
			}
		}
	}
}

// truth is what is known of an atom before text is read.
type truth int8

const (
	no truth = iota
	perhaps
	yes
)

// mayHold reports whether t can hold, whatever becomes of the atoms of which
// only perhaps is known.
func mayHold(t tree, atom func(int) truth) bool { return judge(t, atom) != no }

func judge(t tree, atom func(int) truth) truth {
	switch t := t.(type) {
	case constant:
		if t {
			return yes
		}
		return no
	case leaf:
		return atom(int(t))
	case *and:
		out := yes
		for _, k := range t.kids {
			out = min(out, judge(k, atom))
		}
		return out
	case *or:
		out := no
		for _, k := range t.kids {
			out = max(out, judge(k, atom))
		}
		return out
	case *not:
		return yes - judge(t.kid, atom)
	}
	panic("search: unknown tree")
}
