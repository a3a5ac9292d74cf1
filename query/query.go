package query

import (
	"strconv"
	"strings"
	"unicode"
)

// Query is a whole parsed and validated query text: the union of its basic
// queries.
type Query struct {
	// Text is what the user typed.
	Text        string
	PatternType PatternType
	// Basics are searched in order and their answers merged.
	Basics []Basic
	// Warnings are parts of Text that may not mean what they were meant to.
	Warnings []Warning
}

// Basic is a list of filters, all of which hold, and at most one pattern
// expression.
type Basic struct {
	Filters []Filter
	// Pattern is nil when the query consists of filters only.
	Pattern Node
	// Phrase is the literal that a keyword query ranks higher, empty if none.
	Phrase string
}

// Filter is one field:value of the query text, with aliases resolved.
type Filter struct {
	// Field is the canonical lower-case name, such as "repo" or "file".
	Field   string
	Value   string
	Negated bool
	Quoted  bool
	// Predicate is set when the value is a call such as has.path(x).
	Predicate *Predicate
	Span      Span
}

// Predicate is a named test with its raw argument.
type Predicate struct{ Name, Arg string }

// Test is the test that the name stands for: that of contains.x is has.x, and that of
// contains is has.file.
func (p Predicate) Test() string {
	if p.Name == "contains" {
		return "has.file"
	}
	return strings.Replace(p.Name, "contains.", "has.", 1)
}

// String prints the filter for people and tests, quoting a value that holds
// white space, unless that stands in the argument of a predicate. Text that
// parses again comes from query/syntax.
func (f Filter) String() string {
	v := f.Value
	if f.Predicate == nil && strings.IndexFunc(v, unicode.IsSpace) >= 0 {
		v = strconv.Quote(v)
	}
	s := f.Field + ":" + v
	if f.Negated {
		return "-" + s
	}
	return s
}

// Values returns the filters of one field, negated ones included.
func (b Basic) Values(field string) []Filter {
	var out []Filter
	for _, f := range b.Filters {
		if f.Field == field {
			out = append(out, f)
		}
	}
	return out
}

// Value returns the value of a field that may stand only once, or "".
func (b Basic) Value(field string) string {
	for _, f := range b.Filters {
		if f.Field == field {
			return f.Value
		}
	}
	return ""
}

// String prints the basic query as an s-expression; nothing at all prints as
// (and).
func (b Basic) String() string {
	var parts []string
	for _, f := range b.Filters {
		parts = append(parts, f.String())
	}
	if b.Pattern != nil {
		parts = append(parts, b.Pattern.String())
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "(and " + strings.Join(parts, " ") + ")"
}
