package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"
)

// GrowthFacts is what a smaller or larger corpus takes.
type GrowthFacts struct {
	// Factor is the size as a multiple of the corpus.
	Factor float64      `json:"factor"`
	Corpus CorpusFacts  `json:"corpus"`
	Index  IndexFacts   `json:"index"`
	Tools  []*ToolFacts `json:"tools,omitempty"`
	// Queries are those marked for this phase, compared and timed as ever.
	Queries []QueryFacts `json:"queries"`
}

// growth repeats the run, for some of the queries, on corpora of other sizes.
func (r *runner) growth(ctx context.Context) error {
	queries := r.marked(GrowthPhase)
	for i := range queries {
		// How much is found depends on the size.
		queries[i].Results, queries[i].Frequency = Bounds{Min: 0, Max: -1}, ""
	}
	if len(queries) == 0 {
		return nil
	}
	for _, factor := range r.Growth {
		r.Progress(fmt.Sprintf("growth: %g times the corpus", factor))
		facts, problems, err := r.grow(ctx, factor, queries)
		if err != nil {
			return fmt.Errorf("growth, %g times the corpus: %w", factor, err)
		}
		for _, p := range problems {
			r.problem("%g times the corpus: %s", factor, p)
		}
		r.report.Growth = append(r.report.Growth, facts)
	}
	return nil
}

// grow runs all up to the queries on factor times the corpus.
func (r *runner) grow(ctx context.Context, factor float64, queries []Query) (_ GrowthFacts, problems []string, err error) {
	dir, err := os.MkdirTemp(r.scratch, "growth-")
	if err != nil {
		return GrowthFacts{}, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	sub := &runner{Config: r.Config, peers: r.peers, scratch: filepath.Join(dir, "scratch"), report: &Report{}}
	sub.Corpus = filepath.Join(dir, filepath.Base(r.source.clone))
	sub.Work, sub.Reuse, sub.Config.Queries = filepath.Join(dir, "work"), false, queries
	if err := os.Mkdir(sub.scratch, 0o755); err != nil {
		return GrowthFacts{}, nil, err
	}
	if err := r.source.resize(ctx, factor, sub.Corpus); err != nil {
		return GrowthFacts{}, nil, err
	}
	for _, phase := range []func(context.Context) error{sub.prepare, sub.index, sub.indexPeers, sub.learnSkipped, sub.queries} {
		if err := phase(ctx); err != nil {
			return GrowthFacts{}, nil, err
		}
	}
	for i := range sub.report.Queries {
		sub.report.Queries[i].Checks = nil
	}
	sub.report.Corpus.Path = fmt.Sprintf("%g x %s", factor, r.report.Corpus.Path)
	return GrowthFacts{
		Factor: factor, Corpus: sub.report.Corpus, Index: *sub.report.Index, Tools: sub.report.Tools, Queries: sub.report.Queries,
	}, sub.report.Problems, nil
}

// Limits for twice the corpus, as geometric means over the queries. Time to the
// first match shall stay flat; the allowance is for noise.
const (
	doneOfHalf  = 2
	firstOfHalf = 1.25
)

// checkGrowth compares every size with its half.
func (r *Report) checkGrowth() []Check {
	var checks []Check
	for _, half := range r.Growth {
		for _, f := range r.Growth {
			if f.Factor != 2*half.Factor {
				continue
			}
			title := fmt.Sprintf("growth from %g to %g, ", half.Factor, f.Factor)
			if x := growthOf(half, f, QueryFacts.Done); !math.IsNaN(x) {
				checks = append(checks, shareCheck(title+"done", x, 1, doneOfHalf))
			}
			if x := growthOf(half, f, QueryFacts.First); !math.IsNaN(x) {
				checks = append(checks, shareCheck(title+"first match", x, 1, firstOfHalf))
			}
		}
	}
	return checks
}

// growthOf returns the geometric mean of a time in f relative to that in half,
// NaN if no query has one in both.
func growthOf(half, f GrowthFacts, of func(QueryFacts) time.Duration) float64 {
	var logs float64
	n := 0
	for i, q := range f.Queries {
		if i < len(half.Queries) && of(q) > 0 && of(half.Queries[i]) > 0 {
			logs += math.Log(float64(of(q)) / float64(of(half.Queries[i])))
			n++
		}
	}
	return math.Exp(logs / float64(n))
}
