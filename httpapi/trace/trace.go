package trace

import (
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
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

// Trace is the record of one search for the page behind its trace link.
type Trace struct {
	// ID is 32 hex digits, and URL leads to the page.
	ID, URL string
	// client pays for the trace, as auth.Actor.ClientKey has it.
	client string
	Query  string
	Start  time.Time
	owner  string // who searched, as auth.Actor.Key has it
	// Trace takes the steps of the search while it runs.
	report.Trace

	results *report.Report
	// bytes is about what it takes. It is guarded by the lock of its Store.
	bytes int

	mu      sync.Mutex // guards all below
	outcome string     // empty while the search runs
	end     time.Time
	last    query.Progress
}

// Store keeps the newest searches. Those of one client, however many and long,
// push out none of another that has fewer. It is safe for concurrent use.
type Store struct {
	// ExternalURL is how clients reach the server, for links; empty takes it from
	// each request.
	ExternalURL string
	// Now is the clock, Random makes IDs.
	Now    func() time.Time
	Random io.Reader

	mu sync.Mutex // guards all below
	// kept is in order of start; the oldest is the first.
	kept []*Trace
	// bytes is their size together, weights those of each client.
	bytes   int
	weights map[string]weight
}

// weight is what the traces of a client take.
type weight struct{ traces, bytes int }

// Start keeps a new trace for the actor of a request, names it in the headers of the
// answer, and forgets others if there are too many. text is its query, or what stands
// for it; results is its account.
func (s *Store) Start(h http.Header, r *http.Request, text string, results *report.Report) *Trace {
	var id [24]byte
	actor := auth.From(r.Context())
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := io.ReadFull(s.Random, id[:]); err != nil {
		panic("trace: no randomness for an ID: " + err.Error())
	}
	tr := &Trace{
		ID:      hex.EncodeToString(id[:16]),
		client:  actor.ClientKey(),
		Query:   text,
		Start:   s.Now(),
		owner:   actor.Key(),
		results: results,
	}
	tr.URL = auth.BaseURL(s.ExternalURL, r) + "/-/trace/" + tr.ID
	values := [...]string{tr.ID, hex.EncodeToString(id[16:]), tr.URL}
	h["X-Trace"], h["X-Trace-Span"], h["X-Trace-Url"] = values[:1:1], values[1:2:2], values[2:]
	s.kept = append(s.kept, tr)
	s.count(tr.client, 1, 0)
	s.weigh(tr)
	return tr
}

// Finish records how a search ended, and what its trace takes from now on.
func (s *Store) Finish(tr *Trace, outcome string) {
	tr.finish(outcome, s.Now())
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.kept, tr) {
		s.weigh(tr)
	}
}

// weigh counts what a trace takes, and forgets others if that is too much: the
// oldest of the client that has most. The lock is held.
func (s *Store) weigh(tr *Trace) {
	n := traceBytes + len(tr.Query) + tr.Bytes()
	s.count(tr.client, 0, n-tr.bytes)
	tr.bytes = n
	for len(s.kept) > maxTraces {
		s.forget(func(w weight) int { return w.traces })
	}
	for s.bytes > maxTraceBytes {
		s.forget(func(w weight) int { return w.bytes })
	}
}

// count adds to what the traces of a client take. The lock is held.
func (s *Store) count(client string, traces, bytes int) {
	w := s.weights[client]
	w.traces += traces
	w.bytes += bytes
	s.bytes += bytes
	switch {
	case w.traces == 0:
		delete(s.weights, client)
	case s.weights == nil:
		s.weights = map[string]weight{client: w}
	default:
		s.weights[client] = w
	}
}

// forget forgets the oldest trace of the client whose traces weigh most, and of
// clients with as much the one that has the oldest. The lock is held.
func (s *Store) forget(size func(weight) int) {
	most := 0
	for _, w := range s.weights {
		most = max(most, size(w))
	}
	oldest := slices.IndexFunc(s.kept, func(tr *Trace) bool { return size(s.weights[tr.client]) == most })
	tr := s.kept[oldest]
	s.count(tr.client, -1, -tr.bytes)
	s.kept = slices.Delete(s.kept, oldest, oldest+1)
}

// Find returns the trace with an id if it is the actor's own, or nil. Users who
// see all may also see the operator's traces, since their pages are opened in a
// browser.
func (s *Store) Find(id string, actor *auth.Actor) *Trace {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, tr := range s.kept {
		if tr.ID == id && (tr.owner == actor.Key() || tr.owner == auth.OperatorActor().Key() && actor.SeesAll()) {
			return tr
		}
	}
	return nil
}

// Step records work that the server itself did.
func (t *Trace) Step(name string, from, to time.Time) {
	t.Add(report.Step{Name: name, Start: from.Sub(t.Start), Took: to.Sub(from)})
}

// finish records how the search ended and lets go of its account.
func (t *Trace) finish(outcome string, now time.Time) {
	last := t.results.Progress()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.outcome, t.end, t.last, t.results = outcome, now, last, nil
}

// State returns how far the search is.
func (t *Trace) State(now time.Time) (outcome string, took time.Duration, p query.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.results != nil {
		return "running", now.Sub(t.Start), t.results.Progress()
	}
	return t.outcome, t.end.Sub(t.Start), t.last
}
