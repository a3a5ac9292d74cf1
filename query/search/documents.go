package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
)

// A segment is the unit of verification: some candidates of one shard. Groups
// of segments are sorted by score before they are sent. Sizes follow from the
// plan alone, so the order does not depend on time or the number of workers.
const (
	segmentDocs  = 256
	segmentBytes = 1 << 20
	groupDocs    = 1024
	groupBytes   = 4 << 20
	// firstShare is by how much the first group and its segments are smaller, each
	// that follows by half of that: something is shown soon, and a search of few
	// results verifies few documents in vain.
	firstShare = 16
	// segmentsAhead is how many segments may be planned or verified before the
	// first of them has been sent, per worker.
	segmentsAhead = 4
)

type segment struct {
	plan *shardPlan
	docs []uint16
	// lastOfGroup says that the group is to be sorted and sent after this one;
	// shard is the place of its source in the order.
	lastOfGroup bool
	shard       int
	// heads says that the documents are those that go first.
	heads bool
	// group counts the groups before that of the segment.
	group int

	// bytes is about what there is to verify.
	bytes int

	// matches and err are what the verifier found. verified counts the documents
	// that were looked at, cut those with more matches than are kept.
	matches       []query.Match
	verified, cut int
	err           error
}

// documents searches documents for one pass.
func (r *run) documents(ctx context.Context, pass []*basic) error {
	start := r.set.Now()
	sources := r.sources(pass)
	r.coverage.begin()
	p := newPipeline(ctx, r, pass)
	// If the sink panics, which servers survive, nothing else does these.
	defer r.slot.Leave()
	defer p.releaseAlone()
	planErr := r.schedule(p.ctx, pass, sources, p)
	err := p.end()
	if err == nil && planErr != nil && ctx.Err() != nil {
		err = planErr
	}
	r.o.Trace.Add(report.Step{Name: "verify", Start: start.Sub(r.start), Took: r.set.Now().Sub(start), Fields: append([]report.Field{
		report.Count("workers", p.workers),
	}, r.work(report.Count("documents", p.docs), report.Count("bytes", p.bytes))...)})
	r.coverage.end(pass, r.out.fullHere(), err)
	if r.out.err == nil && r.out.fullHere() {
		return nil
	}
	r.reportTimedOut(err, pass, sources[min(p.reached, len(sources)):])
	return err
}

// work returns fields that count what was read. There are none for a client that may not see
// all: a shard may hold documents that do not exist for them, and the lengths
// of its lists would tell what those hold; so would the number of candidates,
// since which lists are read depends on their lengths.
func (r *run) work(fields ...report.Field) []report.Field {
	if r.o.Visible != nil {
		return nil
	}
	return fields
}

// segment verifies the documents of s in order. A document that cannot be
// verified does not keep the others from it.
func (v *verifier) segment(ctx context.Context, at *admission.Slot, s *segment) (out []query.Match, err error) {
	if err := v.use(ctx, s.plan, at); err != nil {
		return nil, err
	}
	before := v.cut
	defer func() { s.cut = v.cut - before }()
	for _, i := range s.docs {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		s.verified++
		found, failed := v.document(i)
		if failed != nil {
			err = failed
			continue
		}
		for _, m := range found {
			out = append(out, m)
		}
	}
	return out, err
}

// document verifies one document. A panic over it is an error, not the end of
// the program.
func (v *verifier) document(i uint16) (found []*query.FileMatch, err error) {
	defer func() {
		if p := recover(); p != nil {
			found, err = nil, fmt.Errorf("panic: %v", p)
		}
		v.doc.Release()
		if err != nil {
			err = fmt.Errorf("verify %q of shard %d: %w", v.plan.docs.Path(int(i)), v.plan.view.ID, err)
		}
	}()
	return v.verify(i)
}

// divide parts the heads that are worth it from those that promised too much.
func divide(heads []query.Match) (first, late []query.Match) {
	for _, m := range heads {
		if m.(*query.FileMatch).Score >= headScore {
			first = append(first, m)
		} else {
			late = append(late, m)
		}
	}
	return first, late
}

// sortGroup orders by score; what is equal stays in document order.
func sortGroup(group []query.Match) []query.Match {
	slices.SortStableFunc(group, func(a, b query.Match) int {
		return cmp.Compare(b.(*query.FileMatch).Score, a.(*query.FileMatch).Score)
	})
	return group
}

// reportUnready records all chosen repositories with documents, if err says that
// time was up.
func (r *run) reportUnready(err error) {
	r.reportTimedOutWhere(err, func(repo *store.Repository) bool {
		return len(repo.Shards) > 0 && slices.ContainsFunc(r.basics, func(b *basic) bool { return b.targets[repo.ID] != nil })
	})
}

// reportTimedOut records the chosen repositories with documents in sources that
// were not finished, if err says that time was up.
func (r *run) reportTimedOut(err error, pass []*basic, left []source) {
	r.reportTimedOutWhere(err, func(repo *store.Repository) bool {
		return slices.ContainsFunc(pass, func(b *basic) bool {
			t := b.targets[repo.ID]
			return t != nil && repositoryIn(t, left)
		})
	})
}

func (r *run) reportTimedOutWhere(err error, unfinished func(*store.Repository) bool) {
	if r.out.err != nil || !errors.Is(err, context.DeadlineExceeded) {
		return
	}
	repos := slices.DeleteFunc(slices.Clone(r.repos), func(repo *store.Repository) bool { return !unfinished(repo) })
	r.named = r.named || len(repos) > 0
	r.o.Report.Gaps().TimedOut(namesByID(repos))
}

// namesByID sorts repositories by ID and returns their names.
func namesByID(repos []*store.Repository) []string {
	slices.SortFunc(repos, func(a, b *store.Repository) int { return cmp.Compare(a.ID, b.ID) })
	names := make([]string, len(repos))
	for i, repo := range repos {
		names[i] = repo.Name
	}
	return names
}
