package service

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store/identity"
)

// Observer is called for each event of a service, to count it. Its methods are
// called from many goroutines and return at once.
type Observer interface {
	// Searched is called when a search is over.
	Searched(ctx context.Context, s Searched)
	// Worked is called when a step of work in the background is over.
	Worked(w Work, o WorkOutcome, took time.Duration)
	// Pushed is called when a push is searched that a code host or a watched folder has
	// reported, with the time since.
	Pushed(took time.Duration)
	// SignedIn is called after each attempt to sign in with a password or at another service.
	SignedIn(o identity.SignInOutcome)
}

// Searched is called when a search is over.
type Searched struct {
	Kind    SearchKind
	Outcome SearchOutcome
	// ID names the search in links and logs, "" if it has no name there; Text
	// is what was typed.
	ID, Text string
	// Start is when it was asked for, Waited how long it had to wait for others,
	// Took how long it took with that. First is when the first match was found,
	// from Start, 0 if none was.
	Start               time.Time
	Waited, Took, First time.Duration
	Matches             int
	// Skipped are the reasons for which not all was searched.
	Skipped []string
	// Err is why it failed, if it did.
	Err error
	// Trace has the steps, nil if no trace was asked for.
	Trace *report.Trace
}

// SearchKind is the kind of results that a search looks for.
type SearchKind string

// The kinds of searches. One of several types is mixed.
const (
	KindFile   SearchKind = "file"
	KindPath   SearchKind = "path"
	KindRepo   SearchKind = "repo"
	KindSymbol SearchKind = "symbol"
	KindCommit SearchKind = "commit"
	KindDiff   SearchKind = "diff"
	KindMixed  SearchKind = "mixed"
)

// SearchKinds returns all of them.
func SearchKinds() []SearchKind {
	return []SearchKind{KindFile, KindPath, KindRepo, KindSymbol, KindCommit, KindDiff, KindMixed}
}

// SearchOutcome is how a search ended.
type SearchOutcome string

// The outcomes. An incomplete search was not able to look at everything, a
// limited one was not meant to.
const (
	SearchComplete   SearchOutcome = "complete"
	SearchLimited    SearchOutcome = "limited"
	SearchIncomplete SearchOutcome = "incomplete"
	SearchTimedOut   SearchOutcome = "timed_out"
	SearchCancelled  SearchOutcome = "cancelled"
	SearchFailed     SearchOutcome = "failed"
)

// SearchOutcomes returns all of them.
func SearchOutcomes() []SearchOutcome {
	return []SearchOutcome{SearchComplete, SearchLimited, SearchIncomplete, SearchTimedOut, SearchCancelled, SearchFailed}
}

// Work is a step of work in the background.
type Work string

// The steps.
const (
	WorkSync    Work = "sync"
	WorkMerge   Work = "merge"
	WorkSymbols Work = "symbols"
	WorkHistory Work = "history"
	WorkRebuild Work = "rebuild"
	// WorkDeliver is one attempt to tell of what a monitor found.
	WorkDeliver Work = "deliver"
)

// Works returns all of them.
func Works() []Work {
	return []Work{WorkSync, WorkMerge, WorkSymbols, WorkHistory, WorkRebuild, WorkDeliver}
}

// WorkOutcome is how a step ended.
type WorkOutcome string

// The outcomes. Low disk is one of its own, since it ends by itself.
const (
	WorkChanged     WorkOutcome = "changed"
	WorkUnchanged   WorkOutcome = "unchanged"
	WorkInterrupted WorkOutcome = "interrupted"
	WorkLowDisk     WorkOutcome = "low_disk"
	WorkFailed      WorkOutcome = "failed"
)

// WorkOutcomes returns all of them.
func WorkOutcomes() []WorkOutcome {
	return []WorkOutcome{WorkChanged, WorkUnchanged, WorkInterrupted, WorkLowDisk, WorkFailed}
}

// observed is a search that is being watched.
type observed struct {
	start time.Time
	first atomic.Int64 // nanoseconds from start
	sink  answer.Sink
}

// Send implements answer.Sink.
func (o *observed) Send(m []query.Match) error {
	if len(m) > 0 && o.first.Load() == 0 {
		o.first.Store(int64(max(time.Since(o.start), 1)))
	}
	return o.sink.Send(m)
}

// over reports a search that has ended.
func (s *Service) over(ctx context.Context, q *query.Query, o search.Options, w *observed, waited time.Duration, out search.Outcome) {
	progress := o.Report.Progress()
	done := Searched{
		Kind: kindOf(q), ID: o.ID, Text: q.Text, Start: w.start, Waited: waited, Took: time.Since(w.start),
		First: time.Duration(w.first.Load()), Matches: progress.Matches, Err: out.Err, Trace: o.Trace,
	}
	for _, p := range progress.Skipped {
		done.Skipped = append(done.Skipped, p.Reason)
	}
	done.Outcome = outcomeOf(ctx, progress, out)
	s.opts.Observer.Searched(ctx, done)
}

func outcomeOf(ctx context.Context, p query.Progress, out search.Outcome) SearchOutcome {
	has := func(reason string) bool {
		return slices.ContainsFunc(p.Skipped, func(s query.Skipped) bool { return s.Reason == reason })
	}
	switch {
	case ctx.Err() != nil:
		return SearchCancelled
	case out.Err != nil:
		return SearchFailed
	case has("shard-timeout"):
		return SearchTimedOut
	case slices.ContainsFunc(p.Skipped, func(s query.Skipped) bool { return s.Severity == "warn" }):
		return SearchIncomplete
	case has("shard-match-limit"):
		return SearchLimited
	}
	return SearchComplete
}

// kindOf returns the kind of results that a query looks for.
func kindOf(q *query.Query) SearchKind {
	kind := SearchKind("")
	for i := range q.Basics {
		for j := range q.Basics[i].Filters {
			if f := &q.Basics[i].Filters[j]; f.Field == "type" {
				this := SearchKind(f.Value)
				if !slices.Contains(SearchKinds(), this) || kind != "" && kind != this {
					return KindMixed
				}
				kind = this
			}
		}
	}
	if kind == "" {
		return KindFile
	}
	return kind
}
