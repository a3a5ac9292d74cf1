package scope

import (
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/store"
)

// leftOut are the forks and the archived repositories that basic queries leave out
// because they do not ask for them.
type leftOut struct{ forks, archived *store.IDs }

// findLeftOut returns what the basic queries leave out.
func (s *Scope) findLeftOut() leftOut {
	l := leftOut{&store.IDs{}, &store.IDs{}}
	for _, b := range s.queries {
		forks, archived := leftOutOf(s.task.Snapshot, b.RepositoryFilter, b.LeftOut.IDs())
		l.forks.Join(forks)
		l.archived.Join(archived)
	}
	return l
}

// countChosen counts the repositories that any of the basic queries searches.
func (s *Scope) countChosen() int {
	sets := make([]*target.Repositories, len(s.queries))
	for i, b := range s.queries {
		sets[i] = b.Repositories
	}
	return target.UnionIDs(sets).Len()
}
