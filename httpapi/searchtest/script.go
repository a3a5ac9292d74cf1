package searchtest

import (
	"context"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
)

// Func is a function as what runs searches.
type Func func(ctx context.Context, q *query.Query, o search.Options, sink answer.Sink) search.Outcome

// Search calls f.
func (f Func) Search(ctx context.Context, q *query.Query, o search.Options, sink answer.Sink) search.Outcome {
	return f(ctx, q, o, sink)
}

// Nothing finds nothing.
func Nothing(_ context.Context, _ *query.Query, o search.Options, _ answer.Sink) search.Outcome {
	o.Report.Finish(true)
	return search.Outcome{}
}

// Step is what a scripted search does at a moment after its start.
type Step struct {
	at time.Duration
	do func(o search.Options, sink answer.Sink)
}

// After returns a step.
func After(at time.Duration, do func(o search.Options, sink answer.Sink)) Step { return Step{at, do} }

// Found sends matches.
func Found(matches ...query.Match) func(search.Options, answer.Sink) {
	return func(o search.Options, sink answer.Sink) {
		o.Report.Add(matches)
		_ = sink.Send(matches)
	}
}

// Finish says that the search is over.
func Finish(exhaustive bool) func(search.Options, answer.Sink) {
	return func(o search.Options, _ answer.Sink) { o.Report.Finish(exhaustive) }
}

// Script is a search that does its steps and ends like out.
func Script(out search.Outcome, steps ...Step) Func {
	return func(ctx context.Context, _ *query.Query, o search.Options, sink answer.Sink) search.Outcome {
		began := time.Now()
		for _, s := range steps {
			select {
			case <-time.After(time.Until(began.Add(s.at))):
				s.do(o, sink)
			case <-ctx.Done():
				o.Report.Finish(false)
				return search.Outcome{Err: ctx.Err()}
			}
		}
		return out
	}
}

// Held is a search that finds Path and then waits to be released or cancelled.
type Held struct {
	// Release is closed to let the search finish, and Cancelled when it was cancelled.
	Release, Cancelled chan struct{}
}

// NewHeld returns a search that waits.
func NewHeld() *Held { return &Held{make(chan struct{}), make(chan struct{})} }

// Search is a Func.
func (h *Held) Search(ctx context.Context, _ *query.Query, o search.Options, sink answer.Sink) search.Outcome {
	Found(Path())(o, sink)
	select {
	case <-h.Release:
		o.Report.Finish(true)
		return search.Outcome{}
	case <-ctx.Done():
		close(h.Cancelled)
		return search.Outcome{Err: ctx.Err()}
	}
}
