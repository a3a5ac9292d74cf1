package search

import (
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/target"
)

// newFacetScope reads the scope of a query's parts.
func newFacetScope(text string, basics []*target.Query) report.FacetScope {
	s := report.FacetScope{}
	for i, b := range basics {
		var types []string
		for _, f := range b.Values("type") {
			if !slices.Contains(types, f.Value) {
				types = append(types, f.Value)
			}
		}
		if slices.Contains(types, "diff") {
			types = slices.DeleteFunc(types, func(t string) bool { return t == "commit" })
		}
		only := strings.Join(types, " ")
		s.ManyTypes = s.ManyTypes || len(types) > 1 || i > 0 && only != s.OnlyType
		s.OnlyType = only
		s.Negated = s.Negated || slices.ContainsFunc(b.Atoms, func(a *compile.Atom) bool { return a.Negated })
		s.Selects = s.Selects || b.Select != nil
		s.SelectsDirectories = s.SelectsDirectories || len(b.Select) > 1 && b.Select[0] == "file" && b.Select[1] != "path"
		s.CaseMixed = s.CaseMixed || i > 0 && b.CaseSensitive != s.CaseSensitive
		s.CaseSensitive = b.CaseSensitive
		s.AnyRevision = s.AnyRevision || namesRevisions(text, b.Basic)
	}
	return s
}

// namesRevisions reports whether b names revisions in a way that a name behind an
// @ cannot narrow: by rev:, which is copied behind the names of repositories, or
// by a list that is no list of names.
func namesRevisions(text string, b query.Basic) bool {
	for _, f := range b.Values("repo") {
		if f.Negated || f.Predicate != nil {
			continue
		}
		_, revs, hasRevs := query.SplitRepoRevs(f.Value)
		if hasRevs && f.Span.End <= len(text) && !strings.Contains(text[f.Span.Start:f.Span.End], "@") {
			return true
		}
		for _, rev := range revs {
			if rev[0] == '*' || rev[0] == '^' || strings.ContainsAny(rev, "«\"' ()\\") {
				return true
			}
		}
	}
	return false
}
