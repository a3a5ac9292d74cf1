package documents

import (
	"context"
	"slices"

	"github.com/trawlsearch/trawl/query/search/rank"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/verify"
)

// schedule plans some shards after the other and cuts their candidates into
// segments: top documents first, then document after document. What is in no shard comes
// last.
func (r *Runner) schedule(ctx context.Context, queries []*target.Query, sources []target.Source, to *pipeline) error {
	c := cutter{share: firstShare, emit: to.put}
	// One for each goroutine that plans. The first also serves to rank, and
	// all stay open until then: plans go on to read names.
	in := make([]*shardplan.Reader, max(r.Task.Workers, 1))
	for i := range in {
		slot := r.Task.Slot
		if i > 0 {
			slot = r.Task.Processors.Slot()
		}
		in[i] = shardplan.NewReader(r.Task, slot)
		defer in[i].Close()
	}
	shards := slices.IndexFunc(sources, func(src target.Source) bool { return src.Unindexed != nil })
	if shards < 0 {
		shards = len(sources)
	}
	together := shardplan.Together(r.Task.PlanBytes, queries)
	for first := 0; first < shards; first += together {
		if first > 0 && !to.start() {
			return ctx.Err()
		}
		window := rank.NewWindow(r.Task, in, queries, sources[first:min(first+together, shards)])
		more, err := r.searchWindow(ctx, window, &c, first, to)
		if !more || err != nil {
			return err
		}
	}
	for n, src := range sources[shards:] {
		if !to.start() {
			return ctx.Err()
		}
		r.Task.Slot.Leave() // git reads meanwhile
		start := r.Task.Now()
		// What fails is recorded; the other sources are still searched.
		whole := true
		failed := shardplan.Source(ctx, r.Task, src, nil, queries, func(p *shardplan.Plan) bool {
			r.Task.Trace.Add(p.Step(r.Task, "read files of "+src.Unindexed.Repository.Name, start))
			r.Coverage.Plan(p)
			defer func() { start = r.Task.Now() }() // of the next batch, once this one has gone
			whole = c.cutOthers(rank.NewPlan(p), shards+n)
			return whole
		})
		if err := ctx.Err(); err != nil {
			return err
		}
		if whole && failed == nil {
			r.Coverage.ReadThroughGit(src.Unindexed.Repository.ID)
		}
	}
	if !c.end() {
		return ctx.Err()
	}
	return nil
}

// searchWindow cuts the candidates of a window, of which the first shard is at
// place first. It reports whether more are wanted.
func (r *Runner) searchWindow(ctx context.Context, w *rank.Window, c *cutter, first int, to *pipeline) (more bool, err error) {
	defer func() {
		for _, p := range w.Plans {
			if p != nil {
				r.Coverage.Plan(p.Plan)
			}
		}
	}()
	w.Begin(ctx, to.wanted())
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if !c.cutTop(w.Top(ctx), w.Plans, first) {
		return false, ctx.Err()
	}
	for n := range w.Shards {
		if !w.Asked[n] && !to.verifyEnough(w.Candidates) {
			return false, ctx.Err()
		}
		p := w.Plan(ctx, n, to.wanted())
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if p != nil && !c.cutOthers(p, first+n) {
			return false, ctx.Err()
		}
	}
	return true, nil
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

// topAtOnce is how many top documents make a segment: few, so that all workers have
// some and the first results come soon.
const topAtOnce = 8

// cutTop makes a group of the top documents of a window, which are in order. shard is
// the number of its first shard among all.
func (c *cutter) cutTop(documents []rank.TopDocument, plans []*rank.Plan, shard int) bool {
	for len(documents) > 0 {
		var docs []uint16
		at := documents[0].Shard
		for len(documents) > 0 && documents[0].Shard == at && len(docs) < topAtOnce {
			docs = append(docs, documents[0].Doc)
			documents = documents[1:]
		}
		bytes := 0
		for _, doc := range docs {
			bytes += plans[at].Weight(doc)
		}
		if !c.put(&segment{Segment: verify.Segment{Plan: plans[at].Plan, Definitions: plans[at].Definitions, Docs: docs}, bytes: bytes, shard: shard, isTop: true}) {
			return false
		}
		c.pending.lastOfGroup = len(documents) == 0
	}
	return true
}

// cutOthers cuts the candidates of p that are no top documents.
func (c *cutter) cutOthers(p *rank.Plan, shard int) bool {
	rest := p.Candidates
	if p.Top != nil {
		// The candidates are asked for and counted later.
		rest = slices.DeleteFunc(slices.Clone(rest), p.Top.Contains)
	}
	for len(rest) > 0 {
		k, weight := 0, 0
		for k < len(rest) && k < segmentDocs/c.share && weight < segmentBytes/c.share {
			weight += p.Weight(rest[k])
			k++
		}
		if !c.put(&segment{Segment: verify.Segment{Plan: p.Plan, Definitions: p.Definitions, Docs: rest[:k]}, bytes: weight, shard: shard}) {
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
