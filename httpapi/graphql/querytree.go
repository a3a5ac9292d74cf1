package graphql

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// queryTree shows a parsed query as text.
type queryTree struct {
	// spans adds where in the text each part stands.
	spans bool
}

// json writes one object for each basic query.
func (t queryTree) json(q *query.Query) (string, error) {
	basics := make([]any, len(q.Basics))
	for i, b := range q.Basics {
		parts := []any{}
		for _, f := range b.Filters {
			parts = append(parts, t.filter(f))
		}
		if b.Pattern != nil {
			parts = append(parts, t.node(b.Pattern))
		}
		basics[i] = map[string]any{"and": parts}
	}
	text, err := json.MarshalIndent(basics, "", "  ")
	return string(text), err
}

func (t queryTree) filter(f query.Filter) any {
	out := map[string]any{"field": f.Field, "value": f.Value, "negated": f.Negated}
	if f.Predicate != nil {
		out["predicate"] = map[string]any{"name": f.Predicate.Name, "argument": f.Predicate.Arg}
	}
	t.place(out, f.Span)
	return out
}

func (t queryTree) place(out map[string]any, span query.Span) {
	if t.spans {
		out["start"], out["end"] = span.Start, span.End
	}
}

func (t queryTree) node(n query.Node) any {
	switch n := n.(type) {
	case *query.And:
		return map[string]any{"and": t.nodes(n.Children)}
	case *query.Or:
		return map[string]any{"or": t.nodes(n.Children)}
	case *query.Not:
		return map[string]any{"not": t.node(n.Child)}
	case *query.Pattern:
		out := map[string]any{"value": n.Value, "regexp": n.IsRegexp}
		if n.Quoted {
			out["quoted"] = true
		}
		if n.FromContent {
			out["field"] = "content"
		}
		t.place(out, n.Span)
		return out
	}
	return n.String()
}

func (t queryTree) nodes(children []query.Node) []any {
	out := make([]any, len(children))
	for i, c := range children {
		out[i] = t.node(c)
	}
	return out
}

// sexp writes each basic query as a list in parentheses.
func (queryTree) sexp(q *query.Query) string {
	parts := make([]string, len(q.Basics))
	for i, b := range q.Basics {
		parts[i] = b.String()
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "(or " + strings.Join(parts, " ") + ")"
}

// mermaid writes a flow chart, a box for each part.
func (t queryTree) mermaid(q *query.Query) string {
	m := &chart{}
	root := m.box("or")
	for _, b := range q.Basics {
		at := m.box("and")
		m.arrow(root, at)
		for _, f := range b.Filters {
			m.arrow(at, m.box(f.String()))
		}
		if b.Pattern != nil {
			m.arrow(at, m.node(b.Pattern))
		}
	}
	return "flowchart TB\n" + m.text.String()
}

// chart is a flow chart being written.
type chart struct {
	text  strings.Builder
	boxes int
}

// chartQuote is how Mermaid writes what would end a text or begin markup.
var chartQuote = strings.NewReplacer(`"`, "#quot;", "#", "#35;", "<", "#lt;", ">", "#gt;", "\n", " ")

func (c *chart) box(label string) int {
	c.boxes++
	fmt.Fprintf(&c.text, "%d[\"%s\"]\n", c.boxes, chartQuote.Replace(label))
	return c.boxes
}

func (c *chart) arrow(from, to int) { fmt.Fprintf(&c.text, "%d---%d\n", from, to) }

func (c *chart) node(n query.Node) int {
	switch n := n.(type) {
	case *query.And:
		return c.inner("and", n.Children...)
	case *query.Or:
		return c.inner("or", n.Children...)
	case *query.Not:
		return c.inner("not", n.Child)
	}
	return c.box(n.String())
}

func (c *chart) inner(label string, children ...query.Node) int {
	at := c.box(label)
	for _, child := range children {
		c.arrow(at, c.node(child))
	}
	return at
}
