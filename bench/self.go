package bench

import (
	"context"
	"errors"
)

// selfName is how reports call trawl.
const selfName = "trawl"

// selfTool is trawl as one tool among others, for the phases that treat all
// alike.
type selfTool struct{ *trawl }

func (selfTool) name() string               { return selfName }
func (selfTool) cannot(Query) string        { return "" }
func (t selfTool) reads(workspace) []string { return []string{t.data} }
func (t selfTool) start(ctx context.Context, _ workspace) (engine, error) {
	s, err := t.serve(ctx)
	if err != nil {
		return nil, err
	}
	return selfEngine{s}, nil
}

// selfEngine is a running trawl serve.
type selfEngine struct{ s *server }

func (e selfEngine) server() *process                                 { return e.s.process }
func (e selfEngine) stop() error                                      { return e.s.stop() }
func (e selfEngine) skipped(context.Context) (map[string]bool, error) { return nil, nil }

func (e selfEngine) answer(ctx context.Context, q Query) (LineSet, error) {
	matches := newFound()
	if _, err := e.s.search(ctx, q.Exhaustive(), q.PatternType, matches.add); err != nil {
		return nil, err
	}
	set := matches.in(q.Scope)
	set.Sort()
	return set, nil
}

func (e selfEngine) ask(ctx context.Context, q Query, limit int) (PeerRun, error) {
	text := q.Exhaustive()
	if limit > 0 {
		text = q.Limited(limit)
	}
	a, err := e.s.search(ctx, text, q.PatternType, nil)
	return PeerRun{First: a.First, Done: a.Done}, err
}

// tools returns trawl and the peers.
func (r *runner) tools() []tool {
	all := []tool{selfTool{&r.trawl}}
	for _, p := range r.peers {
		all = append(all, p)
	}
	return all
}

// contestant is a tool at work.
type contestant struct {
	tool
	engine
}

// withAll starts trawl and the peers and stops them after f.
func (r *runner) withAll(ctx context.Context, f func([]contestant) error) (err error) {
	var all []contestant
	defer func() {
		for _, c := range all {
			err = errors.Join(err, c.stop())
		}
	}()
	for _, t := range r.tools() {
		e, err := t.start(ctx, r.placeOf(t))
		if err != nil {
			return err
		}
		all = append(all, contestant{t, e})
	}
	return f(all)
}

// marked returns the queries for a phase.
func (r *runner) marked(p Phase) []Query {
	var marked []Query
	for _, q := range r.Config.Queries {
		if q.In(p) {
			marked = append(marked, q)
		}
	}
	return marked
}
