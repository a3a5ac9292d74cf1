package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trawlsearch/trawl/postings"
)

// shardsAtOnce is how many shards are planned before the first document is
// verified, so that the best of them come first. Lists are read in a fraction of
// a millisecond a shard; the bound is on time to the first match and on memory.
const shardsAtOnce = 32

// schedule plans some shards after the other and cuts their candidates into
// segments: heads first, then document after document. What is in no shard comes
// last.
func (r *run) schedule(ctx context.Context, pass []*basic, sources []source, to *pipeline) error {
	c := cutter{share: firstShare, emit: to.put}
	// One for each goroutine that plans. The first also serves when heads are
	// chosen, and all stay until then: plans go on to read names.
	in := make([]*reading, max(r.set.Workers, 1))
	for i := range in {
		in[i] = r.newReading(r.snap)
		if in[i].at = &r.seat; i > 0 {
			in[i].at = &seat{run: r}
		}
		defer in[i].close()
	}
	shards := slices.IndexFunc(sources, func(src source) bool { return src.rest != nil })
	if shards < 0 {
		shards = len(sources)
	}
	together := r.shardsTogether(pass)
	for first := 0; first < shards; first += together {
		if first > 0 && !to.start() {
			return ctx.Err()
		}
		plans := r.planShards(ctx, in, pass, sources[first:min(first+together, shards)])
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, p := range plans {
			r.coverage.plan(p)
		}
		if !c.heads(r.chooseHeads(ctx, in[0], pass, plans), plans, first) {
			return ctx.Err()
		}
		for n, p := range plans {
			if p != nil && !c.rest(p, first+n) {
				return ctx.Err()
			}
		}
	}
	for n, src := range sources[shards:] {
		if !to.start() {
			return ctx.Err()
		}
		r.seat.leave() // git reads meanwhile
		start := r.set.Now()
		// What fails is recorded; the other sources are still searched.
		whole := true
		failed := r.plans(ctx, src, nil, pass, func(p *shardPlan) bool {
			r.o.Trace.Add(r.planStep("read files of "+src.rest.repo.Name, start, p))
			r.coverage.plan(p)
			defer func() { start = r.set.Now() }() // of the next batch, once this one has gone
			whole = c.rest(p, shards+n)
			return whole
		})
		if err := ctx.Err(); err != nil {
			return err
		}
		if whole && failed == nil {
			r.coverage.wholly(src.rest.repo.ID)
		}
	}
	if !c.end() {
		return ctx.Err()
	}
	return nil
}

// worthHelp is how long this goroutine would go on planning alone to have others
// help: to wake them takes longer than to plan a shard that has nothing. The
// first shard of a search takes several times as long as another, unless it
// takes long by itself.
const (
	worthHelp = 400 * time.Microsecond
	longFirst = time.Millisecond
)

// planShards plans shards on all workers; a plan that failed is nil.
func (r *run) planShards(ctx context.Context, in []*reading, pass []*basic, shards []source) []*shardPlan {
	plans := make([]*shardPlan, len(shards))
	steps := make([]Step, len(shards))
	var next atomic.Int32
	var wg sync.WaitGroup
	var work func(in *reading)
	helped := false
	help := sync.OnceFunc(func() {
		helped = true
		for i := 1; i < min(r.set.Workers, len(shards)); i++ {
			wg.Go(func() {
				if in[i].at.try() {
					defer in[i].at.end()
					work(in[i])
				}
			})
		}
	})
	begin := r.set.Now()
	worth := func(planned int, now time.Time) bool {
		if planned == 1 {
			if took := now.Sub(begin); took < longFirst {
				begin = now
				return false
			}
			return true
		}
		return now.Sub(begin)/time.Duration(planned-1)*time.Duration(len(shards)-planned) > worthHelp
	}
	work = func(reading *reading) {
		for ctx.Err() == nil {
			n := int(next.Add(1)) - 1
			if n >= len(shards) {
				return
			}
			start := r.set.Now()
			if n > 0 && !helped && reading == in[0] && r.workers() > 1 && worth(n, start) {
				help()
			}
			_ = r.plans(ctx, shards[n], reading, pass, func(p *shardPlan) bool {
				// With few candidates in all shards nobody may ask for names.
				if !r.set.Brute && len(p.candidates) > r.set.Heads/4 {
					r.readNames(ctx, reading, pass, p)
				}
				plans[n], steps[n] = p, r.planStep("", start, p)
				return true
			})
		}
	}
	if r.seat.occupy(ctx) != nil {
		return plans
	}
	work(in[0])
	if helped {
		r.seat.leave()
	}
	wg.Wait()
	for n, p := range plans {
		if p != nil {
			r.o.Trace.Add(steps[n])
		}
	}
	return plans
}

// planStep tells what a plan has read, of a shard unless name says of what.
func (r *run) planStep(name string, start time.Time, p *shardPlan) Step {
	shard, documents, candidates, blocks, cost := p.view.ID, p.docs.Len(), len(p.candidates), p.blocksOf(), p.cost
	guarded := r.o.Visible != nil
	return Step{Start: start.Sub(r.start), Took: r.set.Now().Sub(start), Later: func() (string, []Field) {
		if name == "" {
			name = fmt.Sprintf("plan shard %d", shard)
		}
		if guarded {
			return name, nil
		}
		return name, []Field{
			{"documents", strconv.Itoa(documents)}, {"candidates", strconv.Itoa(candidates)},
			{"blocks", strconv.Itoa(blocks)}, {"lists", strconv.Itoa(cost.Lists)}, {"list bytes", strconv.Itoa(cost.Bytes)},
		}
	}}
}

// readNames reads what chooses the heads of p and orders what is found, once.
func (r *run) readNames(ctx context.Context, in *reading, pass []*basic, p *shardPlan) {
	if p.namesRead || r.shared[p.view.ID] && !r.set.Brute {
		return
	}
	p.namesRead, p.namesErr = true, p.readNames(ctx, in, pass)
}

// chooseHeads returns the heads in the order of shards and documents, and has
// the plans know them. A search without the index chooses by the index all the
// same: its answer is to have the same order.
func (r *run) chooseHeads(ctx context.Context, in *reading, pass []*basic, plans []*shardPlan) []head {
	by := plans
	if r.set.Brute {
		by = make([]*shardPlan, len(plans))
		for n, p := range plans {
			if p != nil {
				// The order is no reason to give up.
				by[n], _ = planShard(ctx, p.view, in, nil, pass, r.set.PlanBytes, false)
			}
		}
	}
	heads, few := allOf(by, r.set.Heads)
	if few {
		r.findLater(ctx, pass, by, plans)
	} else {
		for _, p := range by {
			if p != nil {
				r.readNames(ctx, in, pass, p)
			}
		}
		heads = r.findHeads(ctx, in, pass, by)
		takeDefinitions(plans, by)
	}
	slices.SortFunc(heads, func(a, b head) int {
		return cmp.Or(cmp.Compare(a.shard, b.shard), cmp.Compare(a.doc, b.doc))
	})
	for _, h := range heads {
		p := plans[h.shard]
		if p.heads == nil {
			p.heads = &postings.Set{}
		}
		p.heads.Add(h.doc)
	}
	return heads
}

// allOf returns all candidates as heads, if they are no more than most.
func allOf(plans []*shardPlan, most int) (heads []head, few bool) {
	for n, p := range plans {
		if p == nil {
			continue
		}
		if len(heads)+len(p.candidates) > most {
			return nil, false
		}
		for _, doc := range p.candidates {
			heads = append(heads, head{shard: n, doc: doc})
		}
	}
	return heads, true
}

// takeDefinitions has plans know the definitions that were found for by.
func takeDefinitions(plans, by []*shardPlan) {
	for n, p := range plans {
		if p != nil && by[n] != nil {
			p.definitions = by[n].definitions
		}
	}
}

// findLater has the definitions of plans, whose candidates all go first, found
// when the first document matches: of a word that stands nowhere nobody needs
// them.
func (r *run) findLater(ctx context.Context, pass []*basic, by, plans []*shardPlan) {
	find := sync.OnceFunc(func() {
		in := r.newReading(r.snap)
		defer in.close()
		for _, p := range by {
			if p != nil {
				p.namesRead = false // what was read may have been by means of a reading that has ended
				r.readNames(ctx, in, pass, p)
			}
		}
		r.findDefinitions(ctx, in, pass, by)
		takeDefinitions(plans, by)
	})
	for _, p := range plans {
		if p != nil {
			p.find = find
		}
	}
}

// cutter cuts candidates into segments and segments into groups. The last
// segment is held back, since it ends a group if none follows.
type cutter struct {
	emit    func(*segment) bool
	pending *segment
	// docs and bytes are those of the group at hand, share by how much it is
	// smaller than others.
	docs, bytes, share int
}

// headsAtOnce is how many heads make a segment: few, so that all workers have
// some and the first results come soon.
const headsAtOnce = 8

// heads makes a group of the heads, which are in order. shard is the place of
// the first plan in the order of all.
func (c *cutter) heads(heads []head, plans []*shardPlan, shard int) bool {
	for len(heads) > 0 {
		var docs []uint16
		at := heads[0].shard
		for len(heads) > 0 && heads[0].shard == at && len(docs) < headsAtOnce {
			docs = append(docs, heads[0].doc)
			heads = heads[1:]
		}
		bytes := 0
		for _, doc := range docs {
			bytes += plans[at].weight(doc)
		}
		if !c.put(&segment{plan: plans[at], docs: docs, bytes: bytes, shard: shard, heads: true}) {
			return false
		}
		c.pending.lastOfGroup = len(heads) == 0
	}
	return true
}

// rest cuts the candidates of p that are no heads.
func (c *cutter) rest(p *shardPlan, shard int) bool {
	rest := p.candidates
	if p.heads != nil {
		if p.find != nil {
			rest = slices.Clone(rest) // it asks for the candidates later
		}
		rest = slices.DeleteFunc(rest, p.heads.Contains)
	}
	for len(rest) > 0 {
		k, weight := 0, 0
		for k < len(rest) && k < segmentDocs/c.share && weight < segmentBytes/c.share {
			weight += p.weight(rest[k])
			k++
		}
		if !c.put(&segment{plan: p, docs: rest[:k], bytes: weight, shard: shard}) {
			return false
		}
		rest = rest[k:]
		c.docs, c.bytes = c.docs+k, c.bytes+weight
		if c.docs >= groupDocs/c.share || c.bytes >= groupBytes/c.share {
			c.pending.lastOfGroup = true
			c.docs, c.bytes, c.share = 0, 0, max(c.share/2, 1)
		}
	}
	return true
}

// put emits the segment before s.
func (c *cutter) put(s *segment) bool {
	before := c.pending
	c.pending = s
	return before == nil || c.emit(before)
}

// end emits the last segment.
func (c *cutter) end() bool {
	if c.pending == nil {
		return true
	}
	c.pending.lastOfGroup = true
	return c.emit(c.pending)
}
