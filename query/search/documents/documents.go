package documents

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/coverage"
	"github.com/trawlsearch/trawl/query/search/rank"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/query/search/verify"
	"github.com/trawlsearch/trawl/store"
)

// The sizes of segments and groups follow from the plan alone, so the order does not
// depend on time or the number of workers.
const (
	segmentDocs  = 256
	segmentBytes = 1 << 20
	groupDocs    = 1024
	groupBytes   = 4 << 20
	// firstShare is by how much the first group and its segments are smaller, each
	// that follows by half of that: something is shown soon, and a search of few
	// results verifies few documents in vain.
	firstShare = 16
)

// segment is the unit of verification: some candidates of one shard. Groups of
// segments are sorted by score before they are sent.
type segment struct {
	verify.Segment
	// lastOfGroup says that the group is to be sorted and sent after this one;
	// shard is the place of its source in the order.
	lastOfGroup bool
	shard       int
	// isTop says that the documents are top documents.
	isTop bool
	// group counts the groups before that of the segment.
	group int

	// bytes is about what there is to verify.
	bytes int
}

// Runner searches documents. Each Run is for the basic queries of one shape.
type Runner struct {
	Task     *task.Task
	Out      *answer.Sender
	Coverage *coverage.Ledger
	// Options are what matches carry.
	Options verify.Options
	// Past is where an earlier run ended, and IsResumed says that there was one.
	Past      answer.Position
	IsResumed bool
}

// Run searches documents for basic queries of one shape.
func (r *Runner) Run(ctx context.Context, queries []*target.Query) error {
	start := r.Task.Now()
	sources := target.Sources(r.Task, queries)
	r.Coverage.Begin(sources)
	p := newPipeline(ctx, r, queries)
	// If the sink panics, which servers survive, nothing else does these.
	defer r.Task.Slot.Leave()
	defer p.releaseAlone()
	planErr := r.schedule(p.ctx, queries, sources, p)
	err := p.end()
	if err == nil && planErr != nil && ctx.Err() != nil {
		err = planErr
	}
	r.Task.Step("verify", start, append([]report.Field{
		report.Count("workers", p.workers),
	}, r.Task.Details(report.Count("documents", p.docs), report.Count("bytes", p.bytes))...)...)
	r.Coverage.End(queries, r.Out.IsFullHere(), err)
	if r.Out.Err() == nil && r.Out.IsFullHere() {
		return nil
	}
	r.ReportTimedOut(err, queries, sources[min(p.unfinished, len(sources)):])
	return err
}

// divide parts the top documents with the score of one from those with less.
func divide(top []query.Match) (first, rest []query.Match) {
	for _, m := range top {
		if m.(*query.FileMatch).Score >= rank.TopScore {
			first = append(first, m)
		} else {
			rest = append(rest, m)
		}
	}
	return first, rest
}

// sortGroup sorts group by falling score, in place, and returns it. The sort is
// stable.
func sortGroup(group []query.Match) []query.Match {
	slices.SortStableFunc(group, func(a, b query.Match) int {
		return cmp.Compare(b.(*query.FileMatch).Score, a.(*query.FileMatch).Score)
	})
	return group
}

// ReportUnready records all chosen repositories with documents, if err says that
// time was up.
func (r *Runner) ReportUnready(err error, queries []*target.Query) {
	r.reportTimedOutWhere(err, func(repo *store.Repository) bool {
		return len(repo.Shards) > 0 && slices.ContainsFunc(queries, func(b *target.Query) bool { return b.Repositories.Has(repo.ID) })
	})
}

// ReportTimedOut records the chosen repositories with documents in sources that
// were not finished, if err says that time was up.
func (r *Runner) ReportTimedOut(err error, queries []*target.Query, left []target.Source) {
	isLeft := target.In(left)
	r.reportTimedOutWhere(err, func(repo *store.Repository) bool {
		return slices.ContainsFunc(queries, func(b *target.Query) bool {
			t := b.Repositories.Get(repo.ID)
			return t != nil && isLeft(t)
		})
	})
}

func (r *Runner) reportTimedOutWhere(err error, unfinished func(*store.Repository) bool) {
	if r.Out.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return
	}
	var repos []*store.Repository
	for repo := range r.Task.Visible.Listed() {
		if unfinished(repo) {
			repos = append(repos, repo)
		}
	}
	r.Task.ReportTimedOut(repos)
}
