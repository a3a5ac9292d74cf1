package match

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// LineMatcher finds the lines of a text that a pattern matches, each line taken
// for a text of its own: \A and ^ are where a line begins, \z and $ where it ends.
// A pattern matches a line as Go's regexp matches the line alone. It is safe for
// concurrent use.
type LineMatcher struct {
	// alone tries one line.
	alone *regexp.Regexp
	// whole finds matches in the text of all lines, nil if only alone can. If atStart
	// is set they count at the start of a line, and with atEnd at the end of one:
	// whole is then a literal, which is found faster than a regexp with anchors.
	whole          *Matcher
	atStart, atEnd bool
	// every says that the pattern matches every line.
	every bool
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
	alone, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	l := &LineMatcher{alone: alone}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	tree = withinLines(tree)
	if alone.MatchString("") {
		l.every = !hasAssertions(tree)
		return l, nil
	}
	// An error says that each line is tried alone.
	if rest, atStart, atEnd := withoutAnchors(tree); atStart || atEnd {
		if m, err := Compile(rest.String(), true, true); err == nil && m.literal {
			l.whole, l.atStart, l.atEnd = m, atStart, atEnd
			return l, nil
		}
	}
	if m, err := Compile(tree.String(), true, true); err == nil && m.inLine && (m.literal || m.automaton != nil) {
		l.whole = m
	}
	return l, nil
}

// withinLines returns t such that it matches in a text what t matches in one of
// its lines: the ends of the text become those of a line, and nothing matches a
// newline, which no line has.
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
		for _, r := range t.Rune {
			if r == '\n' {
				return &syntax.Regexp{Op: syntax.OpNoMatch}
			}
		}
	case syntax.OpCharClass:
		if out.Rune = withoutNewline(t.Rune); len(out.Rune) == 0 {
			return &syntax.Regexp{Op: syntax.OpNoMatch}
		}
	}
	out.Sub = make([]*syntax.Regexp, len(t.Sub))
	for i, s := range t.Sub {
		out.Sub[i] = withinLines(s)
	}
	return &out
}

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

// Match reports whether a line matches, given without its newline.
func (l *LineMatcher) Match(line string) bool { return l.every || l.alone.MatchString(line) }

// Find calls found with the offset at which each line that matches begins, until
// found reports false. Every line of text ends with a newline.
func (l *LineMatcher) Find(text []byte, found func(start int) bool) {
	if at, done := l.findWhole(text, found); !done {
		l.findAlone(text, at, found)
	}
}

// findWhole is Find where whole can do it. If it cannot go on, done is false and
// rest is where the next line begins.
func (l *LineMatcher) findWhole(text []byte, found func(start int) bool) (rest int, done bool) {
	m := l.whole
	switch {
	case l.every || m == nil:
		return 0, false
	case m.literal && m.wide && hasWide(text):
		return 0, false
	case m.literal:
		l.findLiteral(text, found)
		return 0, true
	case !utf8.Valid(text):
		return 0, false
	}
	s := m.automaton.Searcher()
	defer s.Release()
	for at := 0; at < len(text); {
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

func (l *LineMatcher) findLiteral(text []byte, found func(start int) bool) {
	n, c := &l.whole.needle, newCursor()
	for at := n.next(text, 0, &c); at >= 0; {
		start, end := bytes.LastIndexByte(text[:at], '\n')+1, at+len(n.text)
		next := at + 1
		if (!l.atStart || start == at) && (!l.atEnd || text[end] == '\n') {
			if !found(start) {
				return
			}
			next = end + bytes.IndexByte(text[end:], '\n') + 1
		}
		at = n.next(text, next, &c)
	}
}

// findAlone is Find from a line on, line by line.
func (l *LineMatcher) findAlone(text []byte, from int, found func(start int) bool) {
	for at := from; at < len(text); {
		end := at + bytes.IndexByte(text[at:], '\n')
		if (l.every || l.alone.Match(text[at:end])) && !found(at) {
			return
		}
		at = end + 1
	}
}
