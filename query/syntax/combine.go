package syntax

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// combiner replaces every run of the tree by what its pattern type means by
// writing patterns side by side. content: filters become patterns on the way;
// they are never joined with a neighbour.
type combiner struct{ pt query.PatternType }

func (c combiner) node(n node) (node, error) {
	b, ok := n.(*branch)
	if !ok {
		return c.leaf(n.(*leaf)), nil
	}
	if b.op == run {
		return c.run(b)
	}
	kids, err := c.nodes(b.kids)
	if err != nil {
		return nil, err
	}
	return join(b.op, kids), nil
}

func (c combiner) nodes(kids []node) ([]node, error) {
	out := make([]node, len(kids))
	for i, k := range kids {
		n, err := c.node(k)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

func (c combiner) leaf(l *leaf) node {
	if l.pattern != nil {
		return c.single(l)
	}
	if l.filter.Field != "content" {
		return l
	}
	f := l.filter
	return &leaf{negated: f.Negated, pattern: &query.Pattern{
		Value:       f.Value,
		IsRegexp:    c.pt == query.Regexp && !f.Quoted,
		Quoted:      f.Quoted,
		FromContent: true,
		Span:        f.Span,
	}}
}

// single is a pattern that stands alone.
func (c combiner) single(l *leaf) node {
	p := *l.pattern
	switch {
	case c.pt == query.Regexp && p.IsRegexp:
		p.Value = escapeParens(p.Value)
	case c.pt == query.Structural:
		p.Value = strings.ReplaceAll(p.Value, "...", ":[_]")
	}
	return &leaf{pattern: &p, negated: l.negated}
}

func (c combiner) run(b *branch) (node, error) {
	var filters, contents, rest []node
	for _, k := range b.kids {
		l, ok := k.(*leaf)
		switch {
		case !onlyFilters(k):
			rest = append(rest, k)
		case !ok:
			group, err := c.node(k)
			if err != nil {
				return nil, err
			}
			filters = append(filters, group)
		case l.filter.Field == "content":
			contents = append(contents, c.leaf(l))
		default:
			filters = append(filters, l)
		}
	}
	joined, err := c.side(rest)
	if err != nil {
		return nil, err
	}
	return join(and, append(append(filters, contents...), joined...)), nil
}

// onlyFilters reports whether n is a filter or a group that holds no pattern.
// Such a group stands beside terms as a filter does.
func onlyFilters(n node) bool {
	return !slices.ContainsFunc(leaves(n, nil), func(l *leaf) bool { return l.filter == nil })
}

// side combines patterns and groups that stand side by side into the operands
// of an "and".
func (c combiner) side(rest []node) ([]node, error) {
	if c.pt == query.Keyword || len(rest) < 2 {
		return c.nodes(rest)
	}
	if err := c.refuseGroups(rest); err != nil {
		return nil, err
	}
	if first, ok := rest[0].(*leaf); ok && first.negated {
		return c.nodes(rest)
	}
	var out []node
	for len(rest) > 0 {
		n := 0
		for n < len(rest) && c.joins(rest[n]) {
			n++
		}
		if n > 1 {
			k, err := c.joined(rest[:n])
			if err != nil {
				return nil, err
			}
			out = append(out, k)
			rest = rest[n:]
			continue
		}
		k, err := c.node(rest[0])
		if err != nil {
			return nil, err
		}
		out = append(out, k)
		rest = rest[1:]
	}
	return out, nil
}

// refuseGroups keeps the types that read parentheses as text from guessing what
// an expression of patterns beside a plain term means.
func (c combiner) refuseGroups(rest []node) error {
	if c.pt != query.Standard && c.pt != query.Literal {
		return nil
	}
	if !slices.ContainsFunc(rest, func(k node) bool { _, ok := k.(*leaf); return ok }) {
		return nil
	}
	for _, k := range rest {
		if b, ok := k.(*branch); ok && b.op != run {
			return groupBesideTerm(b.span)
		}
	}
	return nil
}

// joins reports whether n becomes part of its neighbour's text.
func (c combiner) joins(n node) bool {
	l, ok := n.(*leaf)
	return ok && l.pattern != nil && !l.negated && !(c.pt == query.Standard && l.pattern.IsRegexp)
}

// joined makes one pattern of several: words with one space between them, or
// regular expressions that follow each other on a line.
func (c combiner) joined(kids []node) (node, error) {
	p := &query.Pattern{IsRegexp: c.pt == query.Regexp, Span: query.Span{Start: start(kids[0]), End: end(kids[len(kids)-1])}}
	values := make([]string, len(kids))
	for i, k := range kids {
		part := c.single(k.(*leaf)).(*leaf).pattern
		values[i] = part.Value
		if p.IsRegexp && !part.IsRegexp {
			values[i] = regexp.QuoteMeta(part.Value)
		}
	}
	p.Value = strings.Join(values, " ")
	if p.IsRegexp {
		p.Value = "(?:" + strings.Join(values, ").*?(?:") + ")"
		if err := brokenPart(values, p); err != nil {
			return nil, err
		}
	}
	return &leaf{pattern: p}, nil
}

// brokenPart is the error of the first part of a pattern that does not compile: people
// wrote the part, not the pattern.
func brokenPart(parts []string, p *query.Pattern) error {
	if checkRegexp(p.Value, "") == nil {
		return nil
	}
	var first *query.SyntaxError
	fixed := true
	for i, part := range parts {
		var e *query.SyntaxError
		if errors.As(checkRegexp(part, ""), &e) {
			if first == nil {
				first = e
			}
			part, fixed = e.Fix, fixed && e.Fix != ""
		}
		parts[i] = escapeRegexp(part)
	}
	if first == nil {
		return nil
	}
	if first.Span, first.Fix = p.Span, ""; fixed {
		first.Fix = strings.Join(parts, " ")
	}
	return first
}

// escapeParens lets people type a call without escaping: an empty pair and a
// "(" at the end are text.
func escapeParens(re string) string {
	var b strings.Builder
	for i := 0; i < len(re); i++ {
		switch {
		case re[i] == '\\' && i+1 < len(re):
			b.WriteByte('\\')
			i++
			b.WriteByte(re[i])
		case strings.HasPrefix(re[i:], "()"):
			b.WriteString(`\(\)`)
			i++
		case re[i] == '(' && i+1 == len(re):
			b.WriteString(`\(`)
		default:
			b.WriteByte(re[i])
		}
	}
	return b.String()
}
