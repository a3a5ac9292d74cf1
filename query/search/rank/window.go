package rank

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store/shard"
)

// Window is a set of shards that are ranked together: their top documents come
// before all their other documents. Shards are planned as they are needed. Before
// the first document those are planned that show that not all candidates are top
// documents, and those that may have a top document; the others follow when it is
// their turn. The top documents are the same as if all shards had been planned
// before: what is read of a shard to find them depends neither on which others
// were planned nor on its candidates before they are compared. Shards that a limit
// cuts off are never read, so nothing is known of them, not even damage.
type Window struct {
	task *task.Task
	pass []*target.Query
	// in has a reader for each goroutine.
	in     []*shardplan.Reader
	Shards []target.Source
	// Plans are nil for shards that were not planned yet, or could not be. Asked
	// says which were tried.
	Plans []*Shard
	Asked []bool
	// asked counts those that were tried, Candidates their candidates.
	asked, Candidates int
	// names are, of shards that were not planned at once, the groups of symbols
	// that may have a term for a name.
	names []map[string]*postings.Set
	// late counts those that were planned when it was their turn.
	late int
	// probing is what was read of shards that were not planned at once.
	probing postings.Cost
	// alone counts shards that the first goroutine planned, which took it first
	// for the first of them, and later for the others.
	alone        int
	first, later time.Duration
}

// NewWindow returns the window of some shards, none of them planned. Of in the
// first reader belongs to the goroutine that calls.
func NewWindow(r *task.Task, in []*shardplan.Reader, pass []*target.Query, shards []target.Source) *Window {
	return &Window{
		task: r, in: in, pass: pass, Shards: shards,
		Plans: make([]*Shard, len(shards)), Asked: make([]bool, len(shards)), names: make([]map[string]*postings.Set, len(shards)),
	}
}

// aheadAtMost is how many shards that will be needed anyhow are planned before the
// first document is verified: a few milliseconds' worth. Beside many candidates
// a pause for planning later on does not matter.
const (
	aheadAtMost = 8
	many        = 1024
)

// Begin plans shards until it is known whether all candidates are top documents.
// If few more shards are needed for so many matches, it plans those too.
func (w *Window) Begin(ctx context.Context, wanted int) {
	if w.task.Brute {
		w.plan(ctx, w.unplanned(len(w.Shards)))
	}
	for w.asked < len(w.Shards) && ctx.Err() == nil {
		need, more := w.task.TopDocuments+1-w.Candidates, wanted-w.Candidates
		if w.Candidates < many && len(w.next(more)) <= aheadAtMost {
			need = max(need, more)
		}
		if need <= 0 {
			return
		}
		w.plan(ctx, w.next(need))
	}
}

// Shard returns the plan of a shard, nil if there is none. If it is not planned yet
// others behind it are as well: as many as probably have the matches that are
// still wanted, but for candidates that are known, and if these were not enough
// after all as many as before.
func (w *Window) Shard(ctx context.Context, n, wanted int) *Shard {
	if !w.Asked[n] {
		shards := w.next(wanted - w.Candidates)
		if len(shards) < w.late {
			shards = w.unplanned(w.late)
		}
		w.late += len(shards)
		w.plan(ctx, shards)
	}
	return w.Plans[n]
}

// next returns the first shards that were not asked for, as many as probably
// have so many candidates, and one at least.
func (w *Window) next(wanted int) []int {
	n := len(w.Shards)
	switch {
	case w.asked == 0 || wanted <= 0:
		n = 1
	case w.Candidates > 0:
		n = wanted/(w.Candidates/w.asked+1) + 1
	}
	return w.unplanned(n)
}

// unplanned returns the first n shards that were not asked for.
func (w *Window) unplanned(n int) (out []int) {
	for i := range w.Shards {
		if len(out) < n && !w.Asked[i] {
			out = append(out, i)
		}
	}
	return out
}

// worthHelp is how long this goroutine would go on planning alone to have others
// help: to wake them takes longer than to plan a shard that has nothing. The
// first shard of a search takes several times as long as another, unless it
// takes long by itself.
const (
	worthHelp = 400 * time.Microsecond
	longFirst = time.Millisecond
)

// estimate returns how long this goroutine will take for a shard, 0 if that is
// not known.
func (w *Window) estimate() time.Duration {
	switch {
	case w.alone > 1:
		return w.later / time.Duration(w.alone-1)
	case w.first >= longFirst:
		return w.first
	}
	return 0
}

// took notes how long a shard took this goroutine.
func (w *Window) took(d time.Duration) {
	if w.alone++; w.alone == 1 {
		w.first = d
	} else {
		w.later += d
	}
}

// plan plans some shards, on all workers if that is worth it.
func (w *Window) plan(ctx context.Context, shards []int) {
	r := w.task
	if len(shards) == 0 || r.Slot.Acquire(ctx) != nil {
		return
	}
	steps := make([]report.Step, len(shards))
	var next atomic.Int32
	var wg sync.WaitGroup
	var work func(in *shardplan.Reader)
	helpers := 0
	// help has others help who find a slot, now or later.
	help := func(left int) {
		for helpers < min(len(w.in), left)-1 && w.in[helpers+1].Slot.TryAcquire() {
			helpers++
			in := w.in[helpers]
			wg.Go(func() {
				defer in.Slot.Release()
				work(in)
			})
		}
	}
	work = func(in *shardplan.Reader) {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= len(shards) {
				return
			}
			if left := len(shards) - i; in == w.in[0] && r.Admitted.Share() > 1 && w.estimate()*time.Duration(left) > worthHelp {
				help(left)
			}
			start := r.Now()
			steps[i] = w.planOne(ctx, in, shards[i], start)
			if in == w.in[0] {
				w.took(r.Now().Sub(start))
			}
		}
	}
	work(w.in[0])
	if helpers > 0 {
		r.Slot.Leave()
	}
	wg.Wait()
	for i, n := range shards {
		w.Asked[n] = true
		w.asked++
		if p := w.Plans[n]; p != nil {
			w.Candidates += len(p.Candidates)
			r.Trace.Add(steps[i])
		}
	}
}

// planOne plans a shard.
func (w *Window) planOne(ctx context.Context, in *shardplan.Reader, n int, start time.Time) (step report.Step) {
	r := w.task
	_ = shardplan.Source(ctx, r, w.Shards[n], in, w.pass, func(planned *shardplan.Plan) bool {
		p := NewShard(planned)
		p.names = w.names[n]
		// With few candidates in all shards names may not be needed.
		if !r.Brute && len(p.Candidates) > r.TopDocuments/4 {
			readNames(ctx, r, in, w.pass, p)
		}
		w.Plans[n], step = p, planned.Step(r, "", start)
		return true
	})
	return step
}

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

// planThose plans the shards that were not asked for and of which ask reports
// true, and returns them.
func (w *Window) planThose(ctx context.Context, ask func(n int) bool) []int {
	all := w.unplanned(len(w.Shards))
	if len(all) == 0 {
		return nil
	}
	r := w.task
	start, before := r.Now(), w.probing
	those := slices.DeleteFunc(slices.Clone(all), func(n int) bool { return w.in[0].Yield(ctx) == nil && !ask(n) })
	r.Step("ask shards for first documents", start, r.Guarded(
		report.Count("shards", len(all)), report.Count("promising", len(those)),
		report.Count("lists", w.probing.Lists-before.Lists), report.Count("list bytes", w.probing.Bytes-before.Bytes),
	)...)
	if ctx.Err() != nil {
		return nil
	}
	w.plan(ctx, those)
	return those
}

// count adds what an evaluator has read.
func (w *Window) count(ev *postings.Evaluator) {
	w.probing.Lists += ev.Cost.Lists
	w.probing.Bytes += ev.Cost.Bytes
}

// enoughPhrases reports whether as many documents as are taken for holding a
// phrase are in the first shards, which are planned.
func (w *Window) enoughPhrases(ctx context.Context) bool {
	for k, q := range w.pass {
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
			if readNames(ctx, w.task, w.in[0], w.pass, p); p.phrases[k] == nil {
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
	if v.InMemory() || w.task.IsShared(v.ID) {
		return true
	}
	docs, err := v.Documents()
	if err != nil {
		return true
	}
	for _, q := range w.pass {
		if q.InSymbols || w.mayBeCalled(v, docs, q) {
			return true
		}
	}
	return w.mayDefine(n, v)
}

// mayBeCalled reports whether the path of a document may match a pattern of q, or
// a filter if it has no patterns.
func (w *Window) mayBeCalled(v shard.View, docs *shard.Documents, q *target.Query) bool {
	if q.Tree == nil {
		return slices.ContainsFunc(q.Paths, func(f compile.PathFilter) bool { return f.HasSpans() })
	}
	if !q.InPath {
		return false
	}
	paths := w.in[0].Paths(v, docs)
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
	symbols := w.in[0].Evaluator(v, shard.FieldSymbol, v.DocOf())
	defer w.count(symbols)
	for _, q := range named(w.pass) {
		for _, t := range q.Terms {
			groups, err := shardplan.Groups(symbols, t.Whole)
			if err != nil {
				return true
			}
			known[t.Text] = groups
			yes = yes || groups.Len() > 0
		}
	}
	w.names[n] = known
	return yes
}

// planParts plans the shards that may have a definition whose name holds one of
// terms, and returns them.
func (w *Window) planParts(ctx context.Context, terms []compile.Term) []int {
	if len(terms) == 0 || w.in[0].Yield(ctx) != nil {
		return nil
	}
	return w.planThose(ctx, func(n int) bool { return w.mayHold(w.Shards[n].View, terms) })
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
	symbols := w.in[0].Evaluator(v, shard.FieldSymbol, v.DocOf())
	defer w.count(symbols)
	return slices.ContainsFunc(terms, func(t compile.Term) bool {
		groups, err := shardplan.Groups(symbols, t.Inside)
		return err != nil || groups.Len() > 0
	})
}
