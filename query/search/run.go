package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/commits"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/coverage"
	"github.com/trawlsearch/trawl/query/search/documents"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/scope"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/query/search/verify"
)

// run is one search.
type run struct {
	task     *task.Task
	searcher *Searcher
	q        *query.Query
	o        Options
	sink     answer.Sink
	// began is when the search was begun this time.
	began  time.Time
	basics []*target.Query
	// parsed are those that basics were compiled from.
	parsed    []query.Basic
	out       *answer.Sender
	scope     *scope.Scope
	coverage  *coverage.Ledger
	documents *documents.Runner
	commits   *commits.Runner
	// timeout is the time the whole search has.
	timeout time.Duration
}

func (r *run) run(ctx context.Context) Outcome {
	if err := r.prepare(); err != nil {
		r.task.Report.Skips().MarkIncomplete()
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
	r.task.Hide()
	r.coverage = coverage.New(r.task, r.basics)
	r.commits = &commits.Runner{Task: r.task, Out: r.out, Coverage: r.coverage}
	r.documents = &documents.Runner{
		Task: r.task, Out: r.out, Coverage: r.coverage, Options: verify.Options{ContextLines: r.o.ContextLines, Debug: r.o.Debug, Brute: r.task.Brute},
		Past: r.o.Bookmark.position(), IsResumed: r.o.Bookmark.Resumed(),
	}
	if r.task.Trace != nil {
		defer r.coverage.Report()
	}
	r.scope = scope.New(r.task, r.searcher.scopes, r.basics)
	r.scope.ChooseRepositories()
	if !r.o.Bookmark.Resumed() {
		r.task.Report.Exclude(r.scope.LeftOut())
	}
	deadline, cancel := context.WithTimeout(ctx, r.timeout-r.task.Now().Sub(r.began))
	defer cancel()
	if err := r.scope.Resolve(deadline); err != nil {
		r.task.Report.Skips().MarkIncomplete()
		r.documents.ReportUnready(err, r.basics)
		r.commits.ReportTimedOut(err, r.basics)
		r.coverage.Skip(target.WithDocuments(r.basics), false, err)
		return r.end(ctx, err)
	}
	coverage.ReportSymbols(r.task, r.basics)
	groups := r.byShape()
	if len(groups) > 1 {
		r.out.RememberSent()
	}
	for i, queries := range groups {
		if err := r.searchTogether(deadline, queries); err != nil {
			if !r.yielded() {
				r.task.Report.Skips().MarkIncomplete()
			}
			for _, later := range groups[i+1:] {
				r.skip(later, err)
			}
			return r.end(ctx, err)
		}
		if r.out.IsFull() {
			for _, later := range groups[i+1:] {
				r.coverage.Skip(target.WithDocuments(later), true, nil)
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
		r.task.Snapshot = r.o.Bookmark.snap
		r.task.ResumeFaults(r.o.Bookmark.failed)
	} else {
		r.task.Snapshot = r.searcher.store.Snapshot()
	}
	return func() {
		if r.yielded() {
			*r.o.Bookmark = Bookmark{snap: r.task.Snapshot, basics: r.parsed, start: r.task.Start, progress: r.out.Progress(), failed: r.task.FailedShards()}
		} else if !r.o.Bookmark.Resumed() {
			_ = r.task.Snapshot.Close()
		}
	}
}

// yielded reports whether the search ends to go on later.
func (r *run) yielded() bool { return r.o.Bookmark != nil && r.out != nil && r.out.HasYielded() }

// prepare compiles the basic queries and sets the limits.
func (r *run) prepare() error {
	if r.q.PatternType == query.Structural {
		return &query.SyntaxError{Message: "structural search is not supported", Hint: "search with patterntype:regexp"}
	}
	start := r.task.Now()
	limit, longest := 0, time.Duration(r.searcher.maxTimeout.Load())
	r.timeout = 0
	var err error
	if r.parsed, err = r.scoped(); err != nil {
		return err
	}
	for _, b := range r.parsed {
		all, err := compile.Compile(b, compile.Options{DefaultCount: r.o.DefaultCount, Now: r.task.Start, Addresses: r.searcher.set.Addresses})
		if err != nil {
			return err
		}
		for _, c := range all {
			r.basics = append(r.basics, &target.Query{Query: c})
		}
		c := all[0]
		limit = max(limit, c.Limit)
		t := c.Timeout
		if t == 0 {
			t = r.searcher.set.DefaultTimeout
			if c.Counted {
				t = longest
			}
		}
		r.timeout = max(r.timeout, min(t, longest))
	}
	r.task.Report.SetLimit(limit)
	r.task.Report.SetDisplay(r.o.Display)
	r.task.Report.SetFacetScope(newFacetScope(r.q.Text, r.basics))
	r.task.Report.Skips().SetTimeout(r.timeout, longest)
	var progress answer.Progress
	if r.o.Bookmark != nil {
		progress = r.o.Bookmark.progress
	}
	r.out = answer.NewSender(r.task, r.sink, limit, r.o.Display, progress)
	for i, b := range r.basics {
		describe, of := b.Described(), len(r.basics)
		held := compiledBytes * len(r.q.Text) / of
		r.task.Trace.Add(report.Step{Start: start.Sub(r.task.Start), Took: r.task.Now().Sub(start), LaterBytes: held, Later: func() (string, []report.Field) {
			return fmt.Sprintf("compile query %d of %d", i+1, of), []report.Field{report.Text("query", describe())}
		}})
	}
	return nil
}

// compiledBytes estimates the memory of a compiled query per byte of its text: a
// thousand words with or between have six times their length in trigrams.
const compiledBytes = 16

// byShape groups neighbouring basic queries of one shape, whose documents are confirmed
// together.
func (r *run) byShape() [][]*target.Query {
	var out [][]*target.Query
	for _, b := range r.basics {
		if n := len(out); n > 0 && compile.SameShape(out[n-1][0].Query, b.Query) {
			out[n-1] = append(out[n-1], b)
			continue
		}
		out = append(out, []*target.Query{b})
	}
	return out
}

// searchTogether searches names, documents and then commits for basic queries of one shape.
func (r *run) searchTogether(ctx context.Context, queries []*target.Query) error {
	r.out.Begin(queries[0])
	past := r.o.Bookmark.position()
	if past.Groups > 0 {
		r.out.Resume(past)
		r.task.TextsCut.Store(int64(past.TextsCut))
	}
	start := r.task.Now()
	most := r.out.Remaining()
	if r.out.MayTakeFewer() {
		most = math.MaxInt
	}
	found, nameErr := searchNames(ctx, r.task, queries, most)
	if past.Groups == 0 { // else they were sent before
		if err := r.out.Send(found); err != nil {
			return err
		}
	}
	r.task.Step("repository names", start, report.Count("matches", len(found)))
	docs := target.WithDocuments(queries)
	switch {
	case r.out.IsFullHere():
		r.coverage.Skip(docs, true, nil)
		return nil
	case nameErr != nil:
		r.skip(queries, nameErr)
		return nameErr
	case len(docs) > 0:
		if err := r.documents.Run(ctx, docs); err != nil {
			return err
		}
	}
	return r.commits.Run(ctx, queries)
}

// skip reports basic queries for which nothing but names was searched, since the search
// ended with an error.
func (r *run) skip(queries []*target.Query, err error) {
	r.commits.ReportTimedOut(err, queries)
	docs := target.WithDocuments(queries)
	r.documents.ReportTimedOut(err, docs, target.Sources(r.task, docs))
	r.coverage.Skip(docs, false, err)
}

// end decides what to say about a search that is over.
func (r *run) end(parent context.Context, err error) Outcome {
	r.task.ReportFaults()
	if r.out.Matches() == 0 {
		r.coverage.ReportNoText()
	}
	if slices.ContainsFunc(r.basics, (*target.Query).CountsMatches) {
		selects := slices.ContainsFunc(r.basics, func(b *target.Query) bool { return b.Select != nil })
		r.task.Report.Skips().Add(report.TextsCut(int(r.task.TextsCut.Load()), selects))
	}
	r.task.Report.Skips().Add(report.PreviewsShortened(r.out.Shortened()))
	timedOut := errors.Is(err, context.DeadlineExceeded)
	switch {
	case parent.Err() != nil:
		return Outcome{}
	case r.out.Err() != nil:
		return Outcome{Err: r.out.Err()}
	case err != nil && !timedOut:
		return Outcome{Err: err}
	}
	return Outcome{Alert: r.alert(timedOut)}
}
