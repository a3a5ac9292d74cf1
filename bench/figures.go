package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// figures returns the plots of r, without those for which nothing was measured.
func (r *Report) figures() []figure {
	all := slices.Concat(r.queryFigures(), r.indexFigures(), r.coldFigures(), r.clientsFigures(), r.memoryFigures(), r.growthFigures())
	return slices.DeleteFunc(all, func(f figure) bool { return f.Chart.empty() })
}

// queryFigures shows every query, as a time and as a share of zoekt's.
func (r *Report) queryFigures() []figure {
	var times columns
	for _, q := range r.Queries {
		times.set(q.Name, selfName, selfName, millis(q.Done()))
		for _, p := range q.Peers {
			times.set(q.Name, p.Name, p.Name, millis(p.Done()))
		}
	}
	done := times.chart("dots", "ms")
	done.Log = true
	return []figure{
		{"done", "Every query, to the last byte of a complete answer", "One row is one query; one mark is the median time of one tool, " +
			"from sending the request, or starting the command, until the last byte was read. Further left is faster, and a step of the " +
			"scale is a factor of ten. Tools took turns, so that whatever disturbed the machine disturbed all of them.", done},
		r.shareFigure(),
		r.firstFigure(),
	}
}

// shareFigure sorts queries by what trawl takes of zoekt's time, worst first.
func (r *Report) shareFigure() figure {
	judged := slices.DeleteFunc(slices.Clone(r.Queries), func(q QueryFacts) bool { return math.IsNaN(q.shareOf("zoekt")) })
	slices.SortStableFunc(judged, func(a, b QueryFacts) int {
		return -cmp.Compare(a.shareOf("zoekt"), b.shareOf("zoekt"))
	})
	var c columns
	for _, q := range judged {
		c.set(q.Name, "trawl, share of zoekt's time", selfName, value(q.shareOf("zoekt")))
		c.set(q.Name, "largest share allowed", limitTool, value(q.allowedOfZoekt()))
	}
	ch := c.chart("dots", "share")
	ch.Log = true
	return figure{"share", "trawl's time as a share of zoekt's", "The same medians, divided: 1 is as fast as zoekt, 0.1 ten times as fast. " +
		"The worst stands on top. The bar marks the largest share that the query's goal allows; a mark to the right of it missed its goal. " +
		"Queries whose goal is a time are held to 1 here.", ch}
}

// allowedOfZoekt returns the share of zoekt's time that the query's goal allows.
func (q QueryFacts) allowedOfZoekt() float64 {
	for _, g := range goals {
		if g.name == q.Goal && g.ofZoekt > 0 {
			return g.ofZoekt
		}
	}
	return everyQueryOfZoekt
}

func (r *Report) firstFigure() figure {
	var c columns
	for _, q := range r.Queries {
		if q.First() == 0 {
			continue
		}
		c.set(q.Name, "first match", selfName, millis(q.First()))
		c.set(q.Name, "last byte", second, millis(q.Done()))
		if q.hasLiteral() {
			c.set(q.Name, "limit for the first match", limitTool, millis(firstTarget))
		}
	}
	ch := c.chart("dots", "ms")
	ch.Log = true
	return figure{"first", "trawl: first match and last byte", "When trawl's first match had arrived and when its answer was complete, " +
		"medians. Queries that hold a literal are to show their first match within the limit; the others have none.", ch}
}

// indexFigures compares what it takes to make an index.
func (r *Report) indexFigures() []figure {
	var wall, memory, disk columns
	add := func(tool string, i *IndexFacts) {
		if i == nil {
			return
		}
		wall.set(tool, "index time", byLabel, seconds(i.Wall))
		memory.set(tool, "peak memory", byLabel, size(i.ownMemory()))
		disk.set(tool, "data on disk", byLabel, size(i.DiskBytes))
	}
	add(selfName, r.Index)
	for _, t := range r.Tools {
		add(t.Name, t.Index)
	}
	return []figure{
		{"index-time", "Indexing: time", "From an empty directory to an index that answers, wall-clock time of the tool's own command on " +
			"the same commit, without definitions.", wall.chart("bars", "s")},
		{"index-memory", "Indexing: peak memory", "The most that the command and its children held at one moment, looked at every 10 ms, " +
			"without pages of mapped files, which the system takes back when it needs to.", memory.chart("bars", "bytes")},
		{"index-disk", "Indexing: size on disk", "What the index takes on disk. trawl's and zoekt's hold the text itself, codesearch's does not.",
			disk.chart("bars", "bytes")},
	}
}

func (r *Report) coldFigures() []figure {
	if r.Cold == nil {
		return nil
	}
	var done, ready columns
	for _, c := range r.Cold.Queries {
		done.set(c.Query, c.Tool, c.Tool, millis(c.Done()))
		ready.set(c.Query, c.Tool, c.Tool, millis(c.Ready()))
	}
	d, s := done.chart("dots", "ms"), ready.chart("bars", "ms")
	d.Log = true
	return []figure{
		{"cold", "First answer with nothing in memory", "A new process, asked one query; median time from the request to the last byte. " +
			"How memory was emptied: " + r.Cold.Method + ".", d},
		{"cold-ready", "Starting with nothing in memory", "How long the servers took before they could be asked that first query. Commands need no start.", s},
	}
}

// clientsFigures shows throughput and the tail of latency.
func (r *Report) clientsFigures() []figure {
	var rate, tail, middle columns
	limit := 0
	for _, f := range r.Clients {
		label := fmt.Sprint(f.Clients)
		rate.set(label, f.Tool, f.Tool, value(f.PerSecond()))
		middle.set(label, f.Tool, f.Tool, millis(f.P50))
		tail.set(label, f.Tool, f.Tool, millis(f.P99))
		limit = f.Limit
	}
	charts := []chart{rate.chart("lines", "per second"), middle.chart("lines", "ms"), tail.chart("lines", "ms")}
	for i := range charts {
		charts[i].Across, charts[i].Log = true, true
	}
	how := fmt.Sprintf("Along the bottom: how many clients there are at once, each asking one query after the other from the same mixed set, limited to %d results, on the machine "+
		"that also runs the tool. Commands are ended after that many lines.", limit)
	return []figure{
		{"clients-rate", "Searches answered in a second, by number of clients", how + " Higher is better.", charts[0]},
		{"clients-p50", "Half of the searches took at most", how + " Lower is better.", charts[1]},
		{"clients-p99", "99 of 100 searches took at most", how + " Lower is better.", charts[2]},
	}
}

func (r *Report) memoryFigures() []figure {
	var held, sum columns
	for _, f := range r.Memory {
		held.set(f.Setting, "indexing", second, size(f.Index.PeakOwnBytes))
		held.set(f.Setting, "answering", selfName, size(f.PeakBytes))
		held.set(f.Setting, "idle", third, size(f.IdleBytes))
		held.set(f.Setting, "the setting", limitTool, size(f.SettingBytes))
		sum.set(f.Setting, "all queries", selfName, seconds(f.Sum()))
		sum.set(f.Setting, "indexing", second, seconds(f.Index.Wall))
	}
	h, s := held.chart("bars", "bytes"), sum.chart("bars", "s")
	h.Across, s.Across = true, true
	return []figure{
		{"memory", "trawl's memory under its setting", "What the process was resident with at most, while it indexed from nothing and while it " +
			"answered every query of the set in full, and what it held a while after the last. It is to stay below the line.", h},
		{"memory-time", "What less memory costs", "Time to index from nothing, and of all queries of the set one after the other.", s},
	}
}

// growthFigures shows how times and sizes follow the size of the corpus.
func (r *Report) growthFigures() []figure {
	var wall, disk, memory, done, first columns
	for _, g := range r.Growth {
		label := fmt.Sprintf("%g", g.Factor)
		add := func(tool string, i *IndexFacts) {
			if i != nil {
				wall.set(label, tool, tool, seconds(i.Wall))
				disk.set(label, tool, tool, size(i.DiskBytes))
				memory.set(label, tool, tool, size(i.ownMemory()))
			}
		}
		add(selfName, &g.Index)
		for _, t := range g.Tools {
			add(t.Name, t.Index)
		}
	}
	r.setMeans(&done, selfName, QueryFacts.Done)
	r.setMeans(&first, selfName, QueryFacts.First)
	for _, name := range r.peerNames() {
		r.setMeans(&done, name, func(q QueryFacts) time.Duration {
			p, _ := q.timed(name)
			return p.Done()
		})
	}
	charts := []chart{wall.chart("lines", "s"), memory.chart("lines", "bytes"), disk.chart("lines", "bytes"), done.chart("lines", "ms"), first.chart("lines", "ms")}
	for i := range charts {
		charts[i].Across, charts[i].Log = true, true
		slices.SortFunc(charts[i].Series, func(a, b series) int { return strings.Compare(a.Name, b.Name) })
	}
	const of = "Along the bottom: the size as a multiple of the corpus. Both scales go by factors, so what grows with the corpus is a straight slope. "
	return []figure{
		{"growth-time", "Growth: time to index", of + "Wall-clock time.", charts[0]},
		{"growth-memory", "Growth: peak memory of indexing", of + "Without mapped files.", charts[1]},
		{"growth-disk", "Growth: size on disk", of, charts[2]},
		{"growth-done", "Growth: time of a complete answer", of + "Geometric mean of the medians, over the queries that the tool answered at every size.", charts[3]},
		{"growth-first", "Growth: time to the first match", of + "trawl alone; it is to stay flat.", charts[4]},
	}
}

// setMeans adds the geometric mean of a time for every size, over the queries
// that have it at all sizes: a mean over others would jump when one joins.
func (r *Report) setMeans(c *columns, tool string, of func(QueryFacts) time.Duration) {
	everywhere := func(i int) bool {
		return !slices.ContainsFunc(r.Growth, func(g GrowthFacts) bool { return i >= len(g.Queries) || of(g.Queries[i]) == 0 })
	}
	for _, g := range r.Growth {
		var logs float64
		n := 0
		for i, q := range g.Queries {
			if everywhere(i) {
				logs += math.Log(float64(millis(of(q))))
				n++
			}
		}
		c.set(fmt.Sprintf("%g", g.Factor), tool, tool, value(math.Exp(logs/float64(n))))
	}
}
