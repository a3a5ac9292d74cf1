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

// Node is an element of a pattern expression: *And, *Or, *Not or *Pattern. String
// prints it as an s-expression for people and tests.
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

func (n *And) String() string { return list("and", n.Children) }
func (n *Or) String() string  { return list("or", n.Children) }
func (n *Not) String() string { return "(not " + n.Child.String() + ")" }

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
