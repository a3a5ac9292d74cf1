package search

import (
	"maps"
	"slices"

	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store"
)

// fewNames are so many that trying each takes no longer than compiling patterns for
// the text of all names.
const fewNames = 64

// mayMatch returns the repositories of b whose names may match, of which there are
// few: a query finds mostly documents, and trying the name of each repository would
// take longer than to find those.
func mayMatch(t *task.Task, b *target.Query) *target.Set {
	if b.Tree == nil || !b.Repositories.IsRuled() && b.Repositories.Len() <= fewNames {
		return b.Repositories
	}
	named, all := (&namesFound{task: t, query: b}).of(b.Tree)
	if all {
		return b.Repositories
	}
	var some []*target.Repository
	for _, repo := range slices.SortedFunc(maps.Values(named), store.CompareListed) {
		if chosen := b.Repositories.Get(repo.ID); chosen != nil {
			some = append(some, chosen)
		}
	}
	return target.NewSet(some...)
}

// namesFound finds the names that the atoms of a query match, each in the text of all
// names.
type namesFound struct {
	task  *task.Task
	query *target.Query
}

// of returns the repositories for whose names t may hold; all says that these cannot
// be told.
func (n *namesFound) of(t compile.Tree) (found map[uint32]*store.Repository, all bool) {
	switch t := t.(type) {
	case compile.Constant:
		return nil, bool(t)
	case compile.Leaf:
		return n.atom(n.query.Atoms[t])
	case *compile.And:
		all = true
		for _, k := range t.Kids {
			kid, kidAll := n.of(k)
			switch {
			case kidAll:
			case all:
				found, all = kid, false
			default:
				maps.DeleteFunc(found, func(id uint32, _ *store.Repository) bool { return kid[id] == nil })
			}
			if !all && len(found) == 0 {
				break
			}
		}
		return found, all
	case *compile.Or:
		found = map[uint32]*store.Repository{}
		for _, k := range t.Kids {
			kid, kidAll := n.of(k)
			if kidAll {
				return nil, true
			}
			maps.Copy(found, kid)
		}
		return found, false
	}
	return nil, true // a negation rules nothing out
}

func (n *namesFound) atom(a *compile.Atom) (found map[uint32]*store.Repository, all bool) {
	value, _ := nameValue(a)
	m, err := match.CompileLines(value, a.Pattern.IsRegexp, n.query.CaseSensitive)
	if err != nil || m.MatchesAll() {
		return nil, true
	}
	found = map[uint32]*store.Repository{}
	for repo := range n.task.Named(m) {
		found[repo.ID] = repo
	}
	return found, false
}
