package postings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Expr is a trigram expression: a condition on a document's text that the
// posting lists can test, true for at least every document that matches the
// pattern it was made from. It is All, None, *Literal, *Ranges, *And or *Or.
//
// And and Or hold or fail per document, because their parts may stand far
// apart; a Literal is tested per block, because its bytes stand together, and so
// are Ranges.
type Expr interface {
	String() string
	expr()
}

type constant bool

// All is true for every document, None for no document.
const (
	All  = constant(true)
	None = constant(false)
)

// Literal is true for a document that has all runs of bytes within one window
// of MaxLiteralBytes. Runs are folded; none is empty.
type Literal struct {
	Runs []string
	// WideFold says that the pattern ignores case and has an s or a k, which
	// Unicode also folds to U+017F and U+212A. Blocks with one of those stand in
	// a list of their own that is added to the literal's.
	WideFold bool
	// Exact is the longest run as it stands in the text when the pattern does
	// not ignore case, empty otherwise. Evaluation takes it for that run where
	// there are lists of upper-case letters.
	Exact string
}

// Ranges is true for a document that has a trigram of one of the ranges. They
// are ascending and apart.
type Ranges struct{ Ranges []Range }

// Range is a half-open interval of trigrams.
type Range struct{ Lo, Hi Trigram }

// And is true when all of its parts are, Or when any is.
type (
	And struct{ Exprs []Expr }
	Or  struct{ Exprs []Expr }
)

func (constant) expr() {}
func (*Literal) expr() {}
func (*Ranges) expr()  {}
func (*And) expr()     {}
func (*Or) expr()      {}

func (c constant) String() string {
	if c {
		return "all"
	}
	return "none"
}

func (l *Literal) String() string {
	q := make([]string, len(l.Runs))
	for i, r := range l.Runs {
		q[i] = strconv.Quote(r)
	}
	s := strings.Join(q, "+")
	if l.Exact != "" {
		return s + "=" + strconv.Quote(l.Exact)
	}
	return s
}

func (r *Ranges) String() string {
	parts := []string{"in"}
	for _, x := range r.Ranges {
		parts = append(parts, fmt.Sprintf("%06x-%06x", uint32(x.Lo), uint32(x.Hi-1)))
	}
	return "(" + strings.Join(parts, " ") + ")"
}

func (a *And) String() string { return join("and", a.Exprs) }
func (o *Or) String() string  { return join("or", o.Exprs) }

func join(op string, exprs []Expr) string {
	parts := []string{op}
	for _, e := range exprs {
		parts = append(parts, e.String())
	}
	return "(" + strings.Join(parts, " ") + ")"
}

// NewAnd joins expressions so that nested Ands are one and constants fold.
func NewAnd(exprs ...Expr) Expr {
	var parts []Expr
	for _, e := range exprs {
		switch e := e.(type) {
		case constant:
			if !e {
				return None
			}
		case *And:
			parts = append(parts, e.Exprs...)
		default:
			parts = append(parts, e)
		}
	}
	parts = distinct(parts)
	switch len(parts) {
	case 0:
		return All
	case 1:
		return parts[0]
	}
	return &And{parts}
}

// NewOr joins expressions so that nested Ors are one and constants fold.
func NewOr(exprs ...Expr) Expr {
	var parts []Expr
	for _, e := range exprs {
		switch e := e.(type) {
		case constant:
			if e {
				return All
			}
		case *Or:
			parts = append(parts, e.Exprs...)
		default:
			parts = append(parts, e)
		}
	}
	parts = distinct(parts)
	switch len(parts) {
	case 0:
		return None
	case 1:
		return parts[0]
	}
	return &Or{parts}
}

// distinct drops repeats. Expressions are small: a regexp yields at most a few
// dozen parts, so printing them is cheap enough to compare.
func distinct(exprs []Expr) []Expr {
	if len(exprs) < 2 {
		return exprs
	}
	seen := make(map[string]bool, len(exprs))
	return slices.DeleteFunc(exprs, func(e Expr) bool {
		s := e.String()
		dup := seen[s]
		seen[s] = true
		return dup
	})
}
