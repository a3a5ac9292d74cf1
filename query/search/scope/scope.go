package scope

import (
	"context"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/lru"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store"
)

// selection is what the repository filters of a query chose.
type selection struct {
	// leftOut are the repositories left out by default.
	leftOut leftOut
	// lacking are revisions that repositories do not have, notIndexed those that
	// index:only leaves out; invalid is a text that can be no revision.
	lacking, notIndexed lacking
	invalid             string
	// passedOver says that a chosen repository has none of the revisions asked
	// for.
	passedOver bool
	// notIndexedYet are chosen repositories without a generation, by the reason why;
	// missing are those with one whose history cannot be read.
	notIndexedYet map[string]*store.IDs
	missing       []*store.Repository
}

// Scope finds what the basic queries of a search are about. It belongs to one
// goroutine.
type Scope struct {
	task    *task.Task
	queries []*target.Query
	cache   *Cache
	sel     selection
	// noOwners says that owners were asked for and no repository names any.
	noOwners bool
}

// Cache is what searches know of commits that are not indexed. It is safe
// for concurrent use.
type Cache struct {
	// commits are those of revisions, contents their files.
	commits  *lru.Cache[resolved, string]
	contents *lru.Cache[contentsKey, *target.Files]
}

const cachedCommitBytes = 16 << 20

// NewCache returns an empty cache.
func NewCache() *Cache {
	return &Cache{commits: lru.New[resolved, string](cachedCommitBytes), contents: lru.New[contentsKey, *target.Files](cachedContents)}
}

// New returns the scope of some basic queries.
func New(t *task.Task, cache *Cache, queries []*target.Query) *Scope {
	return &Scope{task: t, queries: queries, cache: cache}
}

// LeftOut returns how many forks and archived repositories were left out by
// default.
func (s *Scope) LeftOut() (forks, archived int) {
	return s.sel.leftOut.forks.Len(), s.sel.leftOut.archived.Len()
}

// HasPassedOver reports whether a chosen repository has none of the revisions
// asked for.
func (s *Scope) HasPassedOver() bool { return s.sel.passedOver }

// HasNoOwners reports whether owners were asked for and no repository names any.
func (s *Scope) HasNoOwners() bool { return s.noOwners }

// Alert names the revisions that could not be searched, nil if there are none.
func (s *Scope) Alert() *query.Alert {
	if a := s.sel.lacking.alert(); a != nil {
		return a
	}
	if s.sel.invalid != "" {
		return invalidRevisionAlert(s.sel.invalid)
	}
	return nil
}

// ChooseRepositories selects the repositories of every basic query.
func (s *Scope) ChooseRepositories() {
	start := s.task.Now()
	shown := target.NewShown()
	for _, b := range s.queries {
		s.selectRepositories(b, shown)
	}
	s.sel.leftOut = s.findLeftOut()
	notIndexed := 0
	for reason, ids := range s.sel.notIndexedYet {
		notIndexed += ids.Len()
		s.task.Report.Skips().Add(report.NotIndexed(reason, ids, func(id uint32) string { return s.task.Visible.Get(id).Name }))
	}
	forks, archived := s.LeftOut()
	s.task.Step("choose repositories", start, report.Count("known", s.task.Visible.Len()), report.Count("chosen", s.countChosen()),
		report.Count("forks left out", forks), report.Count("archived left out", archived),
		report.Count("not indexed", notIndexed))
}

// Resolve finds out, through git and by searches of documents, what has to be
// known before the first answer.
func (s *Scope) Resolve(ctx context.Context) error {
	if err := s.resolveRevisions(ctx); err != nil {
		return err
	}
	s.task.Report.Skips().Add(report.RevisionsNotIndexed(len(s.sel.notIndexed.repositories)))
	if err := s.readContents(ctx, s.queries, func(b *target.Query) *target.Repositories { return b.Repositories }); err != nil {
		return err
	}
	if err := s.testFiles(ctx); err != nil {
		return err
	}
	if err := readContributors(ctx, s.task, s.queries); err != nil {
		return err
	}
	var err error
	s.noOwners, err = readOwners(ctx, s.task, s.queries)
	return err
}
