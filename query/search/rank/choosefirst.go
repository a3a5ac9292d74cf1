package rank

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
)

// readNames reads what ranks the documents of p, once.
func readNames(ctx context.Context, r *task.Task, in *shardplan.Reader, pass []*target.Query, p *Shard) {
	if p.namesRead || r.IsShared(p.View.ID) && !r.Brute {
		return
	}
	p.namesRead, p.namesErr = true, p.readNames(ctx, in, pass)
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
		findLater(ctx, w.task, w.pass, by.Plans, w.Plans)
	} else {
		top = by.findTop(ctx)
		takeDefinitions(w.Plans, by.Plans)
	}
	slices.SortFunc(top, func(a, b TopDocument) int {
		return cmp.Or(cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Doc, b.Doc))
	})
	for _, h := range top {
		p := w.Plans[h.Shard]
		if p.Top == nil {
			p.Top = &postings.Set{}
		}
		p.Top.Add(h.Doc)
	}
	return top
}

// byIndex returns the window planned by the index.
func (w *Window) byIndex(ctx context.Context) *Window {
	out := NewWindow(w.task, w.in, w.pass, w.Shards)
	for n, p := range w.Plans {
		if p != nil {
			// The order is no reason to give up.
			if indexed, err := shardplan.New(ctx, p.View, w.in[0], nil, w.pass, w.task.PlanBytes, false); err == nil {
				out.Plans[n] = NewShard(indexed)
			}
		}
		out.Asked[n] = true
		out.asked++
	}
	return out
}

// allOf returns all candidates as top documents, if they are no more than most.
func allOf(plans []*Shard, most int) (top []TopDocument, few bool) {
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

// takeDefinitions has plans know the definitions that were found for by.
func takeDefinitions(plans, by []*Shard) {
	for n, p := range plans {
		if p != nil && by[n] != nil {
			p.Definitions.ByDocument = by[n].Definitions.ByDocument
		}
	}
}

// findLater has the definitions of plans, whose candidates are all top documents,
// found when the first document matches: a word without a match needs none.
func findLater(ctx context.Context, r *task.Task, pass []*target.Query, by, plans []*Shard) {
	find := sync.OnceFunc(func() {
		in := shardplan.NewReader(r, nil)
		defer in.Close()
		for _, p := range by {
			if p != nil {
				p.namesRead = false // its reader may be closed by now
				readNames(ctx, r, in, pass, p)
			}
		}
		findDefinitions(ctx, r, in, pass, by)
		takeDefinitions(plans, by)
	})
	for _, p := range plans {
		if p != nil {
			p.Definitions.Find = find
		}
	}
}
