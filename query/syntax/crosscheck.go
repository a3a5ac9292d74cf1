package syntax

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/query"
)

// crossCheck judges how the filters of a basic query go together.
func crossCheck(b query.Basic, pt query.PatternType) error {
	for _, check := range []func(query.Basic) error{checkRevs, checkRepoHasFile, checkCommitFilters} {
		if err := check(b); err != nil {
			return err
		}
	}
	if pt == query.Structural && b.Pattern != nil {
		if err := checkStructural(b); err != nil {
			return err
		}
	}
	return checkIndexedGlobs(b)
}

// checkRevs sees that rev: has a repo: to go with, and only one way of naming
// revisions.
func checkRevs(b query.Basic) error {
	revs := b.Values("rev")
	if len(revs) == 0 {
		return nil
	}
	repos := b.Values("repo")
	for _, f := range repos {
		if !f.Negated && f.Predicate == nil && strings.Contains(f.Value, "@") {
			return &query.SyntaxError{
				Message: "invalid syntax. You specified both @ and rev: for a repo: filter and I don't know how to interpret this. " +
					"Remove either @ or rev: and try again",
				Span: f.Span,
				Hint: f.String(),
			}
		}
	}
	rev := revs[0]
	switch {
	case len(repos) == 0:
		return &query.SyntaxError{
			Message: "invalid syntax. The query contains `rev:` without `repo:`. Add a `repo:` filter and try again",
			Span:    rev.Span,
			Hint:    "repo:name " + rev.String(),
		}
	case repos[len(repos)-1].Value == "":
		return &query.SyntaxError{
			Message: "invalid syntax. The query contains `rev:` but `repo:` is empty. Add a non-empty `repo:` filter and try again",
			Span:    rev.Span,
			Hint:    "repo:name " + rev.String(),
		}
	}
	return nil
}

func checkRepoHasFile(b query.Basic) error {
	filters := b.Values("repohasfile")
	if len(filters) == 0 || !slices.Contains(types(b), "symbol") {
		return nil
	}
	return &query.SyntaxError{
		Message: "repohasfile is not compatible for type:symbol. " +
			"Subscribe to https://github.com/sourcegraph/sourcegraph/issues/4610 for updates",
		Span: filters[0].Span,
		Hint: "repo:has.path(" + filters[0].Value + ")",
		Fix:  "repo:has.path(" + filters[0].Value + ")",
	}
}

// checkCommitFilters sees that filters on commits have commits to filter.
func checkCommitFilters(b query.Basic) error {
	for _, t := range types(b) {
		if t == "commit" || t == "diff" {
			return nil
		}
	}
	for _, f := range slices.Backward(b.Filters) {
		switch f.Field {
		case "author", "before", "after", "message":
			return &query.SyntaxError{
				Message: fmt.Sprintf("your query contains the field '%s', which requires type:commit or type:diff in the query", f.Field),
				Span:    f.Span,
				Hint:    "type:commit " + f.String(),
				Fix:     "type:commit " + formatFilter(f),
			}
		}
	}
	return nil
}

func checkStructural(b query.Basic) error {
	filters := b.Values("type")
	if len(filters) == 0 {
		return nil
	}
	e := &query.SyntaxError{
		Message: "this structural search query specifies `type:` and is not supported. " +
			"Structural search syntax only applies to searching file contents",
		Span: filters[0].Span,
		Hint: "remove " + filters[0].String(),
	}
	if slices.Contains(types(b), "diff") {
		e.Message += " and is not currently supported for diff searches"
	}
	return e
}

// checkIndexedGlobs refuses revisions that only git can list where only the
// index may be asked. Globs given through rev: are not looked at here; such a
// search then finds nothing indexed.
func checkIndexedGlobs(b query.Basic) error {
	index := b.Value("index")
	if v, err := query.ParseYesNoOnly(index); err != nil || v != query.Only {
		return nil
	}
	for _, f := range b.Values("repo") {
		if f.Negated || f.Predicate != nil {
			continue
		}
		_, revs, _ := query.SplitRepoRevs(f.Value)
		if slices.ContainsFunc(revs, isGlob) {
			return &query.SyntaxError{
				Message: fmt.Sprintf("invalid index:%s (revisions with glob pattern cannot be resolved for indexed searches)", index),
				Span:    f.Span,
				Hint:    "index:yes",
			}
		}
	}
	return nil
}

// types returns the values of the type: filters.
func types(b query.Basic) []string {
	var out []string
	for _, f := range b.Values("type") {
		out = append(out, f.Value)
	}
	return out
}
