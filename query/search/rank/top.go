package rank

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/shardplan"
)

const (
	// DefaultTop is how many top documents a window has, unless a setting says
	// otherwise.
	DefaultTop = 64
	// TopScore is the least score of a top document: one with less is sent among
	// the others.
	TopScore = 1000
)

// TopDocument is a document that is ranked before all others of a window, Doc of
// the shard with the number Shard.
type TopDocument struct {
	Shard  int
	Doc    uint16
	points float64
}

// Top returns the top documents in the order of shards and documents, and has the
// plans know them. A search without the index chooses by the index as well, so
// that its answer has the same order.
func (w *Window) Top(ctx context.Context) []TopDocument {
	by := w
	if w.task.Brute {
		by = w.byIndex(ctx)
	}
	top, few := allOf(by.Plans, w.task.TopDocuments)
	if few {
		by.deferDefinitions(ctx, w.Plans)
	} else {
		top = by.findTop(ctx)
		takeDefinitions(w.Plans, by.Plans)
	}
	slices.SortFunc(top, func(a, b TopDocument) int {
		return cmp.Or(cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Doc, b.Doc))
	})
	for _, d := range top {
		p := w.Plans[d.Shard]
		if p.Top == nil {
			p.Top = &postings.Set{}
		}
		p.Top.Add(d.Doc)
	}
	return top
}

// allOf returns all candidates as top documents, if they are no more than most.
func allOf(plans []*Plan, most int) (top []TopDocument, few bool) {
	for n, p := range plans {
		if p == nil {
			continue
		}
		if len(top)+len(p.Candidates) > most {
			return nil, false
		}
		for _, doc := range p.Candidates {
			top = append(top, TopDocument{Shard: n, Doc: doc})
		}
	}
	return top, true
}

// byIndex returns the window planned by the index.
func (w *Window) byIndex(ctx context.Context) *Window {
	out := NewWindow(w.task, w.in, w.queries, w.Shards)
	for n, p := range w.Plans {
		if p != nil {
			// The order is no reason to give up.
			if indexed, err := shardplan.New(ctx, p.View, w.in[0], nil, w.queries, w.task.PlanBytes, false); err == nil {
				out.Plans[n] = NewPlan(indexed)
			}
		}
		out.Asked[n] = true
		out.asked++
	}
	return out
}

// findTop returns the top documents, the most promising first, and notes their
// definitions in the plans. It plans the shards that may have some.
//
// When ctx has ended it returns what it found until then: no client waits for it.
func (w *Window) findTop(ctx context.Context) []TopDocument {
	in := w.in[0]
	w.planPromising(ctx)
	start := w.task.Now()
	w.readLists(ctx, in)
	r := newRanker(w.task, w.queries, w.Plans)
	if r == nil {
		return nil
	}
	w.findDefinitions(ctx, in, r)
	// If there are too few phrases, all shards were planned to know that.
	allPlanned := !w.enoughPhrases(ctx)
	for k, q := range w.queries {
		if in.Yield(ctx) != nil {
			break
		}
		r.try(func() {
			r.findPaths(k, q)
			r.findPhrase(k, q)
			if allPlanned {
				r.findWordy(k, q)
			}
			r.confirmPhrase(ctx, k, q)
		})
	}
	top := r.best()
	r.trace("choose first documents", start, report.Count("documents", len(top)))
	return top
}

// readLists reads the lists of all shards that are planned.
func (w *Window) readLists(ctx context.Context, in *shardplan.Reader) {
	for _, p := range w.Plans {
		if p != nil {
			p.readLists(ctx, w.task, in, w.queries)
		}
	}
}

// findDefinitions finds the definitions of the names of the queries. A term that no
// definition is called by is looked for within names, which more shards may be
// planned for.
func (w *Window) findDefinitions(ctx context.Context, in *shardplan.Reader, r *ranker) {
	for _, q := range named(w.queries) {
		if in.Yield(ctx) != nil {
			break
		}
		r.try(func() {
			unknown := r.findNamed(q)
			for _, n := range w.planParts(ctx, unknown) {
				if p := w.Plans[n]; p != nil {
					p.readLists(ctx, w.task, in, w.queries)
					r.addCandidates(n)
				}
			}
			r.findParts(q, unknown)
		})
	}
	r.try(r.rateDefinitions)
}

// deferDefinitions has the definitions of plans, whose candidates are all top
// documents, found when the first document matches: a word without a match needs
// none. They are those of w, which has planned all its shards.
func (w *Window) deferDefinitions(ctx context.Context, plans []*Plan) {
	find := sync.OnceFunc(func() {
		in := shardplan.NewReader(w.task, nil)
		defer in.Close()
		for _, p := range w.Plans {
			if p != nil {
				p.listsRead = false // its reader may be closed by now
			}
		}
		w.readLists(ctx, in)
		start := w.task.Now()
		if r := newRanker(w.task, w.queries, w.Plans); r != nil {
			w.findDefinitions(ctx, in, r)
			r.trace("find definitions", start)
		}
		takeDefinitions(plans, w.Plans)
	})
	for _, p := range plans {
		if p != nil {
			p.Definitions.Find = find
		}
	}
}

// takeDefinitions has plans know the definitions that were found for by.
func takeDefinitions(plans, by []*Plan) {
	for n, p := range plans {
		if p != nil && by[n] != nil {
			p.Definitions.ByDocument = by[n].Definitions.ByDocument
		}
	}
}
