package syntax

import (
	"fmt"
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// ParsePatternType returns the pattern type that the request parameters v, a
// version of the query syntax, and t, a pattern type, ask for. A type overrules
// the version, whatever that is.
func ParsePatternType(v, t string) (query.PatternType, error) {
	if t != "" {
		if pt, ok := patternTypes[t]; ok && t != "regex" {
			return pt, nil
		}
		return "", fmt.Errorf("unrecognized patternType %q", t)
	}
	switch v {
	case "V1":
		return query.Regexp, nil
	case "V2":
		return query.Literal, nil
	case "V3", "":
		return query.Standard, nil
	}
	return "", fmt.Errorf(`unrecognized version: want "V1", "V2", or "V3", got %q`, v)
}

// patternTypes maps every name in use to the type that reads such a text. The
// names that differ from their type are of searches that parse alike.
var patternTypes = map[string]query.PatternType{
	"keyword":     query.Keyword,
	"standard":    query.Standard,
	"lucky":       query.Standard,
	"codycontext": query.Keyword,
	"nls":         query.Keyword,
	"literal":     query.Literal,
	"regexp":      query.Regexp,
	"regex":       query.Regexp,
	"structural":  query.Structural,
}

// effectiveType returns the type that text is to be read in: pt, unless a
// patterntype: filter names another. The filters of a text depend on the type
// itself, since in some types a quote hides them. So the text is read again in
// each type that it names, until it names no other.
func effectiveType(text string, pt query.PatternType) query.PatternType {
	for range len(patternTypes) {
		next := namedType(text, pt)
		if next == pt {
			break
		}
		pt = next
	}
	return pt
}

// namedType returns the last type named by a patterntype: filter of text, read
// in pt; pt itself if there is none.
func namedType(text string, pt query.PatternType) query.PatternType {
	if !strings.Contains(strings.ToLower(text), "patterntype") {
		return pt
	}
	found := pt
	for _, f := range filtersIn(text, pt) {
		if named, ok := patternTypes[f.Value]; ok && f.Field == "patterntype" {
			found = named
		}
	}
	return found
}

// filtersIn returns the filters of text, read in pt, in order. It looks at
// leaves only, so that a filter is found even where the parentheses make no
// sense in pt. A malformed filter ends the list.
func filtersIn(text string, pt query.PatternType) []*query.Filter {
	var found []*query.Filter
	s := newScanner(text, pt)
	for s.skipSpace(); !s.done(); s.skipSpace() {
		from := s.pos
		if s.not() {
			s.pos += len("not")
			s.skipSpace()
		} else if _, n := s.binary(false); n > 0 {
			s.pos += n
			continue
		}
		if s.at('(') {
			if _, ok := s.literalGroup(); !ok {
				s.pos++
			}
			continue
		}
		if s.at(')') {
			s.pos++
			continue
		}
		l, err := s.filter()
		if err != nil {
			return found
		}
		if l == nil {
			s.pattern()
			continue
		}
		l.filter.Span.Start = from
		found = append(found, l.filter)
	}
	return found
}
