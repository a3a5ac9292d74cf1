package ingest

import (
	"maps"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// A source that has not changed is looked at all day. Such a look starts no
// process for a repository of this machine and one for a remote, and writes
// nothing: when it was is noted in memory.

// isUpToDate reports whether a sync would do nothing if the source has not changed.
func (o Options) isUpToDate(sn *store.Snapshot, r *store.Repository) bool {
	return r.Indexed() && r.LastError == "" && r.Admission == o.admission() && !lost(sn, r.Shards)
}

// headsAsIndexed reports whether a sync of the git repository in dir would find
// the branches that are indexed.
func headsAsIndexed(dir string, r *store.Repository) bool {
	h, ok := git.ReadHeads(dir, len(r.BranchGlobs) > 0)
	if !ok {
		return false
	}
	if h.Default.Commit == "" {
		return len(r.Branches) == 0 && r.BranchesLeftOut == 0
	}
	now := []store.Branch{{Name: h.Default.Name, Commit: h.Default.Commit}}
	refs, leftOut := chooseRefs(slices.Sorted(maps.Keys(h.Branches)), h.Default.Name, r.BranchGlobs)
	for _, ref := range refs {
		now = append(now, store.Branch{Name: strings.TrimPrefix(ref, headsPrefix), Commit: h.Branches[ref]})
	}
	return slices.Equal(now, r.Branches) && leftOut == r.BranchesLeftOut
}

// confirm ends a sync that found nothing to index, unless the record is to change.
func (j *syncJob) confirm() {
	old := j.base
	if old.LastError != "" || len(j.unread) > 0 || j.unfetched != nil ||
		!slices.Equal(old.Branches, j.nextBranches) || old.BranchesLeftOut != j.next.BranchesLeftOut {
		return
	}
	old.NoteFetched(j.fetched)
	j.result.Repository, j.result.AsBefore, j.committed = old, true, true
}
