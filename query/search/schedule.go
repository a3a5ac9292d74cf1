package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/report"
)

// shardsAtOnce is of how many shards the best documents come first. All of them
// may have to be planned for that, a fraction of a millisecond a shard; the bound
// is on time to the first match and on memory.
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
		if in[i].at = r.slot; i > 0 {
			in[i].at = r.admitted.Slot()
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
		rd := r.newRound(in, pass, sources[first:min(first+together, shards)])
		rd.begin(ctx, to.wanted())
		if err := ctx.Err(); err != nil {
			return err
		}
		if !c.heads(rd.chooseHeads(ctx), rd.plans, first) {
			return ctx.Err()
		}
		for n := range rd.shards {
			if !rd.asked[n] && !to.settle(rd.candidates) {
				return ctx.Err()
			}
			p := rd.at(ctx, n, to.wanted())
			if err := ctx.Err(); err != nil {
				return err
			}
			if p != nil && !c.rest(p, first+n) {
				return ctx.Err()
			}
		}
	}
	for n, src := range sources[shards:] {
		if !to.start() {
			return ctx.Err()
		}
		r.slot.Leave() // git reads meanwhile
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

// planStep is the step of a plan in the trace: of a shard, or of what name says.
func (r *run) planStep(name string, start time.Time, p *shardPlan) report.Step {
	shard, documents, candidates, blocks, cost := p.view.ID, p.docs.Len(), len(p.candidates), p.blocksOf(), p.cost
	guarded := r.o.Visible != nil
	return report.Step{Start: start.Sub(r.start), Took: r.set.Now().Sub(start), Later: func() (string, []report.Field) {
		if name == "" {
			name = fmt.Sprintf("plan shard %d", shard)
		}
		if guarded {
			return name, nil
		}
		return name, []report.Field{
			report.Count("documents", documents), report.Count("candidates", candidates),
			report.Count("blocks", blocks), report.Count("lists", cost.Lists), report.Count("list bytes", cost.Bytes),
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
func (rd *round) chooseHeads(ctx context.Context) []head {
	by := rd
	if rd.run.set.Brute {
		by = rd.byIndex(ctx)
	}
	heads, few := allOf(by.plans, rd.run.set.Heads)
	if few {
		rd.run.findLater(ctx, rd.pass, by.plans, rd.plans)
	} else {
		heads = by.findHeads(ctx)
		takeDefinitions(rd.plans, by.plans)
	}
	slices.SortFunc(heads, func(a, b head) int {
		return cmp.Or(cmp.Compare(a.shard, b.shard), cmp.Compare(a.doc, b.doc))
	})
	for _, h := range heads {
		p := rd.plans[h.shard]
		if p.heads == nil {
			p.heads = &postings.Set{}
		}
		p.heads.Add(h.doc)
	}
	return heads
}

// byIndex returns the round planned by the index.
func (rd *round) byIndex(ctx context.Context) *round {
	out := rd.run.newRound(rd.in, rd.pass, rd.shards)
	for n, p := range rd.plans {
		if p != nil {
			// The order is no reason to give up.
			out.plans[n], _ = planShard(ctx, p.view, rd.in[0], nil, rd.pass, rd.run.set.PlanBytes, false)
		}
		out.asked[n] = true
		out.planned++
	}
	return out
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
