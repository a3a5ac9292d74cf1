package rank

import (
	"context"
	"slices"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/store/shard"
)

// planPromising plans the shards that may have top documents, as far as that is
// known before definitions are read.
func (w *Window) planPromising(ctx context.Context) {
	if w.asked == len(w.Shards) || w.in[0].Yield(ctx) != nil {
		return
	}
	for w.asked < len(w.Shards) && !w.enoughPhrases(ctx) {
		w.plan(ctx, w.unplanned(max(w.asked, 1)))
		if ctx.Err() != nil {
			return
		}
	}
	w.planThose(ctx, w.promises)
}

// planParts plans the shards that may have a definition whose name holds one of
// terms, and returns them.
func (w *Window) planParts(ctx context.Context, terms []compile.Term) []int {
	if len(terms) == 0 || w.asked == len(w.Shards) || w.in[0].Yield(ctx) != nil {
		return nil
	}
	return w.planThose(ctx, func(n int) bool { return w.mayHold(w.Shards[n].View, terms) })
}

// planThose plans the shards that were not asked for and of which ask reports
// true, and returns them.
func (w *Window) planThose(ctx context.Context, ask func(n int) bool) []int {
	all := w.unplanned(len(w.Shards))
	if len(all) == 0 {
		return nil
	}
	t := w.task
	start, before := t.Now(), w.asking
	those := slices.DeleteFunc(slices.Clone(all), func(n int) bool { return w.in[0].Yield(ctx) == nil && !ask(n) })
	t.Step("ask shards for first documents", start, t.Details(
		report.Count("shards", len(all)), report.Count("promising", len(those)),
		report.Count("lists", w.asking.Lists-before.Lists), report.Count("list bytes", w.asking.Bytes-before.Bytes),
	)...)
	if ctx.Err() != nil {
		return nil
	}
	w.plan(ctx, those)
	return those
}

// enoughPhrases reports whether as many documents as are taken for holding a
// phrase are in the first shards, which are planned.
func (w *Window) enoughPhrases(ctx context.Context) bool {
	for k, q := range w.queries {
		if q.PhraseMatcher == nil {
			continue
		}
		left := mayHoldPerTop * w.task.TopDocuments
		for n, p := range w.Plans {
			if !w.Asked[n] || left < 0 {
				break
			}
			if p == nil {
				continue
			}
			if p.readLists(ctx, w.task, w.in[0], w.queries); p.phrases[k] == nil {
				continue
			}
			for range p.withPhrase(k, newDocumentSet(p.Candidates)) {
				if left--; left < 0 {
					break
				}
			}
		}
		if left >= 0 {
			return false
		}
	}
	return true
}

// promises reports whether documents of a shard that was not planned may be
// called like a pattern, or define a name of the query. What it cannot know it
// takes for a promise.
func (w *Window) promises(n int) (yes bool) {
	defer func() {
		if x := recover(); x != nil {
			yes = true // planning the shard reports it
		}
	}()
	v := w.Shards[n].View
	if v.InMemory() || w.task.Visible.IsShared(v.ID) {
		return true
	}
	for _, q := range w.queries {
		if q.InSymbols || w.mayBeCalled(v, q) {
			return true
		}
	}
	return w.mayDefine(n, v)
}

// mayBeCalled reports whether the path of a document may match a pattern of q, or
// a filter if it has no patterns.
func (w *Window) mayBeCalled(v shard.View, q *target.Query) bool {
	if q.Tree == nil {
		return slices.ContainsFunc(q.Paths, func(f compile.PathFilter) bool { return f.HasSpans() })
	}
	if !q.InPath {
		return false
	}
	paths := w.in[0].Paths(v)
	defer w.count(paths)
	for _, a := range q.Atoms {
		if a.ContentOnly || a.Silent || a.Negated {
			continue
		}
		if c, err := paths.Eval(a.Expr); err != nil || !c.All && c.Docs.Len() > 0 {
			return true
		}
	}
	return false
}

// mayDefine finds the groups of symbols of a shard that may have a term for a
// name, and reports whether there are any.
func (w *Window) mayDefine(n int, v shard.View) (yes bool) {
	if !v.HasSymbols() {
		return false
	}
	known := map[string]*postings.Set{}
	symbols := w.in[0].Evaluator(v, shard.FieldSymbol)
	defer w.count(symbols)
	for _, q := range named(w.queries) {
		for _, t := range q.Terms {
			groups, err := shardplan.Groups(symbols, t.Whole)
			if err != nil {
				return true
			}
			known[t.Text] = groups
			yes = yes || groups.Len() > 0
		}
	}
	w.groups[n] = known
	return yes
}

// mayHold reports whether a shard may have a definition whose name holds one of
// terms.
func (w *Window) mayHold(v shard.View, terms []compile.Term) (yes bool) {
	defer func() {
		if x := recover(); x != nil {
			yes = true
		}
	}()
	if !v.HasSymbols() {
		return false
	}
	symbols := w.in[0].Evaluator(v, shard.FieldSymbol)
	defer w.count(symbols)
	return slices.ContainsFunc(terms, func(t compile.Term) bool {
		groups, err := shardplan.Groups(symbols, t.Inside)
		return err != nil || groups.Len() > 0
	})
}

// count adds what an evaluator has read.
func (w *Window) count(ev *postings.Evaluator) {
	w.asking.Lists += ev.Cost.Lists
	w.asking.Bytes += ev.Cost.Bytes
}
