package rank

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
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
	task    *task.Task
	queries []*target.Query
	// in has a reader for each goroutine.
	in     []*shardplan.Reader
	Shards []target.Source
	// Plans are nil for shards that were not planned yet, or could not be. Asked
	// says which were tried.
	Plans []*Plan
	Asked []bool
	// asked counts those that were tried, Candidates their candidates.
	asked, Candidates int
	// groups are, of shards that were asked before they were planned, the groups of
	// symbols that may have a term for a name, by its text.
	groups []map[string]*postings.Set
	// late counts those that were planned when it was their turn.
	late int
	// asking is what was read of shards before they were planned.
	asking postings.Cost
	// alone counts shards that the first goroutine planned, which took it first
	// for the first of them, and later for the others.
	alone        int
	first, later time.Duration
}

// NewWindow returns the window of some shards, none of them planned. Of in the
// first reader belongs to the goroutine that calls.
func NewWindow(t *task.Task, in []*shardplan.Reader, queries []*target.Query, shards []target.Source) *Window {
	return &Window{
		task: t, in: in, queries: queries, Shards: shards,
		Plans: make([]*Plan, len(shards)), Asked: make([]bool, len(shards)), groups: make([]map[string]*postings.Set, len(shards)),
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

// Plan returns the plan of a shard, nil if there is none. If it is not planned yet
// others behind it are as well: as many as probably have the matches that are
// still wanted, but for candidates that are known, and if these were not enough
// after all as many as before.
func (w *Window) Plan(ctx context.Context, n, wanted int) *Plan {
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

// plan plans some shards, on all workers if that is worth it.
func (w *Window) plan(ctx context.Context, shards []int) {
	t := w.task
	if len(shards) == 0 || t.Slot.Acquire(ctx) != nil {
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
			if left := len(shards) - i; in == w.in[0] && t.Processors.Goroutines() > 1 && w.estimate()*time.Duration(left) > worthHelp {
				help(left)
			}
			start := t.Now()
			steps[i] = w.planOne(ctx, in, shards[i], start)
			if in == w.in[0] {
				w.took(t.Now().Sub(start))
			}
		}
	}
	work(w.in[0])
	if helpers > 0 {
		t.Slot.Leave()
	}
	wg.Wait()
	for i, n := range shards {
		w.Asked[n] = true
		w.asked++
		if p := w.Plans[n]; p != nil {
			w.Candidates += len(p.Candidates)
			t.Trace.Add(steps[i])
		}
	}
}

// planOne plans a shard.
func (w *Window) planOne(ctx context.Context, in *shardplan.Reader, n int, start time.Time) (step report.Step) {
	t := w.task
	_ = shardplan.Source(ctx, t, w.Shards[n], in, w.queries, func(planned *shardplan.Plan) bool {
		p := NewPlan(planned)
		p.groups = w.groups[n]
		// With few candidates in all shards the lists may not be needed.
		if !t.Brute && len(p.Candidates) > t.TopDocuments/4 {
			p.readLists(ctx, t, in, w.queries)
		}
		w.Plans[n], step = p, planned.Step(t, "", start)
		return true
	})
	return step
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
