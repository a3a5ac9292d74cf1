package manage

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store/saved"
)

// contextFields are the filters that the query of a context may have, and
// contextPredicates the predicates of repo:.
var (
	contextFields     = []string{"repo", "rev", "fork", "archived", "visibility", "case", "file", "lang"}
	contextPredicates = []string{"has", "has.tag", "has.key", "has.meta", "has.topic", "has.description"}
)

// contextFilters reads the query of a context: filters that all hold.
func contextFilters(text string) ([]query.Filter, error) {
	if len(text) > maxContextText {
		return nil, refuse("the query of a search context has at most %d bytes", maxContextText)
	}
	q, err := syntax.Parse(text, query.Regexp)
	if err != nil {
		return nil, refuse("%s", err.Error())
	}
	if len(q.Basics) != 1 {
		return nil, refuse("unsupported operator in search context query: its filters all hold")
	}
	b := q.Basics[0]
	if b.Pattern != nil {
		return nil, refuse("unsupported pattern in search context query: %q", query.Shorten(b.Pattern.String()))
	}
	for _, f := range b.Filters {
		switch {
		case !slices.Contains(contextFields, f.Field):
			return nil, refuse("unsupported field in search context query: %q", f.Field)
		case f.Predicate != nil && (f.Field != "repo" || !slices.Contains(contextPredicates, f.Predicate.Name)):
			return nil, refuse("unsupported repo field predicate in search context query: %q", f.Predicate.Name)
		case f.Predicate == nil && f.Field == "repo" && !f.Negated:
			if _, revs, _ := query.SplitRepoRevs(f.Value); slices.ContainsFunc(revs, func(rev string) bool { return strings.Contains(rev, "*") }) {
				return nil, refuse("unsupported rev glob in search context query: %q", query.Shorten(f.Value))
			}
		}
	}
	if len(b.Filters) == 0 {
		return nil, refuse("the query is empty")
	}
	for i := range b.Filters {
		b.Filters[i].Span = query.Span{} // that of another text
	}
	return b.Filters, nil
}

// Resolve returns what a context stands for in a query of the actor: alternatives of
// filters that all hold, none for a context that the actor may not see. Repositories of
// a list that they may not see are left out, as if it did not name them.
func (c *Contexts) Resolve(spec string) ([][]query.Filter, error) {
	v, err := c.Find(spec)
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if v.Query != "" {
		filters, err := contextFilters(v.Query)
		if err != nil {
			return nil, &query.SyntaxError{Message: "the query of the search context is not valid any more: " + err.Error()}
		}
		return [][]query.Filter{filters}, nil
	}
	return c.listed(v)
}

// listed are the filters of a list: one alternative for all repositories with the same
// revisions. Forks and archived repositories that are listed are searched, too.
func (c *Contexts) listed(v *saved.Context) (out [][]query.Filter, err error) {
	sn := c.Store.Snapshot()
	defer func() { err = errors.Join(err, sn.Close()) }()
	names := map[string][]string{}
	var lists []string
	for _, r := range v.Repositories {
		at := sn.RepositoryByID(r.ID)
		if at == nil || !c.Actor.CanSee(at) {
			continue
		}
		list := revisionList(r)
		if names[list] == nil {
			lists = append(lists, list)
		}
		names[list] = append(names[list], strings.ReplaceAll(regexp.QuoteMeta(at.Name), "@", `\x40`))
	}
	if len(lists) == 0 {
		lists, names[""] = []string{""}, []string{`\b\B`} // which no name matches
	}
	for _, list := range lists {
		value := "^(?:" + strings.Join(names[list], "|") + ")$"
		if list != "" {
			value += "@" + list
		}
		out = append(out, []query.Filter{
			{Field: "repo", Value: value}, {Field: "fork", Value: "yes"}, {Field: "archived", Value: "yes"},
		})
	}
	return out, nil
}
