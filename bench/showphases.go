package bench

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// table starts a table below what was written before.
func table(w io.Writer, head string) *tabwriter.Writer {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\n")
	fmt.Fprintln(t, head)
	return t
}

// writeCold shows the first answers with nothing in memory.
func (r *Report) writeCold(w io.Writer) {
	if r.Cold == nil {
		return
	}
	fmt.Fprintf(w, "\ncold: %s\n", r.Cold.Method)
	t := table(w, "query\ttool\trounds\tready ms\tfirst ms\tdone ms")
	for _, c := range r.Cold.Queries {
		first := median(c.Rounds, func(r ColdRound) time.Duration { return r.First })
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%s\n", c.Query, c.Tool, len(c.Rounds), orDash(c.Ready()), orDash(first), showMillis(c.Done()))
	}
	t.Flush()
}

func orDash(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return showMillis(d)
}

// writeClients shows how many searches a second several clients get.
func (r *Report) writeClients(w io.Writer) {
	if len(r.Clients) == 0 {
		return
	}
	t := table(w, "clients\ttool\tqueries\tsearches\terrors\tper second\tp50 ms\tp95 ms\tp99 ms\tmax ms")
	for _, f := range r.Clients {
		fmt.Fprintf(t, "%d\t%s\t%d\t%d\t%d\t%.1f\t%s\t%s\t%s\t%s\n", f.Clients, f.Tool, f.Queries, f.Searches, f.Errors, f.PerSecond(),
			showMillis(f.P50), showMillis(f.P95), showMillis(f.P99), showMillis(f.Max))
	}
	t.Flush()
	for _, f := range r.Clients {
		if f.Errors > 0 {
			fmt.Fprintf(w, "%s: %s\n", clientsTitle(f.Tool, f.Clients), f.Error)
		}
	}
}

// writeMemory shows trawl under values of its setting.
func (r *Report) writeMemory(w io.Writer) {
	if len(r.Memory) == 0 {
		return
	}
	t := table(w, "memory\tindex\tpeak\tready\tanswering\tidle\tall queries")
	for _, f := range r.Memory {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.Setting, showDuration(f.Index.Wall), showBytes(f.Index.PeakOwnBytes),
			showBytes(f.ReadyBytes), showBytes(f.PeakBytes), showBytes(f.IdleBytes), showDuration(f.Sum()))
	}
	t.Flush()
}

// writeGrowth shows what other sizes of the corpus take, for trawl and peers.
func (r *Report) writeGrowth(w io.Writer) {
	if len(r.Growth) == 0 {
		return
	}
	t := table(w, "size\ttext\ttool\tindex\tmemory\tdisk")
	for _, g := range r.Growth {
		row := func(tool string, i IndexFacts) {
			fmt.Fprintf(t, "%g\t%s\t%s\t%s\t%s\t%s\n", g.Factor, showBytes(g.Corpus.TextBytes), tool,
				showDuration(i.Wall), showBytes(i.ownMemory()), showBytes(i.DiskBytes))
		}
		row(selfName, g.Index)
		for _, f := range g.Tools {
			if f.Index != nil {
				row(f.Name, *f.Index)
			}
		}
	}
	t.Flush()
	t = table(w, "query\tsize\tresults\tfirst ms\tdone ms\tpeers ms")
	for i, q := range r.Growth[0].Queries {
		for _, g := range r.Growth {
			if i >= len(g.Queries) {
				continue
			}
			f := g.Queries[i]
			fmt.Fprintf(t, "%s\t%g\t%d\t%s\t%s\t", q.Name, g.Factor, f.results(), orDash(f.First()), showMillis(f.Done()))
			for n, p := range f.Peers {
				if n > 0 {
					fmt.Fprint(t, ", ")
				}
				fmt.Fprintf(t, "%s %s", p.Name, orDash(p.Done()))
			}
			fmt.Fprintln(t)
		}
	}
	t.Flush()
}
