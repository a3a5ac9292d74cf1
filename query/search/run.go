package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
)

// run is one search.
type run struct {
	*Searcher
	q    *query.Query
	o    Options
	sink Sink
	// start is when the search was first begun, which what it finds may depend
	// on, and began when it was this time.
	start, began time.Time
	snap         *store.Snapshot
	// repos are the repositories that exist for the client, in listing order; shared are the shards that also hold documents of others.
	repos    []*store.Repository
	shared   map[uint32]bool
	basics   []*basic
	sel      selection
	out      *sender
	coverage *coverer
	// timeout is the time the whole search has.
	timeout time.Duration
	// named says that repositories were reported as timed out.
	named bool
	// noOwners says that owners were asked for and no repository names any.
	noOwners bool

	mu sync.Mutex // guards what follows; nothing is called while it is held
	// failed are the shards of which some part could not be searched. unreachable
	// are the repositories that git could not read, gitBusy those that git had no
	// memory for, and unreadFiles the files that it could not read.
	failed      map[uint32]bool
	unreachable []*store.Repository
	gitBusy     []*store.Repository
	unreadFiles map[unreadFile]struct{}

	// cut counts texts with more matches than are kept.
	cut atomic.Int64
	// admitted is what the search has of the processors, slot that of the
	// goroutine that searches.
	admitted *admission.Search
	slot     *admission.Slot
}

func (r *run) run(ctx context.Context) Outcome {
	if err := r.prepare(); err != nil {
		r.o.Report.Gaps().Incomplete()
		var se *query.SyntaxError
		if errors.As(err, &se) {
			return Outcome{Alert: QueryAlert(err)}
		}
		return Outcome{Err: err}
	}
	if len(r.basics) == 0 {
		return Outcome{}
	}
	defer r.takeSnapshot()()
	r.repos = r.visible(r.snap.Repositories())
	r.coverage = newCoverer(r)
	if r.o.Trace != nil {
		defer r.coverage.report()
	}
	if err := r.choose(); err != nil {
		return Outcome{Alert: QueryAlert(err)}
	}
	deadline, cancel := context.WithTimeout(ctx, r.timeout-r.set.Now().Sub(r.began))
	defer cancel()
	if err := r.ready(deadline); err != nil {
		r.o.Report.Gaps().Incomplete()
		r.reportUnready(err)
		r.reportCommits(err, r.basics)
		r.coverage.skip(withDocuments(r.basics), false, err)
		return r.end(ctx, err)
	}
	r.reportSymbols()
	passes := r.passes()
	if len(passes) > 1 {
		r.out.earlier = newSent()
	}
	for i, pass := range passes {
		if err := r.pass(deadline, pass); err != nil {
			if !r.yielded() {
				r.o.Report.Gaps().Incomplete()
			}
			for _, later := range passes[i+1:] {
				r.reportCommits(err, later)
				later = withDocuments(later)
				r.reportTimedOut(err, later, r.sources(later))
				r.coverage.skip(later, false, err)
			}
			return r.end(ctx, err)
		}
		if r.out.full() {
			for _, later := range passes[i+1:] {
				r.coverage.skip(withDocuments(later), true, nil)
			}
			break
		}
	}
	return r.end(ctx, nil)
}

// takeSnapshot takes that of the bookmark, or a new one, and returns what
// releases it or leaves it to the bookmark.
func (r *run) takeSnapshot() (release func()) {
	if r.o.Bookmark.Resumed() {
		r.snap, r.failed = r.o.Bookmark.snap, r.o.Bookmark.failed
	} else {
		r.snap = r.store.Snapshot()
	}
	return func() {
		if r.yielded() {
			*r.o.Bookmark = Bookmark{snap: r.snap, start: r.start, counted: r.out.counted, taken: r.out.taken, position: r.out.position, failed: r.failed}
		} else if !r.o.Bookmark.Resumed() {
			_ = r.snap.Close()
		}
	}
}

// yielded reports whether the search ends to go on later.
func (r *run) yielded() bool {
	var yield *YieldError
	return r.o.Bookmark != nil && r.out != nil && errors.As(r.out.err, &yield)
}

// prepare compiles the basic queries and sets the limits.
func (r *run) prepare() error {
	if r.q.PatternType == query.Structural {
		return &query.SyntaxError{Message: "structural search is not supported", Hint: "search with patterntype:regexp"}
	}
	start := r.set.Now()
	limit := 0
	r.timeout = 0
	for _, b := range r.q.Basics {
		c, err := compile(b, r.o.DefaultCount)
		if err != nil {
			return err
		}
		if c.commits, err = newCommitQuery(c, r.start, r.set.Addresses); err != nil {
			return err
		}
		if c.commitAfter, err = newCommitAfter(b, r.start); err != nil {
			return err
		}
		if name := b.Value("context"); name != "" && name != "global" {
			return &query.ContextError{Name: name}
		}
		r.basics = append(r.basics, c.apart()...)
		limit = max(limit, c.limit)
		t := c.timeout
		if t == 0 {
			t = r.set.DefaultTimeout
			if c.counted {
				t = r.set.MaxTimeout
			}
		}
		r.timeout = max(r.timeout, min(t, r.set.MaxTimeout))
	}
	r.o.Report.SetLimit(limit)
	r.o.Report.SetDisplay(r.o.Display)
	r.o.Report.SetFacetScope(newFacetScope(r.q.Text, r.basics))
	r.o.Report.Gaps().SetTimeout(r.timeout, r.set.MaxTimeout)
	r.out = newSender(r, limit)
	for i, b := range r.basics {
		describe, of := b.described(), len(r.basics)
		held := compiledBytes * len(r.q.Text) / of
		r.o.Trace.Add(report.Step{Start: start.Sub(r.start), Took: r.set.Now().Sub(start), LaterBytes: held, Later: func() (string, []report.Field) {
			return fmt.Sprintf("compile query %d of %d", i+1, of), []report.Field{report.Text("query", describe())}
		}})
	}
	return nil
}

// compiledBytes is how much larger than its text a query is that is compiled: a
// thousand words with or between have six times their length in trigrams.
const compiledBytes = 16

// visible returns the repositories that exist for the client.
func (r *run) visible(repos []*store.Repository) []*store.Repository {
	r.shared = map[uint32]bool{}
	if r.o.Visible != nil {
		repos = slices.DeleteFunc(repos, func(repo *store.Repository) bool {
			if r.o.Visible(repo) {
				return false
			}
			for _, id := range slices.Concat(repo.Shards, repo.History.Shards) {
				r.shared[id] = true
			}
			return true
		})
	}
	return repos
}

// withoutLists reports whether a shard is searched by its text alone: as the
// oracle does, or because it also holds documents that do not exist for the
// client. Its lists are as long as all its documents make them, and so would
// be the time that it takes to read them. A merge parts such shards.
func (r *run) withoutLists(shard uint32) bool { return r.set.Brute || r.shared[shard] }

// choose selects the repositories of every basic query.
func (r *run) choose() error {
	start := r.set.Now()
	cache := map[uint32]*query.Repository{}
	shown := func(s *store.Repository) *query.Repository {
		if cache[s.ID] == nil {
			cache[s.ID] = showRepository(s)
		}
		return cache[s.ID]
	}
	r.sel.forks, r.sel.archived = map[uint32]bool{}, map[uint32]bool{}
	chosen := map[uint32]bool{}
	for _, b := range r.basics {
		if err := b.selectRepositories(r.repos, shown, r.start, &r.sel); err != nil {
			return err
		}
		for id := range b.targets {
			chosen[id] = true
		}
	}
	if !r.o.Bookmark.Resumed() {
		r.o.Report.Exclude(len(r.sel.forks), len(r.sel.archived))
	}
	r.o.Report.Gaps().Cloning(namesByID(r.sel.cloning))
	r.o.Report.Gaps().Indexing(namesByID(r.sel.indexing))
	r.o.Report.Gaps().Missing(namesByID(r.sel.missing))
	r.o.Trace.Add(report.Step{Name: "choose repositories", Start: start.Sub(r.start), Took: r.set.Now().Sub(start), Fields: []report.Field{
		report.Count("known", len(r.repos)), report.Count("chosen", len(chosen)),
		report.Count("forks left out", len(r.sel.forks)), report.Count("archived left out", len(r.sel.archived)),
		report.Count("not indexed", len(r.sel.cloning)+len(r.sel.indexing)+len(r.sel.missing)),
	}})
	return nil
}

// ready finds out, through git and by searches of documents, what has to be
// known before the first answer.
func (r *run) ready(ctx context.Context) error {
	if err := r.resolve(ctx); err != nil {
		return err
	}
	r.o.Report.Gaps().RevisionsNotIndexed(len(r.sel.notIndexed.repositories))
	if err := r.readContents(ctx, r.basics, func(b *basic) map[uint32]*target { return b.targets }); err != nil {
		return err
	}
	if err := r.testFiles(ctx); err != nil {
		return err
	}
	if err := r.readContributors(ctx); err != nil {
		return err
	}
	return r.readOwners(ctx)
}

// passes groups neighbouring basic queries whose documents can be confirmed
// together.
func (r *run) passes() [][]*basic {
	var out [][]*basic
	for _, b := range r.basics {
		if n := len(out); n > 0 && sameShape(out[n-1][0], b) {
			out[n-1] = append(out[n-1], b)
			continue
		}
		out = append(out, []*basic{b})
	}
	return out
}

// pass searches names and then documents for some basic queries.
func (r *run) pass(ctx context.Context, pass []*basic) error {
	r.out.begin(pass[0])
	past := r.o.Bookmark.passed()
	if past.groups > 0 {
		r.out.goTo(past)
		r.cut.Store(int64(past.cut))
	}
	start := r.set.Now()
	found, nameErr := searchNames(ctx, pass, r.repos)
	if past.groups == 0 { // else they were sent before
		if err := r.out.send(found); err != nil {
			return err
		}
	}
	r.o.Trace.Add(report.Step{Name: "repository names", Start: start.Sub(r.start), Took: r.set.Now().Sub(start),
		Fields: []report.Field{report.Count("matches", len(found))}})
	docs := withDocuments(pass)
	switch {
	case r.out.fullHere():
		r.coverage.skip(docs, true, nil)
		return nil
	case nameErr != nil:
		r.coverage.skip(docs, false, nameErr)
		r.reportTimedOut(nameErr, docs, r.sources(docs))
		return nameErr
	case len(docs) > 0:
		if err := r.documents(ctx, docs); err != nil {
			return err
		}
	}
	return r.searchCommits(ctx, pass)
}

// withDocuments returns the basic queries of pass that search documents.
func withDocuments(pass []*basic) []*basic {
	return slices.DeleteFunc(slices.Clone(pass), func(b *basic) bool { return !b.docs })
}

// fail records that a shard could not be searched, or not all of it.
func (r *run) fail(shard uint32, err error) {
	r.o.Trace.Add(report.Step{Name: fmt.Sprintf("shard %d unreadable", shard), Start: r.set.Now().Sub(r.start), Fields: []report.Field{report.Text("error", err.Error())}})
	if store.IsDamage(err) {
		r.set.Damaged(shard, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed = map[uint32]bool{}
	}
	r.failed[shard] = true
}

// end decides what to say about a search that is over.
func (r *run) end(parent context.Context, err error) Outcome {
	r.reportUnread()
	if r.out.sent == 0 {
		r.reportNoText()
	}
	r.o.Report.Gaps().UnreadableShards(len(r.failed))
	r.o.Report.Gaps().UnreadableRecords(r.snap.LostRepositories())
	if slices.ContainsFunc(r.basics, (*basic).countsMatches) {
		selects := slices.ContainsFunc(r.basics, func(b *basic) bool { return b.sel != nil })
		r.o.Report.Gaps().TextsCut(int(r.cut.Load()), selects)
	}
	r.o.Report.Gaps().PreviewsShortened(r.out.shortened)
	timedOut := errors.Is(err, context.DeadlineExceeded)
	switch {
	case parent.Err() != nil:
		return Outcome{}
	case r.out.err != nil:
		return Outcome{Err: r.out.err}
	case err != nil && !timedOut:
		return Outcome{Err: err}
	}
	return Outcome{Alert: r.alert(timedOut)}
}
