package search

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
)

// searchNames returns the repositories whose names match one of the basic
// queries, once for each revision and in listing order; most are enough. When ctx ends
// it returns what it found until then.
func searchNames(ctx context.Context, t *task.Task, queries []*target.Query, most int) ([]query.Match, error) {
	if err := ctx.Err(); err != nil && t.Visible.Len() > 0 {
		return nil, err
	}
	matchers := make([][]*match.Matcher, len(queries))
	var sets []*target.Repositories
	for i, b := range queries {
		var ok bool
		if matchers[i], ok = nameMatchers(b); !ok {
			matchers[i] = nil
			continue
		}
		sets = append(sets, mayMatch(t, b))
	}
	if len(sets) == 0 {
		return nil, nil
	}
	var out []query.Match
	for r := range target.Union(t, sets) {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		var found []*query.RepoMatch
		for i, b := range queries {
			if matchers[i] == nil {
				continue
			}
			t := b.Repositories.Get(r.ID)
			if t == nil {
				continue
			}
			m := matchName(b, t, matchers[i])
			if m == nil {
				continue
			}
			for _, rev := range t.Revisions {
				found = addName(found, *m, rev)
			}
		}
		for _, m := range found {
			out = append(out, m)
		}
		if len(out) >= most {
			break
		}
	}
	return out, nil
}

// addName adds m to found at a revision, and joins it with a match that is there.
func addName(found []*query.RepoMatch, m query.RepoMatch, rev *target.Revision) []*query.RepoMatch {
	for _, old := range found {
		if old.Rev == rev.Typed && old.HasRev == rev.IsTyped {
			old.NameRanges = append(slices.Clip(old.NameRanges), m.NameRanges...)
			return found
		}
	}
	m.Rev, m.HasRev = rev.Typed, rev.IsTyped
	return append(found, &m)
}

// nameMatchers compiles the patterns for names: cut at the first @, which
// separates a revision. It reports false if names are not searched or a pattern
// begins with an @.
func nameMatchers(b *target.Query) ([]*match.Matcher, bool) {
	if !b.InRepositoryNames {
		return nil, false
	}
	out := make([]*match.Matcher, len(b.Atoms))
	for i, a := range b.Atoms {
		value, ok := nameValue(a)
		if !ok {
			return nil, false
		}
		if out[i] = a.Matcher; value == a.Pattern.Value {
			continue
		}
		m, err := match.Compile(value, a.Pattern.IsRegexp, b.CaseSensitive)
		if err != nil {
			return nil, false
		}
		out[i] = m
	}
	return out, true
}

// nameValue returns the part of a pattern that is looked for in names; ok is false if
// there is none.
func nameValue(a *compile.Atom) (value string, ok bool) {
	value, _, cut := strings.Cut(a.Pattern.Value, "@")
	return value, !cut || value != ""
}

func matchName(b *target.Query, t *target.Repository, names []*match.Matcher) *query.RepoMatch {
	name := t.Stored.Name
	atom := func(i int) bool {
		_, found := names[i].Short(nil, name)
		return found
	}
	if b.Tree != nil && !compile.Eval(b.Tree, atom) {
		return nil
	}
	var ranges []query.Range
	if b.Tree != nil {
		compile.VisitTrue(b.Tree, atom, func(i int) {
			spans, _ := names[i].Short(nil, name)
			ranges = match.ShortRanges(ranges, name, spans)
		})
	}
	for _, f := range b.Values("repo") {
		if f.Negated || f.Predicate != nil {
			continue
		}
		value, _, _ := query.SplitRepoRevs(f.Value)
		if re, err := regexp.Compile("(?i)" + value); err == nil && value != "" {
			for _, loc := range re.FindAllStringIndex(name, -1) {
				if loc[0] < loc[1] {
					ranges = match.ShortRanges(ranges, name, []match.Span{{Start: uint32(loc[0]), End: uint32(loc[1])}})
				}
			}
		}
	}
	return &query.RepoMatch{Repo: t.Shown, NameRanges: slices.Clip(ranges),
		DescriptionRanges: inDescription(b, t.Stored.Description)}
}

// inDescription returns what the filters of b find in a description.
func inDescription(b *target.Query, text string) []query.Range {
	var ranges []query.Range
	for _, re := range b.Descriptions {
		for _, loc := range re.FindAllStringIndex(text, -1) {
			if loc[0] < loc[1] {
				ranges = match.ShortRanges(ranges, text, []match.Span{{Start: uint32(loc[0]), End: uint32(loc[1])}})
			}
		}
	}
	return ranges
}
