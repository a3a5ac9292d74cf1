package search

import (
	"regexp"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/store"
)

// searchNames returns the repositories whose names match b's patterns, in
// listing order.
func (b *basic) searchNames(repos []*store.Repository) []query.Match {
	if !b.repos {
		return nil
	}
	names, ok := b.nameMatchers()
	if !ok {
		return nil
	}
	var out []query.Match
	for _, r := range repos {
		t := b.targets[r.ID]
		if t == nil {
			continue
		}
		if m := b.matchName(t, names); m != nil {
			out = append(out, m)
		}
	}
	return out
}

// nameMatchers compiles the patterns for names: cut at the first @, which
// separates a revision. It fails when a pattern begins with one.
func (b *basic) nameMatchers() ([]*match.Matcher, bool) {
	out := make([]*match.Matcher, len(b.atoms))
	for i, a := range b.atoms {
		value, _, cut := strings.Cut(a.pattern.Value, "@")
		if cut && value == "" {
			return nil, false
		}
		m, err := match.Compile(value, a.pattern.IsRegexp, b.caseSensitive)
		if err != nil {
			return nil, false
		}
		out[i] = m
	}
	return out, true
}

func (b *basic) matchName(t *target, names []*match.Matcher) query.Match {
	name := t.stored.Name
	atom := func(i int) bool {
		_, found := names[i].Short(nil, name)
		return found
	}
	if b.tree != nil && !eval(b.tree, atom) {
		return nil
	}
	var ranges []query.Range
	if b.tree != nil {
		visitTrue(b.tree, atom, func(i int) {
			spans, _ := names[i].Short(nil, name)
			ranges = match.ShortRanges(ranges, name, spans)
		})
	}
	for _, f := range b.Values("repo") {
		if f.Negated {
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
	return &query.RepoMatch{Repo: t.shown, Rev: t.rev, HasRev: t.hasRev, NameRanges: slices.Clip(ranges)}
}
