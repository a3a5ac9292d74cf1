package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// ClientsFacts is how a tool serves several clients at once, each asking query
// after query for a fixed time.
type ClientsFacts struct {
	Tool    string `json:"tool"`
	Clients int    `json:"clients"`
	// Queries is how many different ones were asked, Limit how many results of
	// each were wanted.
	Queries int `json:"queries"`
	Limit   int `json:"limit"`
	// Wall lasts until the last answer that was begun in time was read.
	Wall     time.Duration `json:"wallNanos"`
	Searches int           `json:"searches"`
	Errors   int           `json:"errors"`
	// Error is the first of them.
	Error string `json:"error,omitempty"`
	// The times to the end of the answer, of searches without an error.
	P50 time.Duration `json:"p50Nanos"`
	P95 time.Duration `json:"p95Nanos"`
	P99 time.Duration `json:"p99Nanos"`
	Max time.Duration `json:"maxNanos"`
}

// PerSecond returns how many searches were answered in a second.
func (f ClientsFacts) PerSecond() float64 {
	if f.Wall == 0 {
		return 0
	}
	return float64(f.Searches-f.Errors) / f.Wall.Seconds()
}

// clientsTitle says who serves how many.
func clientsTitle(tool string, n int) string {
	if n == 1 {
		return tool + ", 1 client"
	}
	return fmt.Sprintf("%s, %d clients", tool, n)
}

// clientsLimit is how many results a client of the mixed set wants, about what
// a page of answers holds.
const clientsLimit = 500

// clients has every tool serve each number of clients in turn.
func (r *runner) clients(ctx context.Context) error {
	queries := r.marked(ClientsPhase)
	if len(r.Clients) == 0 || len(queries) == 0 {
		return nil
	}
	return r.withAll(ctx, func(all []contestant) error {
		for _, n := range r.Clients {
			for _, v := range all {
				r.Progress(clientsTitle(v.name(), n))
				facts, err := serveClients(ctx, v, queries, n, r.ClientsFor)
				if err != nil {
					return err
				}
				r.report.Clients = append(r.report.Clients, facts)
			}
		}
		return nil
	})
}

// serveClients has n clients ask the queries that v has words for. Each goes
// through all of them again and again, in an order of its own that is the same
// in every run, and asks at least once, however late it begins.
func serveClients(ctx context.Context, v contestant, queries []Query, n int, length time.Duration) (ClientsFacts, error) {
	queries = slices.DeleteFunc(slices.Clone(queries), func(q Query) bool { return v.cannot(q) != "" })
	facts := ClientsFacts{Tool: v.name(), Clients: n, Queries: len(queries), Limit: clientsLimit}
	if len(queries) == 0 {
		return facts, nil
	}
	for _, q := range queries {
		if _, err := v.ask(ctx, q, clientsLimit); err != nil {
			return facts, err
		}
	}
	var (
		mu    sync.Mutex
		times []time.Duration
		group sync.WaitGroup
		start = time.Now()
	)
	client := func(seed uint64) {
		order := rand.New(rand.NewPCG(seed, 0))
		for asked := false; ; {
			for _, i := range order.Perm(len(queries)) {
				if asked && time.Since(start) >= length || ctx.Err() != nil {
					return
				}
				asked = true
				run, err := v.ask(ctx, queries[i], clientsLimit)
				mu.Lock()
				facts.Searches++
				if err == nil {
					times = append(times, run.Done)
				} else if facts.Errors++; facts.Error == "" {
					facts.Error = err.Error()
				}
				mu.Unlock()
			}
		}
	}
	for i := range n {
		group.Go(func() { client(uint64(i)) })
	}
	group.Wait()
	facts.Wall = time.Since(start)
	slices.Sort(times)
	facts.P50, facts.P95, facts.P99, facts.Max = quantile(times, 0.5), quantile(times, 0.95), quantile(times, 0.99), quantile(times, 1)
	return facts, context.Cause(ctx)
}

// quantile returns the smallest of the sorted times that a share q of them does
// not exceed, 0 if there are none.
func quantile(times []time.Duration, q float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	i := int(q*float64(len(times))+0.999999) - 1
	return times[min(max(i, 0), len(times)-1)]
}

// Limits on trawl, beside zoekt with as many clients.
const (
	throughputOfZoekt = 2
	tailOfZoekt       = 0.5
)

// checkClients compares with zoekt at the largest number of clients.
func (r *Report) checkClients() []Check {
	var ours, theirs ClientsFacts
	for _, f := range r.Clients {
		switch {
		case f.Tool == selfName && f.Clients >= ours.Clients:
			ours = f
		case f.Tool == "zoekt" && f.Clients >= theirs.Clients:
			theirs = f
		}
	}
	if ours.Clients != theirs.Clients || ours.P99 == 0 || theirs.P99 == 0 {
		return nil
	}
	speed := ours.PerSecond() / theirs.PerSecond()
	return []Check{
		{clientsTitle("share of zoekt, throughput", ours.Clients), fmt.Sprintf("%.2f x", speed), fmt.Sprintf(">= %d x", throughputOfZoekt), speed >= throughputOfZoekt},
		shareCheck(clientsTitle("share of zoekt, p99", ours.Clients), float64(ours.P99), float64(theirs.P99), tailOfZoekt),
	}
}
