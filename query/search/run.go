package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/store"
)

// run is one search.
type run struct {
	*Searcher
	q     *query.Query
	o     Options
	sink  Sink
	start time.Time
	// complete says that everything chosen was looked at.
	complete bool

	snap   *store.Snapshot
	basics []*basic
	sel    selection
	out    *sender
	// timeout is the time the whole search has.
	timeout time.Duration
	// named says that repositories were told to have timed out.
	named bool
	// failed are shards that could not be searched.
	failed []error
}

func (r *run) run(ctx context.Context) Outcome {
	if err := r.prepare(); err != nil {
		var se *query.SyntaxError
		if errors.As(err, &se) {
			return Outcome{Alert: QueryAlert(err)}
		}
		return Outcome{Err: err}
	}
	r.snap = r.store.Snapshot()
	defer r.snap.Close()
	repos := r.snap.Repositories()
	if err := r.choose(repos); err != nil {
		return Outcome{Alert: QueryAlert(err)}
	}
	deadline, cancel := context.WithDeadline(ctx, r.start.Add(r.timeout))
	defer cancel()
	r.complete = true
	for _, pass := range r.passes() {
		if err := r.pass(deadline, pass, repos); err != nil {
			r.complete = false
			return r.end(ctx, deadline, err)
		}
		if r.out.full() {
			break
		}
	}
	return r.end(ctx, deadline, nil)
}

// prepare compiles the basic queries and sets the limits.
func (r *run) prepare() error {
	start := r.set.Now()
	limit := 0
	r.timeout = 0
	for _, b := range r.q.Basics {
		c, err := compile(b, r.o.DefaultCount)
		if err != nil {
			return err
		}
		if name := b.Value("context"); name != "" && name != "global" {
			return fmt.Errorf("search context %q not found", name)
		}
		r.basics = append(r.basics, c)
		limit = max(limit, c.limit)
		t := c.timeout
		if t == 0 {
			t = r.set.DefaultTimeout
			if c.counted {
				t = r.set.MaxTimeout
			}
		}
		r.timeout = max(r.timeout, min(t, r.set.MaxTimeout))
	}
	r.o.Results.SetLimit(limit)
	r.o.Results.SetDisplay(r.o.Display)
	r.out = newSender(r.sink, r.o, limit)
	for i, b := range r.basics {
		r.o.Trace.Add(Step{Name: fmt.Sprintf("compile query %d of %d", i+1, len(r.basics)), Start: start.Sub(r.start),
			Took: r.set.Now().Sub(start), Fields: []Field{{"query", b.describe()}}})
	}
	return nil
}

// choose selects the repositories of every basic query.
func (r *run) choose(repos []*store.Repository) error {
	start := r.set.Now()
	cache := map[uint32]*query.Repository{}
	shown := func(s *store.Repository) *query.Repository {
		if cache[s.ID] == nil {
			cache[s.ID] = showRepository(s)
		}
		return cache[s.ID]
	}
	chosen := map[uint32]bool{}
	for _, b := range r.basics {
		if err := b.selectRepositories(repos, shown, &r.sel); err != nil {
			return err
		}
		for id := range b.targets {
			chosen[id] = true
		}
	}
	if r.sel.forks+r.sel.archived > 0 {
		r.o.Results.Exclude(r.sel.forks, r.sel.archived)
	}
	if len(r.sel.cloning) > 0 {
		r.o.Results.Cloning(r.sel.cloning)
	}
	if len(r.sel.missing) > 0 {
		r.o.Results.Missing(r.sel.missing)
	}
	r.o.Trace.Add(Step{Name: "choose repositories", Start: start.Sub(r.start), Took: r.set.Now().Sub(start), Fields: []Field{
		{"known", strconv.Itoa(len(repos))}, {"chosen", strconv.Itoa(len(chosen))},
		{"forks left out", strconv.Itoa(r.sel.forks)}, {"archived left out", strconv.Itoa(r.sel.archived)},
		{"not indexed", strconv.Itoa(len(r.sel.cloning) + len(r.sel.missing))},
	}})
	return nil
}

// passes groups neighbouring basic queries whose documents can be confirmed
// together.
func (r *run) passes() [][]*basic {
	var out [][]*basic
	for _, b := range r.basics {
		if n := len(out); n > 0 && sameShape(out[n-1][0], b) {
			out[n-1] = append(out[n-1], b)
			continue
		}
		out = append(out, []*basic{b})
	}
	return out
}

// pass searches names and then documents for some basic queries.
func (r *run) pass(ctx context.Context, pass []*basic, repos []*store.Repository) error {
	r.out.begin(pass[0])
	start := r.set.Now()
	named := 0
	for _, b := range pass {
		found := b.searchNames(repos)
		named += len(found)
		if err := r.out.send(found); err != nil {
			return err
		}
	}
	r.o.Trace.Add(Step{Name: "repository names", Start: start.Sub(r.start), Took: r.set.Now().Sub(start),
		Fields: []Field{{"matches", strconv.Itoa(named)}}})
	docs := slices.DeleteFunc(slices.Clone(pass), func(b *basic) bool { return !b.docs })
	if len(docs) == 0 || r.out.full() {
		return nil
	}
	return r.documents(ctx, docs)
}

// shards returns the shards that hold documents of a chosen repository, in
// order.
func (r *run) shards(pass []*basic) []store.View {
	wanted := map[uint32]bool{}
	for _, b := range pass {
		for _, t := range b.targets {
			for _, id := range t.stored.Shards {
				wanted[id] = true
			}
		}
	}
	return slices.DeleteFunc(r.snap.Shards(), func(v store.View) bool { return !wanted[v.ID] })
}

// end decides what to say about a search that is over.
func (r *run) end(parent, deadline context.Context, err error) Outcome {
	if len(r.failed) > 0 {
		r.complete = false
		r.o.Results.Unsearched(query.Skipped{
			Reason: "backend-missing", Title: fmt.Sprintf("%d shards unreadable", len(r.failed)), Severity: "warn",
			Message: "Part of the index could not be read, so results may be missing. Run `trawl index` to rebuild it.",
		})
	}
	timedOut := deadline.Err() != nil && parent.Err() == nil
	switch {
	case parent.Err() != nil:
		return Outcome{}
	case timedOut:
		r.complete = false
	case err != nil && !errors.Is(err, context.Canceled):
		return Outcome{Err: err}
	}
	return Outcome{Alert: r.alert(timedOut)}
}
