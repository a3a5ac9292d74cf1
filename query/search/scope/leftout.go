package scope

import (
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/store"
)

// leftOut counts the forks and the archived repositories that basic queries leave
// out because they do not ask for them.
type leftOut struct{ forks, archived int }

// leftOutIDs are which.
type leftOutIDs struct{ forks, archived map[uint32]bool }

// findLeftOut lists what some basic queries leave out.
func findLeftOut(queries []*target.Query) leftOutIDs {
	l := leftOutIDs{map[uint32]bool{}, map[uint32]bool{}}
	for _, b := range queries {
		for r := range b.LeftOut.Listed() {
			fork, archived := b.RepositoryFilter.LeftOut(r)
			if fork {
				l.forks[r.ID] = true
			}
			if archived {
				l.archived[r.ID] = true
			}
		}
	}
	return l
}

// countLeftOut counts what some basic queries leave out.
func countLeftOut(queries []*target.Query, rules []*allBut) leftOut {
	if rule := sameRule(queries, rules); rule != nil {
		out := func(r *store.Repository) bool { return !rule.hasClass(r) && rule.filter.Matches(r) }
		return leftOut{
			rule.classes.count(func(r *store.Repository) bool { fork, _ := rule.filter.LeftOut(r); return fork && out(r) }),
			rule.classes.count(func(r *store.Repository) bool { _, archived := rule.filter.LeftOut(r); return archived && out(r) }),
		}
	}
	l := findLeftOut(queries)
	return leftOut{len(l.forks), len(l.archived)}
}

// countChosen counts the repositories that any of some basic queries searches.
func (r *Scope) countChosen(rules []*allBut) int {
	if rule := sameRule(r.queries, rules); rule != nil {
		return rule.Len()
	}
	sets := make([]*target.Set, len(r.queries))
	for i, b := range r.queries {
		sets[i] = b.Repositories
	}
	n := 0
	for range target.Union(r.Listed(), sets) {
		n++
	}
	return n
}

// sameRule returns the rule by which all basic queries search the same repositories,
// nil if there is none that is known.
func sameRule(queries []*target.Query, rules []*allBut) *allBut {
	if len(rules) == 0 || len(rules) < len(queries) {
		return nil
	}
	first := rules[0]
	for _, other := range rules[1:] {
		if other.filter.Defaults() != first.filter.Defaults() || len(other.excluded)+len(first.excluded) > 0 {
			return nil
		}
	}
	return first
}
