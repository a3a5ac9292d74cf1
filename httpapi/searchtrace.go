package httpapi

import (
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/stream/event"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/report"
)

// The limits of the traces that are kept after their searches: how many, and
// about how many bytes, of which each trace takes traceBytes at least.
const (
	maxTraces     = 200
	maxTraceBytes = 8 << 20
	traceBytes    = 1 << 10
)

// trace is the record of one search for the page behind its trace link.
type trace struct {
	// ID and Span are 32 and 16 hex digits.
	ID, Span string
	// Owner is who searched, as auth.Actor.Key has it.
	Owner string
	// client is who pays for the trace, as ClientKey has it.
	client string
	Query  string
	Start  time.Time
	// Trace takes the steps of the search while it runs.
	report.Trace

	results *report.Report
	// bytes is about what it takes. It is guarded by the lock of traces.
	bytes int

	mu      sync.Mutex // guards all below
	outcome string     // empty while the search runs
	end     time.Time
	last    query.Progress
}

// traces keeps the newest searches. Those of one client, however many and long,
// push out none of another that has fewer. It is safe for concurrent use.
type traces struct {
	now    func() time.Time
	random io.Reader

	mu sync.Mutex // guards all below
	// kept is in order of start; the oldest is the first.
	kept []*trace
	// bytes is their size together, weights those of each client.
	bytes   int
	weights map[string]traceWeight
}

// traceWeight is what the traces of a client take.
type traceWeight struct{ traces, bytes int }

// start keeps a new trace of a search of an actor for a client, as ClientKey has
// it, and forgets others if there are too many.
func (t *traces) start(actor *auth.Actor, client, text string, results *report.Report) *trace {
	var id [24]byte
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := io.ReadFull(t.random, id[:]); err != nil {
		panic("httpapi: no randomness for a trace id: " + err.Error())
	}
	tr := &trace{
		ID:      hex.EncodeToString(id[:16]),
		Span:    hex.EncodeToString(id[16:]),
		Owner:   actor.Key(),
		client:  client,
		Query:   text,
		Start:   t.now(),
		results: results,
	}
	t.kept = append(t.kept, tr)
	t.count(client, 1, 0)
	t.weigh(tr)
	return tr
}

// finish records how a search ended, and what its trace takes from now on.
func (t *traces) finish(tr *trace, outcome string) {
	tr.finish(outcome, t.now())
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.Contains(t.kept, tr) {
		t.weigh(tr)
	}
}

// weigh counts what a trace takes, and forgets others if that is too much: the
// oldest of the client that has most. The lock is held.
func (t *traces) weigh(tr *trace) {
	n := traceBytes + len(tr.Query) + tr.Bytes()
	t.count(tr.client, 0, n-tr.bytes)
	tr.bytes = n
	for len(t.kept) > maxTraces {
		t.forget(func(w traceWeight) int { return w.traces })
	}
	for t.bytes > maxTraceBytes {
		t.forget(func(w traceWeight) int { return w.bytes })
	}
}

// count adds to what the traces of a client take. The lock is held.
func (t *traces) count(client string, traces, bytes int) {
	w := t.weights[client]
	w.traces += traces
	w.bytes += bytes
	t.bytes += bytes
	switch {
	case w.traces == 0:
		delete(t.weights, client)
	case t.weights == nil:
		t.weights = map[string]traceWeight{client: w}
	default:
		t.weights[client] = w
	}
}

// forget forgets the oldest trace of the client whose traces weigh most, and of
// clients with as much the one that has the oldest. The lock is held.
func (t *traces) forget(weight func(traceWeight) int) {
	most := 0
	for _, w := range t.weights {
		most = max(most, weight(w))
	}
	oldest := slices.IndexFunc(t.kept, func(tr *trace) bool { return weight(t.weights[tr.client]) == most })
	tr := t.kept[oldest]
	t.count(tr.client, -1, -tr.bytes)
	t.kept = slices.Delete(t.kept, oldest, oldest+1)
}

// find returns the trace with an id if it is the actor's own, or nil. Users who
// see all may also see the operator's traces, since their pages are opened in a
// browser.
func (t *traces) find(id string, actor *auth.Actor) *trace {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, tr := range t.kept {
		if tr.ID == id && (tr.Owner == actor.Key() || tr.Owner == auth.OperatorActor().Key() && actor.SeesAll()) {
			return tr
		}
	}
	return nil
}

// step records work that the server itself did.
func (t *trace) step(name string, from, to time.Time, fields ...report.Field) {
	t.Add(report.Step{Name: name, Start: from.Sub(t.Start), Took: to.Sub(from), Fields: fields})
}

// streamed records what was sent.
func (t *trace) streamed(e *event.Writer, mostHeld int) {
	events, bytes := e.Sent()
	t.Add(report.Step{Name: "stream", Fields: []report.Field{
		{Key: "events", Value: strconv.Itoa(events)},
		{Key: "bytes", Value: strconv.FormatInt(bytes, 10)},
		{Key: "most_held", Value: fmt.Sprintf("%d bytes", mostHeld)},
	}})
}

// finish records how the search ended and lets go of its account.
func (t *trace) finish(outcome string, now time.Time) {
	last := t.results.Progress()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.outcome, t.end, t.last, t.results = outcome, now, last, nil
}

// state returns how far the search is.
func (t *trace) state(now time.Time) (outcome string, took time.Duration, p query.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.results != nil {
		return "running", now.Sub(t.Start), t.results.Progress()
	}
	return t.outcome, t.end.Sub(t.Start), t.last
}
