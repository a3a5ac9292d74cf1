package query

import (
	"strconv"
	"strings"
)

// PatternType says how the patterns of a query text are read.
type PatternType string

// The pattern types, by their names on the wire.
const (
	Keyword    PatternType = "keyword"
	Standard   PatternType = "standard"
	Literal    PatternType = "literal"
	Regexp     PatternType = "regexp"
	Structural PatternType = "structural"
)

// Span is the half-open byte interval of query text that a node came from.
type Span struct{ Start, End int }

// Node is an element of a pattern expression: *And, *Or, *Not, *Pattern or
// Const. String prints it as an s-expression for people and tests.
type Node interface {
	String() string
	node()
}

// And holds when every child holds; an And without children is true.
type And struct{ Children []Node }

// Or holds when any child holds; an Or without children is false.
type Or struct{ Children []Node }

// Not holds when its child does not.
type Not struct{ Child Node }

// Const is a node whose truth is known before any document is read.
type Const bool

// Pattern is an atom: text that a document's content, path or name is tried
// against.
type Pattern struct {
	Value string
	// IsRegexp reports whether Value is RE2 syntax rather than exact text.
	IsRegexp bool
	// Quoted reports whether the text was written in quotes.
	Quoted bool
	// FromContent reports whether the pattern was written content:…, which
	// restricts it to document text.
	FromContent bool
	Span        Span
}

func (*And) node()     {}
func (*Or) node()      {}
func (*Not) node()     {}
func (*Pattern) node() {}
func (Const) node()    {}

func (n *And) String() string { return list("and", n.Children) }
func (n *Or) String() string  { return list("or", n.Children) }
func (n *Not) String() string { return "(not " + n.Child.String() + ")" }

func (n Const) String() string {
	if n {
		return "true"
	}
	return "false"
}

// String prints a literal as a Go string and a regexp between slashes.
func (n *Pattern) String() string {
	s := strconv.Quote(n.Value)
	if n.IsRegexp {
		s = "/" + n.Value + "/"
	}
	if n.FromContent {
		return "content:" + s
	}
	return s
}

func list(op string, children []Node) string {
	var b strings.Builder
	b.WriteString("(" + op)
	for _, c := range children {
		b.WriteString(" " + c.String())
	}
	b.WriteString(")")
	return b.String()
}

// Map rebuilds n from the leaves up, replacing each node by f of it.
func Map(n Node, f func(Node) Node) Node {
	switch n := n.(type) {
	case *And:
		return f(&And{mapAll(n.Children, f)})
	case *Or:
		return f(&Or{mapAll(n.Children, f)})
	case *Not:
		return f(&Not{Map(n.Child, f)})
	}
	return f(n)
}

func mapAll(nodes []Node, f func(Node) Node) []Node {
	out := make([]Node, len(nodes))
	for i, c := range nodes {
		out[i] = Map(c, f)
	}
	return out
}

// Simplify flattens nested operators of one kind, removes double negation and
// folds constants; the result holds for exactly the same documents.
func Simplify(n Node) Node {
	return Map(n, func(n Node) Node {
		switch n := n.(type) {
		case *And:
			return fold(n.Children, true)
		case *Or:
			return fold(n.Children, false)
		case *Not:
			switch c := n.Child.(type) {
			case Const:
				return !c
			case *Not:
				return c.Child
			}
		}
		return n
	})
}

// fold joins children with And (unit true) or Or (unit false).
func fold(children []Node, unit Const) Node {
	var out []Node
	for _, c := range children {
		if k, ok := c.(Const); ok {
			if k != unit {
				return k
			}
			continue
		}
		if nested, ok := c.(*And); ok && bool(unit) {
			out = append(out, nested.Children...)
			continue
		}
		if nested, ok := c.(*Or); ok && !bool(unit) {
			out = append(out, nested.Children...)
			continue
		}
		out = append(out, c)
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

// VisitPatterns calls f for every pattern of n in order, with whether the
// pattern stands under an odd number of negations. A nil node has none.
func VisitPatterns(n Node, f func(p *Pattern, negated bool)) { visit(n, false, f) }

func visit(n Node, negated bool, f func(*Pattern, bool)) {
	switch n := n.(type) {
	case *And:
		for _, c := range n.Children {
			visit(c, negated, f)
		}
	case *Or:
		for _, c := range n.Children {
			visit(c, negated, f)
		}
	case *Not:
		visit(n.Child, !negated, f)
	case *Pattern:
		f(n, negated)
	}
}
