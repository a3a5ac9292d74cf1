package syntax

import (
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// Format prints q so that Parse(Format(q), q.PatternType) has the same basic
// queries. Not every pattern can be written in every type, so the text is in
// the keyword language, which has quotes for any text, and says so in a
// patterntype: filter if q is of another type. Queries of type regexp stay in
// theirs. A structural query, whose language has no quotes at all, prints as it
// was typed. For a text that people will read, edit what they typed instead:
// see WithFilter.
func Format(q *query.Query) string {
	if q.PatternType == query.Structural {
		return q.Text
	}
	f := formatter{pt: query.Keyword}
	if q.PatternType == query.Regexp {
		f.pt = query.Regexp
	}
	var parts []string
	for i, b := range q.Basics {
		say := i == 0 && f.pt != q.PatternType && anyTyped(q.Basics)
		text, composite := f.basic(b, say)
		if composite && len(q.Basics) > 1 {
			text = f.group(text)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " or ")
}

// anyTyped reports whether a pattern reads differently in different types.
func anyTyped(basics []query.Basic) bool {
	found := false
	for _, b := range basics {
		query.VisitPatterns(b.Pattern, func(p *query.Pattern, _ bool) { found = found || !p.FromContent || p.IsRegexp })
	}
	return found
}

// formatter prints in one of the two types that can write every pattern.
type formatter struct{ pt query.PatternType }

// basic prints a basic query. composite reports whether it needs parentheses
// in a union.
func (f formatter) basic(b query.Basic, sayType bool) (text string, composite bool) {
	var parts []string
	if sayType || len(b.Values("patterntype")) > 0 {
		parts = append(parts, "patterntype:"+string(f.pt))
	}
	for _, filter := range uncopied(b) {
		if filter.Field != "patterntype" {
			parts = append(parts, formatFilter(filter))
		}
	}
	if b.Pattern != nil {
		pattern := f.node(b.Pattern)
		if _, ok := b.Pattern.(*query.Or); ok && len(parts) > 0 {
			pattern = f.group(pattern)
		}
		parts = append(parts, pattern)
	}
	_, and := b.Pattern.(*query.And)
	return strings.Join(parts, " "), and || len(parts) > 1
}

// uncopied returns the filters of b as they are to be printed. Glob revisions
// pass beside index:only only if they came through rev:, so there they go
// back to it.
func uncopied(b query.Basic) []query.Filter {
	if checkIndexedGlobs(b) == nil {
		return b.Filters
	}
	var out []query.Filter
	rev := query.Filter{Field: "rev"}
	for _, f := range b.Filters {
		if f.Field == "repo" && !f.Negated && f.Predicate == nil {
			f.Value, rev.Value, _ = strings.Cut(f.Value, "@")
		}
		out = append(out, f)
	}
	return append(out, rev)
}

func (f formatter) node(n query.Node) string {
	switch n := n.(type) {
	case *query.And:
		return f.list(n.Children, " and ")
	case *query.Or:
		return f.list(n.Children, " or ")
	case *query.Not:
		p := n.Child.(*query.Pattern)
		if p.FromContent {
			return "-" + f.pattern(p)
		}
		return "not " + f.pattern(p)
	case *query.Pattern:
		return f.pattern(n)
	}
	panic("syntax: a parsed query holds no such node")
}

func (f formatter) list(children []query.Node, op string) string {
	parts := make([]string, len(children))
	for i, c := range children {
		parts[i] = f.node(c)
		if _, ok := c.(*query.Or); ok || liftable(c) {
			parts[i] = f.group(parts[i])
		}
	}
	return strings.Join(parts, op)
}

// liftable reports whether n is an and with a content: pattern, which is
// written as a filter and would be lifted as one out of an or around it that
// has no parentheses.
func liftable(n query.Node) bool {
	a, ok := n.(*query.And)
	return ok && slices.ContainsFunc(a.Children, func(c query.Node) bool {
		if not, ok := c.(*query.Not); ok {
			c = not.Child
		}
		p, ok := c.(*query.Pattern)
		return ok && p.FromContent
	})
}

// group puts parentheses around an expression. In a regexp query a parenthesis
// is text unless a filter or an operator shows that it groups, and one inside
// quotes may hide the operator; the empty filter, which means nothing, shows it
// at once.
func (f formatter) group(text string) string {
	if f.pt == query.Regexp && strings.ContainsAny(text, `()\`) {
		return `(content:"" ` + text + ")"
	}
	return "(" + text + ")"
}

func (f formatter) pattern(p *query.Pattern) string {
	switch {
	case p.FromContent && p.IsRegexp:
		return "content:" + p.Value
	case p.FromContent:
		return "content:" + escape(p.Value, '"')
	case p.IsRegexp:
		return escapeRegexp(p.Value)
	case !p.Quoted && f.pt == query.Keyword && plainWord(p.Value):
		return p.Value
	}
	return escape(p.Value, '"')
}

// escapeRegexp writes a regexp between slashes. A backslash needs a second one
// only where the two would otherwise be read as something else.
func escapeRegexp(re string) string {
	var b strings.Builder
	b.WriteByte('/')
	for i := 0; i < len(re); i++ {
		switch {
		case re[i] == '/':
			b.WriteByte('\\')
		case re[i] == '\\' && (i+1 == len(re) || strings.IndexByte(`\/nrt`, re[i+1]) >= 0):
			b.WriteByte('\\')
		}
		b.WriteByte(re[i])
	}
	b.WriteByte('/')
	return b.String()
}

// plainWord reports whether a keyword query reads value, among other words,
// as the term it is.
func plainWord(value string) bool {
	switch strings.ToLower(value) {
	case "", "and", "or", "not":
		return false
	}
	if strings.IndexByte(`"'/(`, value[0]) >= 0 {
		return false
	}
	if field, _ := fieldAt(value); field != nil || hasFold(value, "and(") || hasFold(value, "or(") {
		return false
	}
	s := newScanner(value+" x", query.Keyword)
	text, ok := s.balanced(true)
	return ok && text == value
}

// formatFilter prints a filter so that it reads back, quoting its value only
// if it must.
func formatFilter(f query.Filter) string {
	head := f.Field + ":"
	if f.Negated {
		head = "-" + head
	}
	if f.Predicate != nil {
		return head + f.Predicate.Name + "(" + f.Predicate.Arg + ")"
	}
	s := newScanner(head+f.Value+" x", query.Keyword)
	l, err := s.filter()
	if err == nil && l != nil && l.filter.Value == f.Value && !l.filter.Quoted && l.filter.Predicate == nil && f.Value != "" {
		return head + f.Value
	}
	return head + escape(f.Value, '"')
}
