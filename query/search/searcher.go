package search

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/rank"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/scope"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// Settings are what an operator chooses. The zero value means the defaults.
type Settings struct {
	// Workers is how many shards are planned and documents verified at once, by
	// one search or several; 0 is one per processor that Go uses.
	Workers int
	// Brute searches without posting lists, every document by Go's regexp: the
	// oracle that the index is checked against.
	Brute bool
	// DefaultTimeout is for queries without timeout: and count:, 0 is 20 s;
	// MaxTimeout bounds all, 0 is 60 s.
	DefaultTimeout, MaxTimeout time.Duration
	// MaxTextBytes is the size of a file up to which its text is searched at
	// revisions that are not indexed; 0 is 32 MiB, as it is for those that are.
	MaxTextBytes int64
	// Git is what git's processes share with those that others start; nil is
	// nothing.
	Git *git.Budget
	// PlanBytes is about what a plan of one shard may hold of where patterns may
	// match; 0 is 8 MiB.
	PlanBytes int
	// TopDocuments is how many documents, those that promise most, are verified before
	// anything is shown; 0 is 64.
	TopDocuments int
	// Addresses returns the verified addresses of a user by their name, for
	// author:@name; none if no user has that name. nil knows no users.
	Addresses func(name string) []string
	// Damaged is called for each damaged shard, by any number of searches at once,
	// so that it is quarantined; nil is not called.
	Damaged func(shard uint32, damage error)
	// Now returns the time; nil is time.Now.
	Now func() time.Time
}

// Searcher runs queries on a store. It is safe for concurrent use.
type Searcher struct {
	store *store.Store
	set   Settings
	// maxTimeout is Settings.MaxTimeout, as SetMaxTimeout has changed it.
	maxTimeout atomic.Int64

	git    *task.Git
	scopes *scope.Cache
	// processors are for goroutines that plan and verify.
	processors *admission.Processors
	// scratches are *postings.Scratch that no search uses now.
	scratches sync.Pool
}

// New returns a searcher on st.
func New(st *store.Store, s Settings) *Searcher {
	s.Workers = cmp.Or(s.Workers, runtime.GOMAXPROCS(0))
	s.DefaultTimeout = cmp.Or(s.DefaultTimeout, 20*time.Second)
	s.MaxTimeout = cmp.Or(s.MaxTimeout, 60*time.Second)
	s.TopDocuments = cmp.Or(s.TopDocuments, rank.DefaultTop)
	s.PlanBytes = cmp.Or(s.PlanBytes, shardplan.DefaultBytes)
	s.MaxTextBytes = cmp.Or(s.MaxTextBytes, 32<<20)
	if s.Damaged == nil {
		s.Damaged = func(uint32, error) {}
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	searcher := &Searcher{
		store: st, set: s, git: task.NewGit(st, s.Git, s.Workers), processors: admission.NewProcessors(s.Workers, 1),
		scopes: scope.NewCache(),
	}
	searcher.SetMaxTimeout(s.MaxTimeout)
	return searcher
}

// SetMaxTimeout changes what bounds the time of searches that begin from now on.
func (s *Searcher) SetMaxTimeout(d time.Duration) { s.maxTimeout.Store(int64(d)) }

// Busy returns how many searches are at work: those that wait neither for their
// client nor for memory.
func (s *Searcher) Busy() int { return s.processors.Busy() }

// defaultCount is the count limit of a query that names none.
const defaultCount = 10000

// Search runs q and sends what it confirms to sink, in one order for one
// snapshot and query. It returns when the search is over and the sink has
// everything, or when ctx ends or the sink fails. If the sink yields, it returns
// the *YieldError, and is to be called again with the same query, options and
// bookmark.
func (s *Searcher) Search(ctx context.Context, q *query.Query, o Options, sink answer.Sink) Outcome {
	if o.Report == nil {
		o.Report = report.New(s.set.Now)
	}
	o.DefaultCount = cmp.Or(o.DefaultCount, defaultCount)
	began := s.set.Now()
	t := &task.Task{
		Limits: task.Limits{Workers: s.set.Workers, Brute: s.set.Brute, MaxTextBytes: s.set.MaxTextBytes, PlanBytes: s.set.PlanBytes, TopDocuments: s.set.TopDocuments},
		Now:    s.set.Now, Start: began, Client: o.Asker, IsVisible: o.Visible, PublicIsVisible: o.PublicVisible, Only: o.Only,
		Git: s.git, Scratches: &s.scratches, Report: o.Report, Trace: o.Trace, Damaged: s.set.Damaged,
	}
	if o.Bookmark.Resumed() {
		t.Start = o.Bookmark.start
	}
	t.Processors = s.processors.Begin(o.Asker, o.Bookmark.Resumed(), s.set.Now)
	defer t.Processors.End() // also when it panics, which servers survive
	t.Slot = t.Processors.Slot()
	r := &run{task: t, searcher: s, q: q, o: o, sink: sink, began: began}
	out := r.run(ctx)
	if !r.yielded() {
		o.Report.Finish(out.Err == nil)
	}
	return out
}
