package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// learnSkipped asks which files trawl does not search. The command is told the
// repository's name, which only a search tells, and cannot run beside a server,
// so a server comes and goes before it.
func (r *runner) learnSkipped(ctx context.Context) error {
	var names []string
	err := r.serving(ctx, func(s *server) (err error) {
		r.report.Server.Ready = s.ready
		names, err = s.repositories(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if len(names) != 1 {
		return fmt.Errorf("trawl lists the repositories %q, want exactly one", names)
	}
	skipped, err := r.trawl.skipped(ctx, names[0])
	if err != nil {
		return err
	}
	r.source.considered = newConsidered(r.source.files, skipped)
	r.describeSkipped(skipped)
	return nil
}

func (r *runner) describeSkipped(skipped []Skipped) {
	c := &r.report.Corpus
	c.Skipped = map[string]int{}
	for _, s := range skipped {
		c.Skipped[s.Reason]++
	}
	for _, f := range r.source.files {
		if f.class == text && r.source.considered.skipped[f.path] {
			c.SkippedText++
			c.SkippedTextBytes += f.bytes
		}
	}
}

// queries runs every query against one server.
func (r *runner) queries(ctx context.Context) error {
	return r.serving(ctx, func(s *server) error {
		for i, q := range r.Config.Queries {
			r.Progress(fmt.Sprintf("query %d of %d: %s", i+1, len(r.Config.Queries), q.Name))
			facts, err := r.query(ctx, s, q)
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case err != nil:
				// One query that fails says nothing about the others.
				r.problem("query %s: %v", q.Name, err)
			}
			facts.Checks = facts.check()
			r.report.Queries = append(r.report.Queries, facts)
		}
		memory := s.memory()
		r.report.Server.PeakRSSBytes, r.report.Server.AnonBytes = memory.single, memory.anon
		return nil
	})
}

// contender is a peer as it takes part in one query.
type contender struct {
	peer  peer
	steps []step
	facts *PeerFacts
	spent time.Duration
}

// query asks everybody once for the answer and then takes turns for the times,
// so that whatever slows the machine for a while slows all alike.
func (r *runner) query(ctx context.Context, s *server, q Query) (QueryFacts, error) {
	facts := QueryFacts{Query: q, Peers: make([]PeerFacts, len(r.peers))}
	got, err := r.learnAnswer(ctx, s, &facts)
	if err != nil {
		return facts, err
	}
	var contenders []*contender
	for i, p := range r.peers {
		c := &contender{peer: p, facts: &facts.Peers[i]}
		c.facts.Name = p.name()
		if c.steps, c.facts.Cannot = p.steps(q); c.facts.Cannot != "" {
			continue
		}
		if err := r.compare(ctx, q, got, c); err != nil {
			return facts, err
		}
		contenders = append(contenders, c)
	}
	for range r.Runs {
		a, err := s.search(ctx, q.Exhaustive(), q.PatternType, nil)
		if err != nil {
			return facts, err
		}
		facts.Runs = append(facts.Runs, a)
		for _, c := range contenders {
			if err := r.timePeer(ctx, c); err != nil {
				return facts, err
			}
		}
	}
	return facts, nil
}

// learnAnswer asks trawl, warming it, and checks the answer by itself.
func (r *runner) learnAnswer(ctx context.Context, s *server, facts *QueryFacts) (LineSet, error) {
	q := facts.Query
	matches := newFound()
	a, err := s.search(ctx, q.Exhaustive(), q.PatternType, matches.add)
	if err != nil {
		return nil, err
	}
	if !q.Results.Contain(a.Results) {
		r.problem("query %s: %d results, want %s", q.Name, a.Results, q.Results)
	}
	if len(a.Incomplete) > 0 && !q.Part {
		r.problem("query %s: the answer is incomplete: %s", q.Name, strings.Join(a.Incomplete, "; "))
	}
	if facts.Work, err = s.work(ctx, a.Trace); err != nil {
		r.problem("query %s: %v", q.Name, err)
	}
	got := matches.in(q.Scope)
	got.Sort()
	facts.Lines = got.Len()
	return got, nil
}

// compare asks a peer for its answer and holds trawl's against it.
func (r *runner) compare(ctx context.Context, q Query, got LineSet, c *contender) error {
	var out bytes.Buffer
	_, excluded, err := ask(ctx, c.peer, r.source, c.steps, &out)
	if err != nil {
		return err
	}
	want, err := readOutput(q, out.Bytes(), excluded)
	if err != nil {
		return fmt.Errorf("%s: %w", c.peer.name(), err)
	}
	c.facts.Lines = want.Len()
	keep := r.source.considered.content(c.peer.decodesWide())
	if q.Scope == Paths {
		keep = r.source.considered.names()
	}
	got = maps.Clone(got)
	got.Keep(keep)
	want.Keep(keep)
	d := Compare(got, want)
	if c.facts.Partial = !c.peer.sees(q); c.facts.Partial {
		d.Extra, d.ExtraAt = 0, nil
	}
	if q.Part {
		d.Missing, d.MissingAt = 0, nil
	}
	r.quote(d)
	c.facts.Difference = d
	if !d.Empty() {
		r.problem("query %s: %d lines that %s finds are missing, %d are extra", q.Name, d.Missing, c.peer.name(), d.Extra)
	}
	return nil
}

func (r *runner) timePeer(ctx context.Context, c *contender) error {
	if c.spent > 0 && c.spent >= r.PeerBudget {
		return nil
	}
	run, _, err := ask(ctx, c.peer, r.source, c.steps, io.Discard)
	c.facts.Runs = append(c.facts.Runs, run)
	c.spent += run.Done
	return err
}

// quote adds the text of the lines that a difference names.
func (r *runner) quote(d Difference) {
	for _, places := range [][]Place{d.MissingAt, d.ExtraAt} {
		for i := range places {
			places[i].Text = lineOf(filepath.Join(r.source.tree, places[i].Path), places[i].Line)
		}
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
