package coverage

import (
	"slices"

	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store"
)

// ending is how the search for the basic queries of one shape ended: what it did not look
// at follows from the shards that it planned, whatever the number of repositories.
type ending struct {
	queries []*target.Query
	// reason is why it ended, and cut says that it did before its end.
	reason string
	cut    bool
	// sources are what it had to read, nil if it was not begun.
	sources []target.Source
	// planned are the shards and git the repositories whose lists or files it read,
	// failed the shards that could not be searched by then. left are the shards that
	// it did not plan, with documents of its repositories; findLeft sets them.
	planned, git, failed, left map[uint32]bool
}

// findLeft finds the shards that the search did not plan.
func (e *ending) findLeft(t *task.Task) {
	e.left = map[uint32]bool{}
	if e.sources == nil {
		for _, v := range target.Shards(t, e.queries) {
			e.left[v.ID] = true
		}
		return
	}
	for _, src := range e.sources {
		if src.Unindexed == nil && !e.planned[src.View.ID] {
			e.left[src.View.ID] = true
		}
	}
}

// whyUnsearched returns why a shard was not searched for documents of a repository, ""
// if it was.
func (e *ending) whyUnsearched(repository, shard uint32) string {
	switch {
	case !e.left[shard] || !e.has(repository, func(t *target.Repository) bool { return t.MayBeIn(shard) }):
		return ""
	case e.failed[shard]:
		return report.ReasonIndexUnreadable
	}
	return e.reason
}

// whyUnread returns why files of a repository were not read through git, "" if all
// were.
func (e *ending) whyUnread(repository uint32) string {
	if e.git[repository] || !e.has(repository, (*target.Repository).HasUnindexed) {
		return ""
	}
	return e.reason
}

// has reports whether one of the queries searches a repository and a target of it is so.
func (e *ending) has(repository uint32, is func(*target.Repository) bool) bool {
	return slices.ContainsFunc(e.queries, func(b *target.Query) bool {
		t := b.Repositories.Get(repository)
		return t != nil && is(t)
	})
}

// endings are how the search for the queries of each shape ended, in order.
type endings []ending

// whyUnsearched returns the reason of the last ending that left a shard unsearched for a
// repository, "" if none did.
func (all endings) whyUnsearched(repository, shard uint32) string {
	return all.why(func(e *ending) string { return e.whyUnsearched(repository, shard) })
}

// whyUnread is the same of files that are read through git.
func (all endings) whyUnread(repository uint32) string {
	return all.why(func(e *ending) string { return e.whyUnread(repository) })
}

// whyCut returns why the last search of a repository that was cut short was, "" if
// none was.
func (all endings) whyCut(repository uint32) string {
	return all.why(func(e *ending) string {
		if e.cut && slices.ContainsFunc(e.queries, func(b *target.Query) bool { return b.Repositories.Has(repository) }) {
			return e.reason
		}
		return ""
	})
}

// why returns the reason of the last ending that has one.
func (all endings) why(of func(*ending) string) string {
	for i := range slices.Backward(all) {
		if reason := of(&all[i]); reason != "" {
			return reason
		}
	}
	return ""
}

// hasLeft reports whether anything of a repository was left for some queries.
func (all endings) hasLeft(repo *store.Repository) bool {
	return slices.ContainsFunc(all, func(e ending) bool {
		return e.whyUnread(repo.ID) != "" || slices.ContainsFunc(repo.Shards, func(id uint32) bool { return e.whyUnsearched(repo.ID, id) != "" })
	})
}
