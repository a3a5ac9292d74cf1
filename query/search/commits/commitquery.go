package commits

import (
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/target"
)

// commitQuery is a search of commits with what it searches.
type commitQuery struct {
	*target.Query
	*compile.Commits
}

// hasPaths reports whether there are filters on what a commit changed.
func (q *commitQuery) hasPaths() bool { return len(q.Paths)+len(q.Owners) > 0 }

// pathsHold tests a changed file: a filter asks for one of its two paths, a
// negated one forbids both.
func (q *commitQuery) pathsHold(t *target.Repository, path, old string) bool {
	for i := range q.Paths {
		f := &q.Paths[i]
		holds := f.Holds(path)
		if old != "" && holds == f.Negated {
			holds = f.Holds(old)
		}
		if !holds {
			return false
		}
	}
	return len(q.Owners) == 0 || q.OwnersHold(t.Key(t.Revisions[0]), path)
}
