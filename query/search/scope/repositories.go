package scope

import (
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store"
)

// selectRepositories sets the repositories of b. It returns the rule that they
// follow, nil if they are chosen one by one.
func (r *Scope) selectRepositories(b *target.Query, shown *shownRepositories) *allBut {
	if isAllBut(b) {
		return r.selectAllBut(b, shown)
	}
	f := b.Query.RepositoryFilter
	var chosen, leftOut []*target.Repository
	for stored := range selected(r.Task, f) {
		if !f.Matches(stored) {
			continue
		}
		t := &target.Repository{Stored: stored, Shown: shown.of(stored)}
		if fork, archived := f.LeftOut(stored); fork || archived {
			leftOut = append(leftOut, t)
			continue
		}
		if len(b.Revisions) == 0 {
			r.sel.lacking.add(stored.Name, f.Typed()...)
			continue
		}
		r.sel.addUnindexed(stored)
		chosen = append(chosen, t)
	}
	b.Repositories, b.LeftOut = target.NewSet(chosen...), target.NewSet(leftOut...)
	return nil
}

// addUnindexed notes why a chosen repository has no generation, if it has none.
func (s *selection) addUnindexed(r *store.Repository) {
	if r.Indexed() {
		return
	}
	switch target.WhyNotIndexed(r) {
	case report.ReasonMissing:
		s.missing = append(s.missing, r)
	case report.ReasonCloning:
		s.cloning = append(s.cloning, r)
	default:
		s.indexing = append(s.indexing, r)
	}
}

// selected yields the repositories that pass the filters on names, in listing order.
func selected(t *task.Task, f *compile.RepositoryFilter) iter.Seq[*store.Repository] {
	include, exclude := f.Names()
	if len(include) == 0 {
		of := t.Listed()
		if m, ok := f.Mark(); ok {
			of = t.Marked(m)
		}
		return pass(of, nil, exclude)
	}
	found := slices.Collect(t.Named(include[0]))
	slices.SortFunc(found, store.CompareListed)
	return pass(slices.Values(found), include[1:], exclude)
}

// pass yields the repositories of which all names in include match and none in
// exclude does.
func pass(of iter.Seq[*store.Repository], include, exclude []*match.LineMatcher) iter.Seq[*store.Repository] {
	return func(yield func(*store.Repository) bool) {
		for repo := range of {
			matches := func(m *match.LineMatcher) bool { return m.Match(repo.Name) }
			lacks := func(m *match.LineMatcher) bool { return !matches(m) }
			if !slices.ContainsFunc(include, lacks) && !slices.ContainsFunc(exclude, matches) && !yield(repo) {
				return
			}
		}
	}
}

// branchOf returns the number of the indexed branch that rev names, by its name
// or the beginning of its commit, or -1.
func branchOf(r *store.Repository, rev string) int {
	if rev == "HEAD" || rev == "" {
		return 0
	}
	name := strings.TrimPrefix(rev, "refs/heads/")
	if n := slices.IndexFunc(r.Branches, func(b store.Branch) bool { return b.Name == name }); n >= 0 && name != "" {
		return n
	}
	if len(rev) < shortestHash {
		return -1
	}
	rev = strings.ToLower(rev)
	return slices.IndexFunc(r.Branches, func(b store.Branch) bool { return strings.HasPrefix(b.Commit, rev) })
}

// shortestHash is how long the beginning of a commit's id must be.
const shortestHash = 4

// commitOf returns the commit of an indexed branch, "" if there is none.
func commitOf(r *store.Repository, branch int) string {
	if branch >= len(r.Branches) {
		return ""
	}
	return r.Branches[branch].Commit
}

// shownRepositories are what matches carry of repositories, the same for all basic
// queries. It is safe for concurrent use.
type shownRepositories struct {
	mu   sync.Mutex // guards byID
	byID map[uint32]*query.Repository
}

func (s *shownRepositories) of(r *store.Repository) *query.Repository {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[r.ID] == nil {
		s.byID[r.ID] = showRepository(r)
	}
	return s.byID[r.ID]
}

// showRepository returns what matches carry of a repository.
func showRepository(r *store.Repository) *query.Repository {
	return &query.Repository{
		ID: r.ID, Name: r.Name, Stars: r.Stars, LastFetched: r.Fetched(), Description: r.Description,
		Fork: r.Fork, Archived: r.Archived, Private: r.Private, Topics: r.Topics, Metadata: r.Metadata,
	}
}
