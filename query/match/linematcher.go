package match

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query/match/dfa"
)

// LineMatcher finds the lines of a text that a pattern matches, each line taken
// for a text of its own: \A and ^ are where a line begins, \z and $ where it ends.
// A pattern matches a line as Go's regexp matches the line alone. It is safe for
// concurrent use.
type LineMatcher struct {
	// alone tries one line. That of a literal is compiled when it is asked for.
	alone func() *regexp.Regexp
	// every says that the pattern matches every line, none that it matches no line.
	every, none bool
	// literal stands in each line that matches; nil if none is known. If exact is set
	// the pattern is this literal, with atStart at the start of a line, with atEnd at
	// the end of one.
	literal               *Matcher
	exact, atStart, atEnd bool
	// automaton finds matches in the text of all lines; nil if it cannot.
	automaton *dfa.Regexp
}

// CompileLines compiles a literal or RE2 text.
func CompileLines(value string, isRegexp, caseSensitive bool) (*LineMatcher, error) {
	text := value
	if !isRegexp {
		text = regexp.QuoteMeta(value)
	}
	if !caseSensitive {
		text = "(?i)" + text
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	tree = withinLines(tree)
	l := &LineMatcher{}
	rest, atStart, atEnd := withoutAnchors(tree)
	if l.literal = literalMatcher(rest); l.literal != nil {
		l.alone = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
		l.exact, l.atStart, l.atEnd = true, atStart, atEnd
		return l, nil
	}
	alone, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	l.alone = func() *regexp.Regexp { return alone }
	if alone.MatchString("") {
		l.every = !hasAssertions(tree)
		return l, nil
	}
	if tree.Op == syntax.OpNoMatch {
		l.none = true
		return l, nil
	}
	if rest.Op == syntax.OpConcat {
		l.literal = longestLiteral(rest.Sub)
	}
	l.automaton, _ = dfa.Compile(tree) // an error says that each line is tried alone
	return l, nil
}

// literalMatcher returns a matcher that has nothing but the needle of t, nil if t is
// no literal that one finds.
func literalMatcher(t *syntax.Regexp) *Matcher {
	text, fold, ok := literalText(t)
	if !ok || text == "" {
		return nil
	}
	m := &Matcher{}
	if m.setLiteral(text, fold); !m.literal {
		return nil
	}
	return m
}

// longestLiteral returns the matcher of the longest literal of some trees, nil if
// none is long enough to be rare.
func longestLiteral(all []*syntax.Regexp) (longest *Matcher) {
	for _, t := range all {
		m := literalMatcher(t)
		if m != nil && len(m.needle.text) >= minBeginning && (longest == nil || len(m.needle.text) > len(longest.needle.text)) {
			longest = m
		}
	}
	return longest
}

// withinLines returns t such that it matches in a text what t matches in one of
// its lines: the ends of the text become those of a line, and nothing matches a
// newline, which no line has. OpNoMatch is the whole tree or no part of it.
func withinLines(t *syntax.Regexp) *syntax.Regexp {
	out := *t
	switch t.Op {
	case syntax.OpBeginText:
		out.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		out.Op, out.Flags = syntax.OpEndLine, t.Flags&^syntax.WasDollar
	case syntax.OpAnyChar:
		out.Op = syntax.OpAnyCharNotNL
	case syntax.OpLiteral:
		if slices.Contains(t.Rune, '\n') {
			return noMatch
		}
	case syntax.OpCharClass:
		if out.Rune = withoutNewline(t.Rune); len(out.Rune) == 0 {
			return noMatch
		}
	}
	out.Sub = nil
	for _, s := range t.Sub {
		if s = withinLines(s); s.Op != syntax.OpNoMatch {
			out.Sub = append(out.Sub, s)
		}
	}
	switch {
	case len(out.Sub) == len(t.Sub):
		return &out
	case t.Op == syntax.OpStar || t.Op == syntax.OpQuest || t.Op == syntax.OpRepeat && t.Min == 0:
		return &syntax.Regexp{Op: syntax.OpEmptyMatch}
	case t.Op == syntax.OpAlternate && len(out.Sub) > 0:
		return &out
	}
	return noMatch
}

var noMatch = &syntax.Regexp{Op: syntax.OpNoMatch}

// withoutNewline returns the pairs of a class without the newline.
func withoutNewline(pairs []rune) []rune {
	var out []rune
	for i := 0; i < len(pairs); i += 2 {
		lo, hi := pairs[i], pairs[i+1]
		if lo > '\n' || hi < '\n' {
			out = append(out, lo, hi)
			continue
		}
		if lo < '\n' {
			out = append(out, lo, '\n'-1)
		}
		if hi > '\n' {
			out = append(out, '\n'+1, hi)
		}
	}
	return out
}

// hasAssertions reports whether a match of t depends on what stands around it.
func hasAssertions(t *syntax.Regexp) bool {
	switch t.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	for _, s := range t.Sub {
		if hasAssertions(s) {
			return true
		}
	}
	return false
}

// withoutAnchors returns what stands between the anchors at the ends of t.
func withoutAnchors(t *syntax.Regexp) (rest *syntax.Regexp, atStart, atEnd bool) {
	for t.Op == syntax.OpCapture {
		t = t.Sub[0]
	}
	if t.Op != syntax.OpConcat {
		return t, false, false
	}
	kids := t.Sub
	if atStart = kids[0].Op == syntax.OpBeginLine; atStart {
		kids = kids[1:]
	}
	if n := len(kids) - 1; n >= 0 && kids[n].Op == syntax.OpEndLine {
		atEnd, kids = true, kids[:n]
	}
	if len(kids) == 1 {
		return kids[0], atStart, atEnd
	}
	between := *t
	between.Sub = kids
	return &between, atStart, atEnd
}

// MatchesAll reports whether the pattern is known to match every line.
func (l *LineMatcher) MatchesAll() bool { return l.every }

// Match reports whether a line matches, given without its newline.
func (l *LineMatcher) Match(line string) bool { return l.every || l.alone().MatchString(line) }

// Find calls found with the offset at which each line that matches begins, until
// found reports false. Every line of text ends with a newline.
func (l *LineMatcher) Find(text []byte, found func(start int) bool) {
	if l.none {
		return
	}
	at, over := 0, false
	if l.literal != nil && !(l.literal.wide && hasWide(text)) {
		if at, over = l.findLiteral(text, found); over {
			return
		}
	}
	if l.automaton != nil && utf8.Valid(text[at:]) {
		if at, over = l.findMatches(text, at, found); over {
			return
		}
	}
	l.findAlone(text, at, found)
}

// Lines with the literal are tried alone up to manyTried of them, and while they are
// no more than one in linesApart bytes. Otherwise the automaton is faster.
const (
	manyTried  = 256
	linesApart = 512
)

// findLiteral is Find by the literal. If that is not worth it rest is where the next
// line begins, and over is false.
func (l *LineMatcher) findLiteral(text []byte, found func(start int) bool) (rest int, over bool) {
	n, c, tried := &l.literal.needle, newCursor(), 0
	for at := n.next(text, 0, &c); at >= 0; {
		start, end := bytes.LastIndexByte(text[:at], '\n')+1, at+len(n.text)
		lineEnd := end + bytes.IndexByte(text[end:], '\n')
		next, matches := lineEnd+1, false
		if l.exact {
			if matches = (!l.atStart || start == at) && (!l.atEnd || lineEnd == end); !matches {
				next = at + 1
			}
		} else {
			if tried++; l.automaton != nil && tried > manyTried && tried*linesApart > start {
				return start, false
			}
			matches = l.alone().Match(text[start:lineEnd])
		}
		if matches && !found(start) {
			return 0, true
		}
		at = n.next(text, next, &c)
	}
	return 0, true
}

// findMatches is Find by the automaton from a line on. If it cannot go on rest is where
// the next line begins, and over is false.
func (l *LineMatcher) findMatches(text []byte, from int, found func(start int) bool) (rest int, over bool) {
	s := l.automaton.Searcher()
	defer s.Release()
	for at := from; at < len(text); {
		start, _, ok, err := s.Next(text, at)
		switch {
		case err != nil:
			return at, false
		case !ok || !found(bytes.LastIndexByte(text[:start], '\n')+1):
			return 0, true
		}
		at = start + bytes.IndexByte(text[start:], '\n') + 1
	}
	return 0, true
}

// findAlone is Find from a line on, line by line.
func (l *LineMatcher) findAlone(text []byte, from int, found func(start int) bool) {
	for at := from; at < len(text); {
		end := at + bytes.IndexByte(text[at:], '\n')
		if (l.every || l.alone().Match(text[at:end])) && !found(at) {
			return
		}
		at = end + 1
	}
}
