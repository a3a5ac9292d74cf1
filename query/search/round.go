package search

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
)

// round are shards whose most promising documents go before all others of
// them. They are planned as they are needed: before the first document those
// that tell that not all candidates go first, and those that may have one that
// does; the others when it is their turn, which a limit may keep from coming.
// What goes first is the same as if all had been planned before: what is read of a
// shard to choose it does not depend on which others were, nor on its candidates
// before they are compared. Of a shard that nobody comes to nothing is known,
// neither its candidates nor that it is damaged.
type round struct {
	run  *run
	pass []*basic
	// in are what goroutines read with, a goroutine each.
	in     []*reading
	shards []source
	// plans are nil for shards that were not asked for, or could not be planned.
	plans []*shardPlan
	asked []bool
	// planned counts those that were asked for, candidates their candidates.
	planned, candidates int
	// names are, of shards that were not planned at once, the groups of symbols
	// that may have a term for a name.
	names []map[string]*postings.Set
	// late counts those that were planned when it was their turn.
	late int
	// asking is what was read of shards that were not planned at once.
	asking postings.Cost
	// alone counts shards that the first goroutine planned, which took it first
	// for the first of them, and later for the others.
	alone        int
	first, later time.Duration
}

func (r *run) newRound(in []*reading, pass []*basic, shards []source) *round {
	return &round{
		run: r, in: in, pass: pass, shards: shards,
		plans: make([]*shardPlan, len(shards)), asked: make([]bool, len(shards)), names: make([]map[string]*postings.Set, len(shards)),
	}
}

// aheadAtMost is how many shards that will be needed anyhow are planned before the
// first document is verified: a few milliseconds' worth. Beside many candidates
// a pause for planning later on does not matter.
const (
	aheadAtMost = 8
	many        = 1024
)

// begin plans shards until it is known whether all candidates go first, and those
// that are needed besides when so many matches are wanted, if they are few.
func (rd *round) begin(ctx context.Context, wanted int) {
	if rd.run.set.Brute {
		rd.plan(ctx, rd.unplanned(len(rd.shards)))
	}
	for rd.planned < len(rd.shards) && ctx.Err() == nil {
		need, more := rd.run.set.Heads+1-rd.candidates, wanted-rd.candidates
		if rd.candidates < many && len(rd.next(more)) <= aheadAtMost {
			need = max(need, more)
		}
		if need <= 0 {
			return
		}
		rd.plan(ctx, rd.next(need))
	}
}

// at returns the plan of a shard, nil if there is none. If it is not planned yet
// others behind it are as well: as many as probably have the matches that are
// still wanted, but for candidates that are known, and if these were not enough
// after all as many as before.
func (rd *round) at(ctx context.Context, n, wanted int) *shardPlan {
	if !rd.asked[n] {
		shards := rd.next(wanted - rd.candidates)
		if len(shards) < rd.late {
			shards = rd.unplanned(rd.late)
		}
		rd.late += len(shards)
		rd.plan(ctx, shards)
	}
	return rd.plans[n]
}

// next returns the first shards that were not asked for, as many as probably
// have so many candidates, and one at least.
func (rd *round) next(wanted int) []int {
	n := len(rd.shards)
	switch {
	case rd.planned == 0 || wanted <= 0:
		n = 1
	case rd.candidates > 0:
		n = wanted/(rd.candidates/rd.planned+1) + 1
	}
	return rd.unplanned(n)
}

// unplanned returns the first n shards that were not asked for.
func (rd *round) unplanned(n int) (out []int) {
	for i := range rd.shards {
		if len(out) < n && !rd.asked[i] {
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
func (rd *round) estimate() time.Duration {
	switch {
	case rd.alone > 1:
		return rd.later / time.Duration(rd.alone-1)
	case rd.first >= longFirst:
		return rd.first
	}
	return 0
}

// took notes how long a shard took this goroutine.
func (rd *round) took(d time.Duration) {
	if rd.alone++; rd.alone == 1 {
		rd.first = d
	} else {
		rd.later += d
	}
}

// plan plans some shards, on all workers if that is worth it.
func (rd *round) plan(ctx context.Context, shards []int) {
	r := rd.run
	if len(shards) == 0 || r.slot.Acquire(ctx) != nil {
		return
	}
	steps := make([]report.Step, len(shards))
	var next atomic.Int32
	var wg sync.WaitGroup
	var work func(in *reading)
	helpers := 0
	// help has others help who find a slot, now or later.
	help := func(left int) {
		for helpers < min(len(rd.in), left)-1 && rd.in[helpers+1].at.TryAcquire() {
			helpers++
			in := rd.in[helpers]
			wg.Go(func() {
				defer in.at.Release()
				work(in)
			})
		}
	}
	work = func(in *reading) {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= len(shards) {
				return
			}
			if left := len(shards) - i; in == rd.in[0] && r.workers() > 1 && rd.estimate()*time.Duration(left) > worthHelp {
				help(left)
			}
			start := r.set.Now()
			steps[i] = rd.planOne(ctx, in, shards[i], start)
			if in == rd.in[0] {
				rd.took(r.set.Now().Sub(start))
			}
		}
	}
	work(rd.in[0])
	if helpers > 0 {
		r.slot.Leave()
	}
	wg.Wait()
	for i, n := range shards {
		rd.asked[n] = true
		rd.planned++
		if p := rd.plans[n]; p != nil {
			rd.candidates += len(p.candidates)
			r.o.Trace.Add(steps[i])
			r.coverage.plan(p)
		}
	}
}

// planOne plans a shard.
func (rd *round) planOne(ctx context.Context, in *reading, n int, start time.Time) (step report.Step) {
	r := rd.run
	_ = r.plans(ctx, rd.shards[n], in, rd.pass, func(p *shardPlan) bool {
		p.names = rd.names[n]
		// With few candidates in all shards nobody may ask for names.
		if !r.set.Brute && len(p.candidates) > r.set.Heads/4 {
			r.readNames(ctx, in, rd.pass, p)
		}
		rd.plans[n], step = p, r.planStep("", start, p)
		return true
	})
	return step
}

// planPromising plans the shards of which documents may go first, as far as that
// is known before definitions are read.
func (rd *round) planPromising(ctx context.Context) {
	if rd.planned == len(rd.shards) || rd.in[0].yield(ctx) != nil {
		return
	}
	for rd.planned < len(rd.shards) && !rd.enoughPhrases(ctx) {
		rd.plan(ctx, rd.unplanned(max(rd.planned, 1)))
		if ctx.Err() != nil {
			return
		}
	}
	rd.planThose(ctx, rd.promises)
}

// planThose plans the shards that were not asked for and of which ask reports
// true, and returns them.
func (rd *round) planThose(ctx context.Context, ask func(n int) bool) []int {
	all := rd.unplanned(len(rd.shards))
	if len(all) == 0 {
		return nil
	}
	r := rd.run
	start, before := r.set.Now(), rd.asking
	those := slices.DeleteFunc(slices.Clone(all), func(n int) bool { return rd.in[0].yield(ctx) == nil && !ask(n) })
	r.o.Trace.Add(report.Step{Name: "ask shards for first documents", Start: start.Sub(r.start), Took: r.set.Now().Sub(start), Fields: r.work(
		report.Count("shards", len(all)), report.Count("promising", len(those)),
		report.Count("lists", rd.asking.Lists-before.Lists), report.Count("list bytes", rd.asking.Bytes-before.Bytes),
	)})
	if ctx.Err() != nil {
		return nil
	}
	rd.plan(ctx, those)
	return those
}

// count adds what an evaluator has read.
func (rd *round) count(ev *postings.Evaluator) {
	rd.asking.Lists += ev.Cost.Lists
	rd.asking.Bytes += ev.Cost.Bytes
}

// enoughPhrases reports whether as many documents as are taken for holding a
// phrase are in the first shards, which are planned.
func (rd *round) enoughPhrases(ctx context.Context) bool {
	for k, q := range rd.pass {
		if q.phraseMatcher == nil {
			continue
		}
		left := mayHoldPerHead * rd.run.set.Heads
		for n, p := range rd.plans {
			if !rd.asked[n] || left < 0 {
				break
			}
			if p == nil {
				continue
			}
			if rd.run.readNames(ctx, rd.in[0], rd.pass, p); p.basics[k].phrase == nil {
				continue
			}
			for range p.withPhrase(k, newDocumentSet(p.candidates)) {
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
func (rd *round) promises(n int) (yes bool) {
	defer func() {
		if x := recover(); x != nil {
			yes = true // whoever plans the shard will tell
		}
	}()
	v := rd.shards[n].view
	if v.InMemory() || rd.run.shared[v.ID] {
		return true
	}
	docs, err := v.Documents()
	if err != nil {
		return true
	}
	for _, q := range rd.pass {
		if q.symbols || rd.mayBeCalled(v, docs, q) {
			return true
		}
	}
	return rd.mayDefine(n, v)
}

// mayBeCalled reports whether the path of a document may match a pattern of q, or
// a filter if it has no patterns.
func (rd *round) mayBeCalled(v store.View, docs *store.Documents, q *basic) bool {
	if q.tree == nil {
		return slices.ContainsFunc(q.paths, func(f pathFilter) bool { return f.hasSpans() })
	}
	if !q.path {
		return false
	}
	paths := rd.in[0].paths(v, docs)
	defer rd.count(paths)
	for _, a := range q.atoms {
		if a.contentOnly || a.silent || a.negated {
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
func (rd *round) mayDefine(n int, v store.View) (yes bool) {
	if !v.HasSymbols() {
		return false
	}
	known := map[string]*postings.Set{}
	symbols := rd.in[0].evaluator(v, store.FieldSymbol, v.DocOf())
	defer rd.count(symbols)
	for _, q := range named(rd.pass) {
		for _, t := range q.names {
			groups, err := groupsWith(symbols, t.whole)
			if err != nil {
				return true
			}
			known[t.text] = groups
			yes = yes || groups.Len() > 0
		}
	}
	rd.names[n] = known
	return yes
}

// planParts plans the shards that may have a definition whose name holds one of
// terms, and returns them.
func (rd *round) planParts(ctx context.Context, terms []term) []int {
	if len(terms) == 0 || rd.in[0].yield(ctx) != nil {
		return nil
	}
	return rd.planThose(ctx, func(n int) bool { return rd.mayHold(rd.shards[n].view, terms) })
}

// mayHold reports whether a shard may have a definition whose name holds one of
// terms.
func (rd *round) mayHold(v store.View, terms []term) (yes bool) {
	defer func() {
		if x := recover(); x != nil {
			yes = true
		}
	}()
	if !v.HasSymbols() {
		return false
	}
	symbols := rd.in[0].evaluator(v, store.FieldSymbol, v.DocOf())
	defer rd.count(symbols)
	return slices.ContainsFunc(terms, func(t term) bool {
		groups, err := groupsWith(symbols, t.inside)
		return err != nil || groups.Len() > 0
	})
}
