package scope

import (
	"slices"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store"
)

// candidates returns the repositories that pass the filters of names, marks and facts,
// as far as the store has sets of them; whole says that it has. The set is the caller's.
// A brute search tries each name instead.
func candidates(t *task.Task, f *compile.RepositoryFilter) (ids *store.IDs, whole bool) {
	include, exclude := f.Names()
	if t.Brute {
		ids = &store.IDs{}
		for repo := range t.Visible.Listed() {
			matches := func(m *match.LineMatcher) bool { return m.Match(repo.Name) }
			lacks := func(m *match.LineMatcher) bool { return !matches(m) }
			if !slices.ContainsFunc(include, lacks) && !slices.ContainsFunc(exclude, matches) {
				ids.Add(repo.ID)
			}
		}
		return ids, false
	}
	whole = true
	ids = t.Visible.IDs().Clone()
	for _, m := range include {
		if !m.MatchesAll() {
			ids.Intersect(t.Visible.NamedIDs(m))
		}
	}
	for _, m := range exclude {
		ids.Subtract(t.Visible.NamedIDs(m))
	}
	with, without := f.Marks()
	for _, m := range with {
		ids.Intersect(t.Snapshot.MarkedIDs(m))
	}
	for _, m := range without {
		ids.Subtract(t.Snapshot.MarkedIDs(m))
	}
	for _, fact := range f.Facts() {
		passed, ok := fact.Find(t.Snapshot.Facts())
		switch {
		case !ok:
			whole = false
		case fact.Negated:
			ids.Subtract(passed)
		default:
			ids.Intersect(passed)
		}
	}
	return ids, whole
}

// leftOutOf returns which of some repositories f leaves out by default.
func leftOutOf(sn *store.Snapshot, f *compile.RepositoryFilter, ids *store.IDs) (forks, archived *store.IDs) {
	noForks, noArchived := f.LeavesOut()
	left := func(m store.Mark, leavesOut bool) *store.IDs {
		out := &store.IDs{}
		if leavesOut {
			out = ids.Clone()
			out.Intersect(sn.MarkedIDs(m))
		}
		return out
	}
	return left(store.MarkFork, noForks), left(store.MarkArchived, noArchived)
}

// fewChosen are so many repositories that making the target of each costs little.
const fewChosen = 64

// isBySet reports whether the repositories of b need not be looked at one by one: each
// is searched at one revision, which may be an indexed one, and no people have to be known
// before that.
func isBySet(b *target.Query) bool {
	return len(b.Revisions) == 1 && b.Revisions[0].Kind == compile.OneRevision && b.Index != query.No && len(b.Contributors) == 0 && !b.NeedsOwners()
}
