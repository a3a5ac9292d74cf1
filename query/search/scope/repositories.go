package scope

import (
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/store"
)

// selectRepositories sets the repositories of b.
func (s *Scope) selectRepositories(b *target.Query, shown *target.Shown) {
	f := b.RepositoryFilter
	ids, whole := candidates(s.task, f)
	if whole && ids.Len() > fewChosen && isBySet(b) {
		forks, archived := leftOutOf(s.task.Snapshot, f, ids)
		forks.Join(archived)
		ids.Subtract(forks)
		b.Repositories, b.LeftOut = target.NewLazyRepositories(s.task, ids, shown), target.NewLazyRepositories(s.task, forks, shown)
		for stored := range s.task.Visible.Marked(store.MarkUnindexed) {
			if ids.Has(stored.ID) {
				s.sel.addUnindexed(stored)
			}
		}
		return
	}
	var chosen, leftOut []*target.Repository
	noForks, noArchived := f.LeavesOut()
	for stored := range s.task.Visible.In(ids) {
		if !f.Matches(stored) {
			continue
		}
		t := &target.Repository{Stored: stored, Shown: shown.Of(stored)}
		if stored.Fork && noForks || stored.Archived && noArchived {
			leftOut = append(leftOut, t)
			continue
		}
		if len(b.Revisions) == 0 {
			s.sel.lacking.add(stored.Name, f.Typed()...)
			continue
		}
		s.sel.addUnindexed(stored)
		chosen = append(chosen, t)
	}
	b.Repositories, b.LeftOut = target.NewRepositories(chosen...), target.NewRepositories(leftOut...)
}

// addUnindexed notes why a chosen repository has no generation, if it has none.
func (s *selection) addUnindexed(r *store.Repository) {
	if r.Indexed() {
		return
	}
	reason := target.WhyNotIndexed(r)
	if s.notIndexedYet == nil {
		s.notIndexedYet = map[string]*store.IDs{}
	}
	if s.notIndexedYet[reason] == nil {
		s.notIndexedYet[reason] = &store.IDs{}
	}
	s.notIndexedYet[reason].Add(r.ID)
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
