package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ColdFacts is how soon tools answer a first question, with nothing of their
// indexes and of the corpus in memory.
type ColdFacts struct {
	// Method says how memory was emptied.
	Method  string      `json:"method"`
	Queries []ColdQuery `json:"queries"`
}

// ColdQuery is one tool's first answers to one query.
type ColdQuery struct {
	Tool   string      `json:"tool"`
	Query  string      `json:"query"`
	Rounds []ColdRound `json:"rounds"`
}

// ColdRound is one start and one answer.
type ColdRound struct {
	PeerRun
	// Ready is from starting a server until it could be asked, 0 for tools that
	// have none. First and Done count from the request.
	Ready time.Duration `json:"readyNanos,omitempty"`
}

// Done returns the median time to the end of the answer.
func (c ColdQuery) Done() time.Duration {
	return median(c.Rounds, func(r ColdRound) time.Duration { return r.Done })
}

// Ready returns the median time until the tool's server could be asked.
func (c ColdQuery) Ready() time.Duration {
	return median(c.Rounds, func(r ColdRound) time.Duration { return r.Ready })
}

// coldTarget is for the first answer to a rare literal.
const coldTarget = 150 * time.Millisecond

// cold empties memory, starts a tool, asks one query, and stops it: for every
// tool and query that is marked for it, in rounds.
func (r *runner) cold(ctx context.Context) error {
	queries := r.marked(ColdPhase)
	if r.Cold == 0 || len(queries) == 0 {
		return nil
	}
	cache := newPageCache()
	if r.ColdFilesOnly {
		cache = cache.ofFiles()
	}
	facts := &ColdFacts{Method: cache.method}
	tools := r.tools()
	for _, q := range queries {
		for _, t := range tools {
			if t.cannot(q) == "" {
				facts.Queries = append(facts.Queries, ColdQuery{Tool: t.name(), Query: q.Name})
			}
		}
	}
	for round := range r.Cold {
		i := 0
		for _, q := range queries {
			r.Progress(fmt.Sprintf("cold round %d of %d: %s", round+1, r.Cold, q.Name))
			for _, t := range tools {
				if t.cannot(q) != "" {
					continue
				}
				one, err := askCold(ctx, t, r.placeOf(t), cache, q)
				if err != nil {
					return err
				}
				facts.Queries[i].Rounds = append(facts.Queries[i].Rounds, one)
				i++
			}
		}
	}
	r.report.Cold = facts
	return nil
}

func askCold(ctx context.Context, t tool, at workspace, cache pageCache, q Query) (_ ColdRound, err error) {
	if err := cache.empty(t.reads(at)); err != nil {
		return ColdRound{}, err
	}
	e, err := t.start(ctx, at)
	if err != nil {
		return ColdRound{}, err
	}
	defer func() { err = errors.Join(err, e.stop()) }()
	var round ColdRound
	if p := e.server(); p != nil {
		round.Ready = p.ready
	}
	round.PeerRun, err = e.ask(ctx, q, q.Limit())
	return round, err
}

// checkCold holds trawl's first answers to rare literals against their target.
func (r *Report) checkCold() []Check {
	if r.Cold == nil {
		return nil
	}
	var checks []Check
	for _, c := range r.Cold.Queries {
		for _, q := range r.Queries {
			if q.Name == c.Query && q.Frequency == Rare && c.Tool == selfName {
				checks = append(checks, durationCheck("cold, "+q.Name, c.Done(), coldTarget))
			}
		}
	}
	return checks
}
