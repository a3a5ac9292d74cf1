package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query"
)

// scanner cuts query text into leaves. It knows what a leaf looks like in one
// pattern type, and nothing of how leaves are put together.
type scanner struct {
	text string
	pt   query.PatternType
	pos  int
	// plainParens reads ( and ) in patterns as ordinary characters: the second
	// reading of a text whose parentheses stay open.
	plainParens bool
	// begin is the first character that is not white space.
	begin int
	// parens are those of the text as it stands, words those that quotes and
	// slashes do not hide from a pattern.
	parens, words *parens
}

func newScanner(text string, pt query.PatternType) *scanner {
	s := &scanner{text: text, pt: pt, parens: findParens(text, nil)}
	s.words = s.parens
	if s.slashes() && strings.ContainsAny(text, `"'/`) {
		s.words = findParens(text, s.hidden)
	}
	s.skipSpace()
	s.begin = s.pos
	return s
}

func (s *scanner) done() bool   { return s.pos >= len(s.text) }
func (s *scanner) rest() string { return s.text[s.pos:] }

// at reports whether the byte at the cursor is c.
func (s *scanner) at(c byte) bool { return !s.done() && s.text[s.pos] == c }

func (s *scanner) skipSpace() {
	s.pos = len(s.text) - len(strings.TrimLeftFunc(s.rest(), unicode.IsSpace))
}

// spaceAt returns the size of the white space character at i, 0 if there is
// none.
func spaceAt(text string, i int) int {
	r, size := utf8.DecodeRuneInString(text[i:])
	if size == 0 || !unicode.IsSpace(r) {
		return 0
	}
	return size
}

// blank reports whether c is white space of one byte: operators need it, or a
// parenthesis, on both sides.
func blank(c byte) bool { return strings.IndexByte(" \t\n\v\f\r", c) >= 0 }

// hasFold reports whether s begins with the lower-case ASCII word in any case.
func hasFold(s, word string) bool {
	return len(s) >= len(word) && strings.EqualFold(s[:len(word)], word)
}

// word reads to the next white space, or, if stopAtParen, to a parenthesis.
// With escapes a backslash keeps itself and the character after it.
func (s *scanner) word(stopAtParen, escapes bool) string {
	from := s.pos
	for !s.done() && spaceAt(s.text, s.pos) == 0 {
		c := s.text[s.pos]
		if stopAtParen && (c == '(' || c == ')') {
			break
		}
		if c == '\\' && escapes {
			s.pos++
		}
		s.rune()
	}
	return s.text[from:s.pos]
}

// rune moves over one character, if there is one.
func (s *scanner) rune() {
	_, size := utf8.DecodeRuneInString(s.rest())
	s.pos += size
}

// balanced reads to white space outside parentheses or to a ")" that closes
// nothing. It refuses, and stays where it is, when a parenthesis opened on the
// way holds a filter or an operator, or is never closed: then the parenthesis
// is no part of a word. hiding says that quotes and slashes hide what is between
// them; a parenthesis that would stay open because of them is read without.
func (s *scanner) balanced(hiding bool) (string, bool) {
	from, i := s.pos, s.pos
	if trigger(s.text[from:]) {
		return "", false
	}
	for i < len(s.text) && spaceAt(s.text, i) == 0 && s.text[i] != ')' {
		switch s.text[i] {
		case '\\':
			i++
		case '(':
			p := s.parens
			if _, closed := s.words.closing[i]; hiding && closed {
				p = s.words
			}
			closing, ok := p.plain(i)
			if !ok {
				return "", false
			}
			i = closing
		}
		_, size := utf8.DecodeRuneInString(s.text[i:])
		i += size
	}
	s.pos = i
	return s.text[from:i], true
}

// binary returns the operator at the cursor and its length.
func (s *scanner) binary(afterGroup bool) (operator, int) {
	rest := s.rest()
	if afterGroup && hasFold(rest, "or") {
		return or, 2
	}
	op, n := or, 2
	if hasFold(rest, "and") {
		op, n = and, 3
	} else if !hasFold(rest, "or") {
		return run, 0
	}
	if len(rest) == n || !blank(rest[n]) && rest[n] != '(' {
		return run, 0
	}
	if s.pos == s.begin {
		return run, 0
	}
	if before := s.text[s.pos-1]; !blank(before) && before != ')' {
		return run, 0
	}
	return op, n
}

// not reports whether the unary operator stands at the cursor. With nothing
// left to negate it is the word.
func (s *scanner) not() bool {
	rest := s.rest()
	if !hasFold(rest, "not") || len(rest) == len("not") || spaceAt(rest, len("not")) == 0 {
		return false
	}
	if s.pos > 0 {
		if before := s.text[s.pos-1]; !blank(before) && before != '(' && before != ')' {
			return false
		}
	}
	operand := strings.TrimLeftFunc(rest[len("not"):], unicode.IsSpace)
	return operand != "" && (operand[0] != ')' || s.plainParens)
}
