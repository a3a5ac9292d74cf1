package scope

import (
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
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
		at := target.Revision{Typed: b.Revisions[0].Text, IsTyped: b.RevisionsTyped}
		b.Repositories, b.LeftOut = target.NewLazyRepositories(s.task, ids, shown, at), target.NewLazyRepositories(s.task, forks, shown, at)
		for reason, unindexed := range target.NotIndexed(s.task.Snapshot, ids) {
			if unindexed.Len() > 0 {
				s.sel.notIndexedFor(reason).Join(unindexed)
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
		if !stored.Indexed() {
			s.sel.notIndexedFor(target.WhyNotIndexed(stored)).Add(stored.ID)
		}
		chosen = append(chosen, t)
	}
	b.Repositories, b.LeftOut = target.NewRepositories(chosen...), target.NewRepositories(leftOut...)
}

// notIndexedFor is where chosen repositories without a generation are noted, by why they
// have none.
func (s *selection) notIndexedFor(reason string) *store.IDs {
	if s.notIndexedYet == nil {
		s.notIndexedYet = map[string]*store.IDs{}
	}
	if s.notIndexedYet[reason] == nil {
		s.notIndexedYet[reason] = &store.IDs{}
	}
	return s.notIndexedYet[reason]
}

// branchOf returns the number of the indexed branch that rev names, by its name
// or the beginning of its commit, or -1.
func branchOf(r *store.Repository, rev string) int {
	if isDefaultBranch(rev) {
		return 0
	}
	name := strings.TrimPrefix(rev, headsPrefix)
	if n := slices.IndexFunc(r.Branches, func(b store.Branch) bool { return b.Name == name }); n >= 0 && name != "" {
		return n
	}
	if len(rev) < shortestHash {
		return -1
	}
	rev = strings.ToLower(rev)
	return slices.IndexFunc(r.Branches, func(b store.Branch) bool { return strings.HasPrefix(b.Commit, rev) })
}

// isDefaultBranch reports whether rev names the default branch, whatever that is called.
func isDefaultBranch(rev string) bool { return rev == "HEAD" || rev == "" }

// takeOthers takes out of a lazy set, of which all are searched at their default branches,
// those indexed ones where the query means another revision, or may mean one, and returns
// them. Of another set it returns that.
func takeOthers(t *task.Task, b *target.Query, set *target.Repositories) *target.Repositories {
	others := &store.IDs{}
	switch rev := b.Revisions; {
	case !set.IsLazy():
		return set
	case !isDefaultBranch(rev[0].Text):
		others = set.IDs().Clone()
		others.Subtract(t.Snapshot.DefaultBranchIDs(strings.TrimPrefix(rev[0].Text, headsPrefix)))
		others.Subtract(t.Snapshot.MarkedIDs(store.MarkUnindexed))
	}
	return set.TakeOut(others)
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
