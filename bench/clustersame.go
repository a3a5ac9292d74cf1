package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// compareTries is how often a query is asked while the nodes change versions.
const compareTries = 20

// compare asks all nodes the same queries at the same version.
func (r *clusterRun) compare(ctx context.Context) error {
	r.Note(fmt.Sprintf("comparing the answers to %d queries", r.Queries))
	queries, err := told(ctx, func() ([]string, error) {
		return storedQueries(ctx, r.nodes[0].asker(r.searcher.Secret), r.Queries, r.Seed)
	})
	if err != nil {
		return err
	}
	for _, q := range queries {
		same, matches, err := r.same(ctx, q)
		if err != nil {
			return err
		}
		r.report.Queries++
		r.report.Matches += matches
		if !same {
			r.report.Different = append(r.report.Different, q)
			r.problem("nodes of one version answer %q differently", q)
		}
	}
	return nil
}

// same reports whether all nodes answer a query with the same bytes.
func (r *clusterRun) same(ctx context.Context, query string) (same bool, matches int, err error) {
	for range compareTries {
		before, err := r.versions(ctx)
		if err != nil {
			return false, 0, err
		}
		answers := make([]storedAnswer, len(r.nodes))
		for i, n := range r.nodes {
			ask := func() (storedAnswer, error) { return answerOf(ctx, n.asker(r.searcher.Secret), query) }
			if answers[i], err = told(ctx, ask); err != nil {
				return false, 0, err
			}
		}
		after, err := r.versions(ctx)
		if err != nil {
			return false, 0, err
		}
		if !slices.Equal(before, after) || slices.Min(before) != slices.Max(before) {
			pause(ctx, syncAgain)
			continue
		}
		for _, a := range answers {
			if a != answers[0] {
				return false, a.matches, nil
			}
		}
		return true, answers[0].matches, nil
	}
	return false, 0, errors.New("the versions of the nodes go on changing, and answers cannot be compared")
}

func (r *clusterRun) versions(ctx context.Context) ([]uint64, error) {
	out := make([]uint64, len(r.nodes))
	for i, n := range r.nodes {
		s, err := n.status(ctx)
		if err != nil {
			return nil, err
		}
		out[i] = s.Applied
	}
	return out, nil
}

const (
	// throughputFor is how long clusters of each size are measured.
	throughputFor = 10 * time.Second
	// nodeClients is how many clients a node has meanwhile.
	nodeClients = 4
	// nodeProcessors is how many processors there are for a node and its clients.
	nodeProcessors = 2
)

// throughput counts answers a second of one node, of two, and so on. Where there are not
// processors for all, half of them are divided among the nodes, and the other half is for
// the clients.
func (r *clusterRun) throughput(ctx context.Context) error {
	if processors := runtime.NumCPU(); processors < nodeProcessors*r.Nodes {
		share := float64(processors) / float64(nodeProcessors*r.Nodes)
		for _, n := range r.nodes {
			remove, err := holdToShare(fmt.Sprintf("trawl-bench-%d", n.process.cmd.Process.Pid), n.process.cmd.Process.Pid, share)
			if err != nil {
				r.report.NoThroughput = fmt.Sprintf("not measured: %d processors for %d nodes and their clients, and none can be divided: %v", processors, r.Nodes, err)
				return nil
			}
			r.ended = append(r.ended, remove)
		}
		r.report.Share = share
	}
	for n := range r.Nodes {
		r.Note(fmt.Sprintf("throughput of %d nodes", n+1))
		rate, err := r.rate(ctx, r.nodes[:n+1])
		if err != nil {
			return err
		}
		r.report.Throughput = append(r.report.Throughput, rate)
	}
	return nil
}

// rate returns how many searches a second some nodes answer.
func (r *clusterRun) rate(ctx context.Context, nodes []*clusterNode) (float64, error) {
	within, cancel := context.WithTimeout(ctx, throughputFor)
	defer cancel()
	var group sync.WaitGroup
	var answers atomic.Int64
	errs := make([]error, len(nodes)*nodeClients)
	for i := range errs {
		a, rng := nodes[i%len(nodes)].asker(r.searcher.Secret), rand.New(rand.NewPCG(r.Seed, uint64(i)))
		group.Go(func() {
			for errs[i] == nil && within.Err() == nil {
				if _, err := a.search(within, uniqueWord(r.searched[rng.IntN(len(r.searched))]), "keyword", nil); err == nil {
					answers.Add(1)
				} else if within.Err() == nil {
					errs[i] = err
				}
			}
		})
	}
	group.Wait()
	return float64(answers.Load()) / throughputFor.Seconds(), errors.Join(errs...)
}
