package scope

import (
	"iter"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store"
)

// isAllBut reports whether b searches all repositories but some, each at its default
// branch, and nothing has to be known of each before it is searched.
func isAllBut(b *target.Query) bool {
	return b.RepositoryFilter.MatchesAllBut() && !b.RevisionsTyped && b.Index != query.No && b.Commits == nil &&
		len(b.FileTests)+len(b.Contributors) == 0 && b.CommitAfter == nil && !b.NeedsOwners()
}

// selectAllBut sets the repositories of b by a rule.
func (r *Scope) selectAllBut(b *target.Query, shown *shownRepositories) *allBut {
	rule := newAllBut(r.Task, b.RepositoryFilter, shown)
	leftOut := *rule
	leftOut.leftOut = true
	b.Repositories, b.LeftOut = target.NewRuled(rule), target.NewRuled(&leftOut)
	for stored := range r.Marked(store.MarkUnindexed) {
		if rule.has(stored) {
			r.sel.addUnindexed(stored)
		}
	}
	return rule
}

// allBut is the rule of the repositories that exist for the client, but those with
// certain names and forks or archived ones that the query does not ask for. With
// leftOut set it is that of the repositories left out by default.
type allBut struct {
	task     *task.Task
	filter   *compile.RepositoryFilter
	shown    *shownRepositories
	excluded map[uint32]*store.Repository
	leftOut  bool
	// classes counts the repositories that are not excluded.
	classes classes
}

func newAllBut(t *task.Task, f *compile.RepositoryFilter, shown *shownRepositories) *allBut {
	a := &allBut{task: t, filter: f, shown: shown, excluded: map[uint32]*store.Repository{}}
	_, exclude := f.Names()
	for _, m := range exclude {
		for repo := range t.Named(m) {
			a.excluded[repo.ID] = repo
		}
	}
	a.classes = countClasses(t, a.excluded)
	return a
}

// has reports whether a repository that exists for the client is a member.
func (a *allBut) has(r *store.Repository) bool {
	return a.excluded[r.ID] == nil && a.hasClass(r)
}

// hasClass is has by what the filter says of forks and archived repositories.
func (a *allBut) hasClass(r *store.Repository) bool {
	fork, archived := a.filter.LeftOut(r)
	return a.filter.Matches(r) && (fork || archived) == a.leftOut
}

// Find implements target.Rule.
func (a *allBut) Find(id uint32) *store.Repository {
	if r := a.task.Repository(id); r != nil && a.has(r) {
		return r
	}
	return nil
}

// Listed implements target.Rule.
func (a *allBut) Listed() iter.Seq[*store.Repository] {
	return func(yield func(*store.Repository) bool) {
		for r := range a.task.Listed() {
			if a.has(r) && !yield(r) {
				return
			}
		}
	}
}

// Len implements target.Rule.
func (a *allBut) Len() int { return a.classes.count(a.hasClass) }

// Target implements target.Rule.
func (a *allBut) Target(r *store.Repository) *target.Repository {
	rev := &target.Revision{}
	if r.Indexed() {
		rev.Commit = commitOf(r, 0)
	}
	return &target.Repository{Stored: r, Shown: a.shown.of(r), Revisions: []*target.Revision{rev}}
}

// classes counts repositories by whether they are forks, and archived.
type classes [2][2]int

// countClasses counts the repositories that exist for the client, without some of
// them. It goes through the archived ones or the forks, whichever are fewer.
func countClasses(t *task.Task, without map[uint32]*store.Repository) classes {
	sn := t.Snapshot
	forks, archived, both := sn.CountMarked(store.MarkFork), sn.CountMarked(store.MarkArchived), 0
	fewer := store.MarkArchived
	if forks < archived {
		fewer = store.MarkFork
	}
	for r := range sn.Marked(fewer) {
		if r.Fork && r.Archived {
			both++
		}
	}
	var c classes
	c[1][1], c[1][0], c[0][1] = both, forks-both, archived-both
	c[0][0] = sn.RepositoryCount() - c[1][1] - c[1][0] - c[0][1]
	for _, r := range t.Hidden() {
		c.of(r, -1)
	}
	for _, r := range without {
		c.of(r, -1)
	}
	return c
}

// of adds n to the class of r.
func (c *classes) of(r *store.Repository, n int) { c[number(r.Fork)][number(r.Archived)] += n }

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// classOf are repositories of each class.
var classOf = [2][2]*store.Repository{{{}, {Archived: true}}, {{Fork: true}, {Fork: true, Archived: true}}}

// count returns how many repositories there are in classes that in reports true for.
func (c *classes) count(in func(*store.Repository) bool) (n int) {
	for fork := range c {
		for archived, repositories := range c[fork] {
			if in(classOf[fork][archived]) {
				n += repositories
			}
		}
	}
	return n
}
