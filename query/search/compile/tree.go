package compile

// Tree is a pattern expression over atoms by number: a Constant, a Leaf, an *And,
// an *Or or a negation.
type Tree any

type (
	// Constant is true or false for every document.
	Constant bool
	// Leaf is the number of an atom.
	Leaf int
	// And holds if all Kids do.
	And struct{ Kids []Tree }
	// Or holds if one of Kids does.
	Or  struct{ Kids []Tree }
	not struct{ kid Tree }
)

// simplify folds constants.
func simplify(t Tree) Tree {
	switch t := t.(type) {
	case *And:
		return foldKids(t.Kids, true)
	case *Or:
		return foldKids(t.Kids, false)
	case *not:
		kid := simplify(t.kid)
		if c, ok := kid.(Constant); ok {
			return !c
		}
		return &not{kid}
	}
	return t
}

func foldKids(kids []Tree, unit Constant) Tree {
	var out []Tree
	for _, k := range kids {
		k = simplify(k)
		if c, ok := k.(Constant); ok {
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
		return &And{out}
	}
	return &Or{out}
}

// Eval returns the truth of t, asking for atoms only as needed.
func Eval(t Tree, atom func(int) bool) bool {
	switch t := t.(type) {
	case Constant:
		return bool(t)
	case Leaf:
		return atom(int(t))
	case *And:
		for _, k := range t.Kids {
			if !Eval(k, atom) {
				return false
			}
		}
		return true
	case *Or:
		for _, k := range t.Kids {
			if Eval(k, atom) {
				return true
			}
		}
		return false
	case *not:
		return !Eval(t.kid, atom)
	}
	panic("search: unknown tree")
}

// VisitTrue calls f for every atom that makes t true: those of all branches
// that hold, none under a negation. t must hold.
func VisitTrue(t Tree, atom func(int) bool, f func(int)) {
	switch t := t.(type) {
	case Leaf:
		f(int(t))
	case *And:
		for _, k := range t.Kids {
			VisitTrue(k, atom, f)
		}
	case *Or:
		for _, k := range t.Kids {
			if Eval(k, atom) {
				VisitTrue(k, atom, f)
			}
		}
	}
}

// Truth is what is known of an atom before text is read.
type Truth int8

const (
	// No is for an atom that does not hold.
	No Truth = iota
	// Perhaps is for an atom that the text decides about.
	Perhaps
	// Yes is for an atom that holds.
	Yes
)

// MayHold reports whether t can hold, whatever the text says of the atoms that
// are Perhaps.
func MayHold(t Tree, atom func(int) Truth) bool { return judge(t, atom) != No }

func judge(t Tree, atom func(int) Truth) Truth {
	switch t := t.(type) {
	case Constant:
		if t {
			return Yes
		}
		return No
	case Leaf:
		return atom(int(t))
	case *And:
		out := Yes
		for _, k := range t.Kids {
			out = min(out, judge(k, atom))
		}
		return out
	case *Or:
		out := No
		for _, k := range t.Kids {
			out = max(out, judge(k, atom))
		}
		return out
	case *not:
		return Yes - judge(t.kid, atom)
	}
	panic("search: unknown tree")
}
