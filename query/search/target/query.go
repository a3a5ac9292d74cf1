package target

import (
	"slices"

	"github.com/trawlsearch/trawl/query/owners"
	"github.com/trawlsearch/trawl/query/search/compile"
)

// Query is a compiled query with what it searches.
type Query struct {
	*compile.Query
	// Repositories are those to search, LeftOut the forks and archived ones that the
	// query does not ask for.
	Repositories, LeftOut *Repositories
	// OwnerRules give the owners of documents, where the query asks for them.
	OwnerRules map[Key]*owners.Rules
	// Contributed are, for each filter on contributors, the paths that commits of
	// such authors changed.
	Contributed []map[Key]map[string]struct{}
}

// ContributorsHold tests the contributors of a document at a revision.
func (q *Query) ContributorsHold(at Key, path string) bool {
	for n, f := range q.Contributors {
		if _, contributed := q.Contributed[n][at][path]; contributed == f.Negated {
			return false
		}
	}
	return true
}

// JudgesPeople reports whether OwnersHold and ContributorsHold have anything to test.
func (q *Query) JudgesPeople() bool { return len(q.Owners)+len(q.Contributors) > 0 }

// OwnersHold tests the owners of a document at a revision.
func (q *Query) OwnersHold(at Key, path string) bool {
	if len(q.Owners) == 0 {
		return true
	}
	var of []string
	if rules := q.OwnerRules[at]; rules != nil {
		of = rules.Owners(path)
	}
	return !slices.ContainsFunc(q.Owners, func(f compile.OwnerFilter) bool { return !f.Holds(of) })
}

// MayMatch judges a file by its path, before its text is read.
func (q *Query) MayMatch(repository uint32, f SharedFile) bool {
	t := q.Repositories.Get(repository)
	if t == nil || q.InSymbols {
		return false
	}
	held := slices.ContainsFunc(t.Revisions, func(rev *Revision) bool {
		return rev.Files != nil && slices.Contains(f.In, rev.Files)
	})
	if !held {
		return false
	}
	for n := range q.Paths {
		if !q.Paths[n].Holds(f.Path) {
			return false
		}
	}
	return q.Tree == nil || compile.MayHold(q.Tree, func(n int) compile.Truth {
		a := q.Atoms[n]
		switch _, found := a.Short(nil, f.Path); {
		case found && q.InPath && !a.ContentOnly:
			return compile.Yes
		case q.InContent || a.Silent:
			return compile.Perhaps
		}
		return compile.No
	})
}

// WithDocuments returns those of some basic queries that search documents.
func WithDocuments(queries []*Query) []*Query {
	return slices.DeleteFunc(slices.Clone(queries), func(b *Query) bool { return !b.Documents })
}
