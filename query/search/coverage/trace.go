package coverage

import (
	"iter"
	"maps"
	"slices"

	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/store"
)

// Report puts all of it into the trace.
func (c *Ledger) Report() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.endings {
		c.endings[i].findLeft(c.task)
	}
	var out []report.Coverage
	covered := map[uint32]bool{}
	for repo := range c.ordered() {
		whole := true
		for _, rev := range c.revisions(repo) {
			if whole = len(out) < maxCoverage; whole {
				out = append(out, c.cover(repo, rev))
			}
		}
		if covered[repo.ID] = whole; len(out) == maxCoverage {
			break
		}
	}
	commits := 0
	for _, of := range c.commits {
		if len(out) < maxCoverage {
			out = append(out, of)
			continue
		}
		commits++
	}
	if len(out) < maxCoverage {
		c.task.Trace.Cover(out, report.Rest{})
		return
	}
	queries := c.documentQueries()
	rest := restOf(c.task.Listed(), queries, covered, commits)
	byRule := !slices.ContainsFunc(queries, func(b *target.Query) bool { return !b.Repositories.IsRuled() })
	if c.task.Known() <= fewKnown || !byRule {
		c.task.Trace.Cover(out, rest())
		return
	}
	c.task.Trace.CoverLater(out, heldBytes+hiddenBytes*len(c.task.Hidden()), rest)
}

const (
	// fewKnown is how many repositories are summed up at once. Of more that a rule
	// chose the sum is made when the trace is read, which most are not.
	fewKnown = 2048
	// heldBytes is about what a trace holds of its search until then: the targets
	// with candidates, facets, and what has changed in the catalogue since.
	// hiddenBytes is that of a repository that the client may not see.
	heldBytes   = 128 << 10
	hiddenBytes = 64
)

// restOf returns what sums up the repositories that were searched and are not covered.
// It keeps the search.
func restOf(all iter.Seq[*store.Repository], queries []*target.Query, covered map[uint32]bool, commits int) func() report.Rest {
	sets := repositoriesOf(queries)
	return func() report.Rest {
		rest := report.Rest{Repositories: commits}
		for repo := range target.Union(all, sets) {
			if !covered[repo.ID] && slices.ContainsFunc(sets, func(s *target.Set) bool { return s.HasRevision(repo.ID) }) {
				rest.Repositories++
				rest.Documents += repo.Documents
				rest.Unsearchable += repo.Skipped
			}
		}
		return rest
	}
}

// documentQueries returns the basic queries that search documents.
func (c *Ledger) documentQueries() []*target.Query { return target.WithDocuments(c.queries) }

func repositoriesOf(queries []*target.Query) []*target.Set {
	sets := make([]*target.Set, len(queries))
	for i, b := range queries {
		sets[i] = b.Repositories
	}
	return sets
}

// searched yields the repositories that were searched for documents, in listing order.
func (c *Ledger) searched() iter.Seq[*store.Repository] {
	return target.Union(c.task.Listed(), repositoriesOf(c.documentQueries()))
}

// ordered yields the repositories that were searched: those with candidates, or with
// anything left, first. It need not go through all.
func (c *Ledger) ordered() iter.Seq[*store.Repository] {
	if c.isGuarded() {
		return c.searched()
	}
	return func(yield func(*store.Repository) bool) {
		first := map[uint32]bool{}
		for repo := range c.worked() {
			if first[repo.ID] = true; !yield(repo) {
				return
			}
		}
		for repo := range c.searched() {
			if !first[repo.ID] && !yield(repo) {
				return
			}
		}
	}
}

// manyLeft is how many repositories of shards that were not planned are looked up one
// by one: if there are more, a walk through the listing finds enough of them.
const manyLeft = 4 * maxCoverage

// worked yields the repositories with candidates, or with anything left, in listing
// order.
func (c *Ledger) worked() iter.Seq[*store.Repository] {
	some := map[uint32]*store.Repository{}
	add := func(id uint32) {
		if repo := c.task.Repository(id); repo != nil {
			some[id] = repo
		}
	}
	for id := range c.work {
		add(id)
	}
	for _, e := range c.endings {
		for _, repo := range target.WithUnindexed(e.queries) {
			some[repo.ID] = repo
		}
		for shard := range e.left {
			for id := range c.task.Snapshot.ShardRepositories(shard) {
				if add(id); len(some) > manyLeft {
					return c.isWork(c.searched())
				}
			}
		}
	}
	return c.isWork(slices.Values(slices.SortedFunc(maps.Values(some), store.CompareListed)))
}

// isWork leaves the repositories with candidates, or with anything left.
func (c *Ledger) isWork(of iter.Seq[*store.Repository]) iter.Seq[*store.Repository] {
	return func(yield func(*store.Repository) bool) {
		for repo := range of {
			if (c.work[repo.ID] != nil || c.hasLeft(repo)) && c.wasSearched(repo.ID) && !yield(repo) {
				return
			}
		}
	}
}

// wasSearched reports whether documents of a repository were searched for.
func (c *Ledger) wasSearched(repository uint32) bool {
	return slices.ContainsFunc(c.queries, func(b *target.Query) bool { return b.Documents && b.Repositories.Has(repository) })
}
