package bench

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// Term is text to find, exact or as a regular expression that both Go and the
// peers read alike.
type Term struct {
	Text     string `json:"text"`
	IsRegexp bool   `json:"isRegexp,omitempty"`
}

// Pattern returns t as a regular expression.
func (t Term) Pattern() string {
	if t.IsRegexp {
		return t.Text
	}
	return regexp.QuoteMeta(t.Text)
}

func (t Term) spansLines() bool {
	if !t.IsRegexp {
		return strings.Contains(t.Text, "\n")
	}
	re, err := syntax.Parse(t.Text, syntax.Perl)
	return err == nil && holds(re, matchesNewline)
}

// onlyLiterals reports whether no term needs a regexp engine.
func onlyLiterals(terms []Term) bool {
	for _, t := range terms {
		if t.IsRegexp {
			return false
		}
	}
	return true
}

// holds reports whether f is true for re or anything below it.
func holds(re *syntax.Regexp, f func(*syntax.Regexp) bool) bool {
	if f(re) {
		return true
	}
	for _, sub := range re.Sub {
		if holds(sub, f) {
			return true
		}
	}
	return false
}

func matchesNewline(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar:
		return true
	case syntax.OpLiteral:
		return strings.ContainsRune(string(re.Rune), '\n')
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if re.Rune[i] <= '\n' && '\n' <= re.Rune[i+1] {
				return true
			}
		}
	}
	return false
}

// check refuses regexps that mean one thing in a file and another in a line.
func (t Term) check() error {
	if !t.IsRegexp {
		return nil
	}
	re, err := syntax.Parse(t.Text, syntax.Perl&^syntax.OneLine)
	if err != nil {
		return fmt.Errorf("regexp %q: %w", t.Text, err)
	}
	textEdge := func(re *syntax.Regexp) bool {
		return re.Op == syntax.OpBeginText || re.Op == syntax.OpEndText
	}
	if holds(re, textEdge) {
		return fmt.Errorf("regexp %q: use ^ and $, peers see one line at a time", t.Text)
	}
	if !needsUnicode(t) && countsCharacters(re) {
		return fmt.Errorf("regexp %q: peers count bytes; put * or + behind what is not ASCII, or name ASCII only", t.Text)
	}
	return nil
}

// countsCharacters reports whether re has a part that stands for a certain
// number of characters which may be longer than a byte. Without a number, as
// under a star, bytes and characters select the same lines.
func countsCharacters(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpStar, syntax.OpPlus:
		if isWideClass(re.Sub[0]) {
			return false
		}
	}
	if isWideClass(re) {
		return true
	}
	return slices.ContainsFunc(re.Sub, countsCharacters)
}

func isWideClass(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpCharClass:
		return len(re.Rune) > 0 && re.Rune[len(re.Rune)-1] > unicode.MaxASCII
	}
	return false
}
