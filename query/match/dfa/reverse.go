package dfa

import (
	"regexp/syntax"
	"slices"
)

// reverse returns a regexp that matches the texts of t read backwards.
func reverse(t *syntax.Regexp) *syntax.Regexp {
	out := *t
	switch t.Op {
	case syntax.OpBeginLine:
		out.Op = syntax.OpEndLine
	case syntax.OpEndLine:
		out.Op = syntax.OpBeginLine
	case syntax.OpBeginText:
		out.Op = syntax.OpEndText
	case syntax.OpEndText:
		out.Op = syntax.OpBeginText
	case syntax.OpLiteral:
		out.Rune = slices.Clone(t.Rune)
		slices.Reverse(out.Rune)
	}
	out.Sub = make([]*syntax.Regexp, len(t.Sub))
	for i, s := range t.Sub {
		out.Sub[i] = reverse(s)
	}
	if t.Op == syntax.OpConcat {
		slices.Reverse(out.Sub)
	}
	return &out
}

// mayBeEmpty reports whether t may match the empty string somewhere; it errs
// towards true.
func mayBeEmpty(t *syntax.Regexp) bool {
	switch t.Op {
	case syntax.OpLiteral:
		return len(t.Rune) == 0
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpNoMatch:
		return false
	case syntax.OpCapture, syntax.OpPlus:
		return mayBeEmpty(t.Sub[0])
	case syntax.OpRepeat:
		return t.Min == 0 || mayBeEmpty(t.Sub[0])
	case syntax.OpConcat:
		return !slices.ContainsFunc(t.Sub, func(s *syntax.Regexp) bool { return !mayBeEmpty(s) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(t.Sub, mayBeEmpty)
	}
	return true // assertions, *, ?
}
