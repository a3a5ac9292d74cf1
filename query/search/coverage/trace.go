package coverage

import (
	"iter"
	"maps"
	"slices"

	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store"
)

// Report puts all of it into the trace: the repositories with candidates, or with
// anything left, one by one, then some of the others. The rest is a sum.
func (l *Ledger) Report() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.endings {
		l.endings[i].findLeft(l.task)
	}
	var out []report.Coverage
	covered := &store.IDs{}
	idle, mayRead := 0, mostRead
	for repo, hasWork := range l.ordered() {
		if !hasWork {
			if idle++; idle > MaxIdle {
				break
			}
			n := l.unread(repo)
			if n > mayRead {
				continue // it is one of the rest
			}
			mayRead -= n
		}
		whole := true
		for _, rev := range l.revisions(repo) {
			if whole = len(out) < MaxRows; whole {
				out = append(out, l.cover(repo, rev))
			}
		}
		if whole {
			covered.Add(repo.ID)
		}
		if len(out) == MaxRows {
			break
		}
	}
	rows := l.commits[:min(len(l.commits), MaxRows-len(out))]
	commits := len(l.commits) - len(rows) + l.moreCommits
	out = append(out, rows...)
	sets := repositoriesOf(l.documentQueries())
	others := target.SearchedIDs(sets)
	others.Subtract(covered)
	if !slices.ContainsFunc(sets, func(s *target.Repositories) bool { return !s.IsLazy() }) && l.task.Visible.Len() > fewKnown {
		l.task.Trace.CoverLater(out, heldBytes+setsHeld*l.task.Visible.Len()/8, restOf(l.task.Visible, others, commits))
		return
	}
	l.task.Trace.Cover(out, restOf(l.task.Visible, others, commits)())
}

// unread returns how many documents the shards of a repository have whose tables would be
// read to cover it.
func (l *Ledger) unread(repo *store.Repository) (documents int) {
	for _, id := range repo.Shards {
		v, looked := l.views[id]
		if !looked || v.Loaded() {
			continue
		}
		if slices.ContainsFunc(l.revisions(repo), func(rev *target.Revision) bool { _, ok := l.byHeader(v, repo, rev); return !ok }) {
			documents += v.Header.Documents
		}
	}
	return documents
}

const (
	// MaxIdle is how many repositories without candidates are reported one by one.
	MaxIdle = 20
	// mostRead is of how many documents the tables are read for that, which takes about a
	// millisecond.
	mostRead = 4 << 10
	// fewKnown is how many repositories are summed up at once. Of more that sets of the
	// store chose the sum is made when the trace is read, which most are not.
	fewKnown = 2048
	// heldBytes is about what a trace holds until then of what has changed in the catalogue
	// since, beside setsHeld sets of repositories: the others, and those that exist for
	// the client and do not.
	heldBytes = 128 << 10
	setsHeld  = 3
)

// restOf returns what sums up the repositories with some IDs. A trace keeps it, so it
// keeps nothing of the search: what matches carry of 10,000 repositories takes megabytes.
func restOf(visible task.VisibleRepositories, ids *store.IDs, commits int) func() report.Rest {
	return func() report.Rest {
		rest := report.Rest{Repositories: commits + ids.Len()}
		for id := range ids.All() {
			repo := visible.Get(id)
			rest.Documents += repo.Documents
			rest.Unsearchable += repo.Skipped
		}
		return rest
	}
}

// documentQueries returns the basic queries that search documents.
func (l *Ledger) documentQueries() []*target.Query { return target.WithDocuments(l.queries) }

func repositoriesOf(queries []*target.Query) []*target.Repositories {
	sets := make([]*target.Repositories, len(queries))
	for i, b := range queries {
		sets[i] = b.Repositories
	}
	return sets
}

// searched yields the repositories that were searched for documents, in listing order.
func (l *Ledger) searched() iter.Seq[*store.Repository] {
	return target.Union(l.task, repositoriesOf(l.documentQueries()))
}

// ordered yields the repositories that were searched: those with candidates, or with
// anything left, first, and whether they are such. It need not go through all.
func (l *Ledger) ordered() iter.Seq2[*store.Repository, bool] {
	return func(yield func(*store.Repository, bool) bool) {
		first := map[uint32]bool{}
		if !l.hidesDetails() {
			for repo := range l.worked() {
				if first[repo.ID] = true; !yield(repo, true) {
					return
				}
			}
		}
		for repo := range l.searched() {
			if !first[repo.ID] && !yield(repo, false) {
				return
			}
		}
	}
}

// manyLeft is how many repositories of shards that were not planned are looked up one
// by one, and manyWorked how many with candidates are sorted: if there are more, a walk
// through the listing finds enough of them.
const (
	manyLeft   = 4 * MaxRows
	manyWorked = 16 * MaxRows
)

// worked yields the repositories with candidates, or with anything left, in listing
// order.
func (l *Ledger) worked() iter.Seq[*store.Repository] {
	if len(l.work) > manyWorked {
		return l.isWork(l.searched())
	}
	some := map[uint32]*store.Repository{}
	add := func(id uint32) {
		if repo := l.task.Visible.Get(id); repo != nil {
			some[id] = repo
		}
	}
	for id := range l.work {
		add(id)
	}
	for _, e := range l.endings {
		for _, repo := range target.WithUnindexed(e.queries) {
			some[repo.ID] = repo
		}
		for shard := range e.left {
			for id := range l.task.Snapshot.ShardRepositories(shard) {
				if add(id); len(some) > manyLeft {
					return l.isWork(l.searched())
				}
			}
		}
	}
	return l.isWork(slices.Values(slices.SortedFunc(maps.Values(some), store.CompareListed)))
}

// isWork leaves the repositories with candidates, or with anything left.
func (l *Ledger) isWork(of iter.Seq[*store.Repository]) iter.Seq[*store.Repository] {
	return func(yield func(*store.Repository) bool) {
		for repo := range of {
			if (l.work[repo.ID] != nil || l.endings.hasLeft(repo)) && l.wasSearched(repo.ID) && !yield(repo) {
				return
			}
		}
	}
}

// wasSearched reports whether documents of a repository were searched for.
func (l *Ledger) wasSearched(repository uint32) bool {
	return slices.ContainsFunc(l.queries, func(b *target.Query) bool { return b.Documents && b.Repositories.Has(repository) })
}
