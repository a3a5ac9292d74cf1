package search

import (
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
func mayMatch(t *task.Task, b *target.Query) *target.Repositories {
	if t.Brute || b.Tree == nil || !b.Repositories.IsLazy() && b.Repositories.Len() <= fewNames {
		return b.Repositories
	}
	named, all := (&namesFound{task: t, query: b}).of(b.Tree)
	if all {
		return b.Repositories
	}
	return b.Repositories.In(named)
}

// namesFound finds the names that the atoms of a query match, each in the text of all
// names.
type namesFound struct {
	task  *task.Task
	query *target.Query
}

// of returns the repositories for whose names t may hold; all says that it may for any,
// as no set of them is known. The set is the caller's.
func (n *namesFound) of(t compile.Tree) (found *store.IDs, all bool) {
	switch t := t.(type) {
	case compile.Constant:
		return &store.IDs{}, bool(t)
	case compile.Leaf:
		return n.atom(n.query.Atoms[t])
	case *compile.And:
		for _, k := range t.Kids {
			kid, kidAll := n.of(k)
			switch {
			case kidAll:
				continue
			case found == nil:
				found = kid
			default:
				found.Intersect(kid)
			}
			if found.Len() == 0 {
				break
			}
		}
		return found, found == nil
	case *compile.Or:
		found = &store.IDs{}
		for _, k := range t.Kids {
			kid, kidAll := n.of(k)
			if kidAll {
				return nil, true
			}
			found.Join(kid)
		}
		return found, false
	}
	return nil, true // a negation rules nothing out
}

func (n *namesFound) atom(a *compile.Atom) (found *store.IDs, all bool) {
	value, _ := nameValue(a)
	m, err := match.CompileLines(value, a.Pattern.IsRegexp, n.query.CaseSensitive)
	if err != nil || m.MatchesAll() {
		return nil, true
	}
	return n.task.Visible.NamedIDs(m), false
}
