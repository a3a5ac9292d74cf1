package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// learnSkipped asks which files trawl does not search. The command needs the
// repository's name, which only a search returns, and cannot run beside a
// server. So a server is started and stopped before it.
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

// queries runs every query against trawl and each of its rivals.
func (r *runner) queries(ctx context.Context) error {
	return r.serving(ctx, func(s *server) error {
		return r.withPeers(ctx, func(rivals []rival) error {
			for i, q := range r.Config.Queries {
				r.Progress(fmt.Sprintf("query %d of %d: %s", i+1, len(r.Config.Queries), q.Name))
				facts, err := r.query(ctx, s, rivals, q)
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
			r.recordMemory(s, rivals)
			return nil
		})
	})
}

// rival is a peer at work.
type rival struct {
	peer
	engine
	// unread are the paths whose text the peer says it does not search.
	unread map[string]bool
}

// withPeers starts all peers, asks each what it does not read, and stops them
// after f.
func (r *runner) withPeers(ctx context.Context, f func([]rival) error) (err error) {
	var rivals []rival
	defer func() {
		for _, v := range rivals {
			err = errors.Join(err, v.stop())
		}
	}()
	for _, p := range r.peers {
		e, err := p.start(ctx, r.placeOf(p))
		if err != nil {
			return err
		}
		v := rival{peer: p, engine: e}
		rivals = append(rivals, v)
		if v.unread, err = e.skipped(ctx); err != nil {
			return fmt.Errorf("%s: what does it skip? %w", p.name(), err)
		}
		rivals[len(rivals)-1] = v
		r.describeUnread(v)
	}
	return f(rivals)
}

// placeOf returns where a tool keeps its index.
func (r *runner) placeOf(t tool) workspace {
	return workspace{source: r.source, dir: filepath.Join(r.work, t.name())}
}

func (r *runner) describeUnread(v rival) {
	facts := r.report.tool(v.peer.name())
	facts.UnreadText, facts.UnreadTextBytes = 0, 0
	for _, f := range r.source.files {
		if f.class == text && f.bytes > 0 && v.unread[f.path] && !r.source.considered.skipped[f.path] {
			facts.UnreadText++
			facts.UnreadTextBytes += f.bytes
		}
	}
}

// recordMemory notes what every server has come to hold.
func (r *runner) recordMemory(s *server, rivals []rival) {
	memory := s.memory()
	r.report.Server.PeakRSSBytes, r.report.Server.AnonBytes = memory.single, memory.anon
	for _, v := range rivals {
		if p := v.server(); p != nil {
			memory := p.memory()
			r.report.tool(v.peer.name()).Server = &ServerFacts{
				Ready: p.ready, PeakRSSBytes: memory.single, AnonBytes: memory.anon,
			}
		}
	}
}

// contender is a peer as it takes part in one query.
type contender struct {
	rival
	facts *PeerFacts
	spent time.Duration
}

// query asks everybody once for the answer and then takes turns for the times,
// so that whatever slows the machine for a while slows all alike.
func (r *runner) query(ctx context.Context, s *server, rivals []rival, q Query) (QueryFacts, error) {
	facts := QueryFacts{Query: q, Peers: make([]PeerFacts, len(rivals))}
	got, err := r.learnAnswer(ctx, s, &facts)
	if err != nil {
		return facts, err
	}
	var contenders []*contender
	for i, v := range rivals {
		c := &contender{rival: v, facts: &facts.Peers[i]}
		c.facts.Name = v.peer.name()
		if c.facts.Cannot = v.cannot(q); c.facts.Cannot != "" {
			continue
		}
		if err := r.compare(ctx, q, got, c); err != nil {
			return facts, err
		}
		contenders = append(contenders, c)
	}
	r.judge(facts)
	for range r.Runs {
		a, err := s.search(ctx, q.Exhaustive(), q.PatternType, nil)
		if err != nil {
			return facts, err
		}
		facts.Runs = append(facts.Runs, a)
		for _, c := range contenders {
			if err := r.timePeer(ctx, q, c); err != nil {
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

// compare asks a peer for its answer and holds trawl's against it, on the files
// that both read.
func (r *runner) compare(ctx context.Context, q Query, got LineSet, c *contender) error {
	want, err := c.answer(ctx, q)
	if err != nil {
		return err
	}
	c.facts.Lines = want.Len()
	keep := r.source.considered.content(c.decodesWide())
	if q.Scope == Paths {
		keep = r.source.considered.names()
	}
	got = maps.Clone(got)
	got.Keep(keep)
	want.Keep(keep)
	c.facts.Unread = dropUnread(q.Scope, got, want, c.unread)
	d := Compare(got, want)
	if c.facts.Partial = !c.sees(q); c.facts.Partial {
		d.Extra, d.ExtraAt = 0, nil
	}
	if q.Part {
		d.Missing, d.MissingAt = 0, nil
	}
	r.quote(d)
	c.facts.Difference = d
	return nil
}

// dropUnread removes the files that a peer does not read from both answers and
// returns how many lines they had in trawl's. A path that the peer names all
// the same stays in answers that are about names.
func dropUnread(scope Scope, got, want LineSet, unread map[string]bool) int {
	before := got.Len()
	reads := func(path string) bool { return !unread[path] }
	got.Keep(func(path string) bool {
		_, named := want[path]
		return reads(path) || scope == Paths && named
	})
	if scope != Paths {
		want.Keep(reads)
	}
	return before - got.Len()
}

// judge records a problem where answers differ, unless a tool that sees all of
// the corpus found the same as trawl. Then the others are wrong: the report
// shows it, but it is no problem of trawl's.
func (r *runner) judge(facts QueryFacts) {
	for _, p := range facts.Peers {
		if p.Cannot == "" && p.Agrees() && !p.Partial && p.Unread == 0 && !facts.Part {
			return
		}
	}
	for _, p := range facts.Peers {
		if d := p.Difference; !d.Empty() {
			r.problem("query %s: %d lines that %s finds are missing, %d are extra", facts.Name, d.Missing, p.Name, d.Extra)
		}
	}
}

func (r *runner) timePeer(ctx context.Context, q Query, c *contender) error {
	if c.spent > 0 && c.spent >= r.PeerBudget {
		return nil
	}
	run, err := c.ask(ctx, q, q.Limit())
	c.facts.Runs = append(c.facts.Runs, run)
	c.spent += run.Done
	return err
}

// quote adds the text of the lines that a difference names.
func (r *runner) quote(d Difference) {
	for _, places := range [][]LinePosition{d.MissingAt, d.ExtraAt} {
		for i := range places {
			places[i].Text = lineOf(filepath.Join(r.source.tree, places[i].Path), places[i].Line)
		}
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
