package search

import (
	"slices"

	"github.com/trawlsearch/trawl/query"
)

// globalContext is the search context of all repositories.
const globalContext = "global"

// maxScoped is how many basic queries contexts may make of those of a query.
const maxScoped = 1000

// scoped are the basic queries, with the filters that their search contexts stand for.
// A search that goes on keeps those that it began with, whatever was changed since.
func (r *run) scoped() ([]query.Basic, error) {
	if r.o.Bookmark.Resumed() {
		return r.o.Bookmark.basics, nil
	}
	var out []query.Basic
	for _, b := range r.q.Basics {
		name := b.Value("context")
		if name == "" || name == globalContext || r.o.Contexts == nil {
			out = append(out, b)
			continue
		}
		alternatives, err := r.o.Contexts(name)
		if err != nil {
			return nil, err
		}
		if len(alternatives) == 0 {
			return nil, &query.ContextError{Name: name}
		}
		for _, filters := range alternatives {
			out = append(out, within(b, filters))
		}
		if len(out) > maxScoped {
			return nil, &query.SyntaxError{Message: "a query with this search context has too many alternatives", Hint: "leave out an or"}
		}
	}
	return out, nil
}

// once are the filters that stand once in a query. What the query itself says goes
// before what its context says.
var once = []string{"case", "fork", "archived", "visibility"}

// within returns b with the filters of a context in place of its name.
func within(b query.Basic, filters []query.Filter) query.Basic {
	own := slices.DeleteFunc(slices.Clone(b.Filters), func(f query.Filter) bool { return f.Field == "context" })
	for _, f := range filters {
		if !slices.Contains(once, f.Field) || b.Value(f.Field) == "" {
			own = append(own, f)
		}
	}
	b.Filters = own
	return b
}
