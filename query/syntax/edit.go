package syntax

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/trawlsearch/trawl/query"
)

// WithFilter returns text with a filter added that holds for all of it, as Narrowed
// adds it.
func WithFilter(text, field, value string) string {
	return Narrowed(text, formatFilter(query.Filter{Field: field, Value: value}))
}

// Narrowed returns text with filters added that hold for all of it, as the
// facets of an answer. An "or" that they would not be lifted out of is put in
// parentheses, and settings of the whole query stay outside. The filters go
// last, unless the text ends in something that would swallow them.
func Narrowed(text, filters string) string {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return filters
	case swallows(text):
		return filters + " " + text
	case divides(text+" "+filters, query.Keyword) || divides(text+" "+filters, query.Literal):
		text, settings := withoutSettings(text)
		return "(" + text + ") " + settings + filters
	}
	return text + " " + filters
}

// withoutSettings cuts the settings that stand outside parentheses out of text, and
// returns them with a space behind each.
func withoutSettings(text string) (rest, settings string) {
	t, err := parseTree(text, effectiveType(text, query.Keyword))
	if err != nil {
		return text, ""
	}
	_, found := takeSettings(t.root, nil)
	slices.SortFunc(found, func(a, b *leaf) int { return cmp.Compare(a.span().Start, b.span().Start) })
	rest = text
	for _, l := range slices.Backward(found) {
		at := l.span()
		settings = text[at.Start:at.End] + " " + settings
		rest = cut(rest[:at.Start], rest[at.End:])
	}
	return strings.TrimSpace(rest), settings
}

// swallows reports whether the end of text means something else once more text
// follows: a backslash, or a word that becomes an operator.
func swallows(text string) bool {
	if strings.HasSuffix(text, `\`) {
		return true
	}
	_, operator := trailingOperator(text)
	return operator || strings.EqualFold(text[strings.LastIndexFunc(text, unicode.IsSpace)+1:], "not")
}

// divides reports whether the last leaf of text, read in pt, holds only for a
// part of it. Parentheses that do not close cannot be helped by more of them.
func divides(text string, pt query.PatternType) bool {
	if len(text) > maxTextBytes {
		return false
	}
	s := newScanner(text, pt)
	t, err := (&parser{scanner: s, groupEnd: -1}).parse()
	if err != nil {
		return false
	}
	root := hoist(t)
	var last *leaf
	for _, l := range leaves(root, nil) {
		if last == nil || l.span().Start > last.span().Start {
			last = l
		}
	}
	return inOr(root, last)
}

// inOr reports whether l stands below an "or" of n.
func inOr(n node, l *leaf) bool {
	b, ok := n.(*branch)
	if !ok {
		return false
	}
	return slices.ContainsFunc(b.kids, func(k node) bool {
		return inOr(k, l) || b.op == or && slices.Contains(leaves(k, nil), l)
	})
}

// WithoutFilter returns text, read in pt, without the filters of one field,
// given by its canonical name. An operator that loses its operand goes with it.
func WithoutFilter(text string, pt query.PatternType, field string) string {
	if len(text) > maxTextBytes {
		return text
	}
	for _, f := range slices.Backward(filtersIn(text, effectiveType(text, pt))) {
		if f.Field == field {
			text = cut(text[:f.Span.Start], text[f.Span.End:])
		}
	}
	return strings.TrimSpace(text)
}

// cut joins what stands before and after a filter. If other leaves stand
// beside the filter that is all; if not, an operator on one side goes too, or
// the parentheses, which may then leave another operator without its operand.
func cut(before, after string) string {
	for {
		left, right := strings.TrimSpace(before), strings.TrimSpace(after)
		shorter, trailing := trailingOperator(left)
		rest, leading := leadingOperator(right)
		opens, closes := strings.HasSuffix(left, "("), strings.HasPrefix(right, ")")
		first, last := left == "" || trailing || opens, right == "" || leading || closes
		switch {
		case first && last && trailing:
			before = shorter
		case first && last && leading:
			after = rest
		case opens && closes:
			before, after = left[:len(left)-1], right[1:]
			continue
		}
		return together(before, after)
	}
}

// together joins the text before and behind a filter that was cut out, with one space
// between them but at an end or a parenthesis.
func together(before, after string) string {
	before = strings.TrimRightFunc(before, unicode.IsSpace)
	after = strings.TrimLeftFunc(after, unicode.IsSpace)
	if before == "" || after == "" || strings.HasSuffix(before, "(") || after[0] == ')' {
		return before + after
	}
	return before + " " + after
}

func trailingOperator(text string) (shorter string, ok bool) {
	i := strings.LastIndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == ')' })
	if i < 0 || !isOperator(text[i+1:]) {
		return text, false
	}
	return text[:i+1], true
}

func leadingOperator(text string) (rest string, ok bool) {
	i := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '(' })
	if i < 0 || !isOperator(text[:i]) {
		return text, false
	}
	return text[i:], true
}

func isOperator(word string) bool {
	return strings.EqualFold(word, "and") || strings.EqualFold(word, "or")
}
