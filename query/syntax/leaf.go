package syntax

import (
	"errors"
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// filter reads the filter at the cursor, if there is one. Text right after a
// quoted value or a predicate call begins the next leaf.
func (s *scanner) filter() (*leaf, error) {
	field, n := fieldAt(s.rest())
	if field == nil {
		return nil, nil
	}
	from := s.pos
	typed := strings.TrimSuffix(s.text[from:from+n], ":")
	f := &query.Filter{Field: field.name, Negated: typed[0] == '-'}
	typed = strings.TrimPrefix(typed, "-")
	s.pos += n
	switch {
	case s.at('"') || s.at('\''):
		value, n, err := delimited(s.rest(), true)
		if err != nil {
			return nil, moved(err, s.pos)
		}
		f.Value, f.Quoted = value, true
		s.pos += n
	case s.predicate(field, typed, f):
	default:
		value, ok := s.balanced(false)
		if !ok {
			value = s.word(true, true)
		}
		f.Value = value
	}
	f.Span = query.Span{Start: from, End: s.pos}
	return &leaf{filter: f, typed: typed}, nil
}

// predicate reads name(argument) at the cursor into f if the field has a
// predicate of that name. Only the canonical name and its aliases in lower case
// have any.
func (s *scanner) predicate(field *field, typed string, f *query.Filter) bool {
	if typed != strings.ToLower(typed) {
		return false
	}
	i := s.pos
	for i < len(s.text) && (letter(s.text[i]) || s.text[i] == '.') {
		i++
	}
	name := s.text[s.pos:i]
	if i == len(s.text) || s.text[i] != '(' || !field.takes(name) {
		return false
	}
	closing, ok := s.parens.closing[i]
	if !ok {
		return false
	}
	f.Value = s.text[s.pos : closing+1]
	f.Predicate = &query.Predicate{Name: name, Arg: s.text[i+1 : closing]}
	s.pos = closing + 1
	return true
}

// pattern reads the pattern at the cursor, which is not at white space.
func (s *scanner) pattern() *leaf {
	from := s.pos
	p := &query.Pattern{IsRegexp: s.pt == query.Regexp}
	if !s.delimitedPattern(p) {
		p.Value = s.plainPattern()
	}
	p.Span = query.Span{Start: from, End: s.pos}
	return &leaf{pattern: p}
}

// delimitedPattern reads "…", '…' or /…/ where the pattern type has them. The
// string must be closed and stand alone; if not, its delimiters are ordinary
// characters.
func (s *scanner) delimitedPattern(p *query.Pattern) bool {
	value, n := s.delimitedAt(s.pos)
	if n == 0 {
		return false
	}
	p.Value, p.Quoted = value, s.text[s.pos] != '/'
	p.IsRegexp = !p.Quoted
	if value == "" && p.IsRegexp {
		p.Value, p.IsRegexp = "//", false
	}
	s.pos += n
	return true
}

// delimitedAt returns the text of the string in quotes or slashes that stands
// alone at i, and the length read, 0 if there is none.
func (s *scanner) delimitedAt(i int) (value string, n int) {
	if i == len(s.text) {
		return "", 0
	}
	switch s.text[i] {
	case '"', '\'':
		if !s.quotes() {
			return "", 0
		}
	case '/':
		if !s.slashes() {
			return "", 0
		}
	default:
		return "", 0
	}
	value, n, err := delimited(s.text[i:], false)
	if err != nil {
		return "", 0
	}
	if next := i + n; next < len(s.text) && s.text[next] != ')' && spaceAt(s.text, next) == 0 {
		return "", 0
	}
	return value, n
}

// hidden returns the length of what quotes or slashes hide at i.
func (s *scanner) hidden(i int) int {
	_, n := s.delimitedAt(i)
	return n
}

func (s *scanner) quotes() bool { return s.pt == query.Keyword || s.pt == query.Regexp }

func (s *scanner) slashes() bool { return s.quotes() || s.pt == query.Standard }

func (s *scanner) plainPattern() string {
	re := s.pt == query.Regexp
	if !s.plainParens {
		if text, ok := s.balanced(true); ok {
			return text
		}
		return s.word(re, re)
	}
	return s.word(false, re)
}

// literalGroup reads a parenthesis at the cursor as part of a pattern, which
// every type but keyword tries before grouping.
func (s *scanner) literalGroup() (*leaf, bool) {
	if s.pt == query.Keyword {
		return nil, false
	}
	from := s.pos
	text, ok := s.balanced(true)
	if !ok {
		return nil, false
	}
	return &leaf{pattern: &query.Pattern{
		Value: text, IsRegexp: s.pt == query.Regexp, Span: query.Span{Start: from, End: s.pos},
	}}, true
}

// moved shifts the span of an error found in a part of the text that begins at
// by.
func moved(err error, by int) error {
	var e *query.SyntaxError
	if errors.As(err, &e) {
		e.Span.Start += by
		e.Span.End += by
	}
	return err
}
