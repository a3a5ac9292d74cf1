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
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
)

// maxTraces is how many searches can be looked at after they have run.
const maxTraces = 200

// trace is what is kept of one search for the page behind its trace link.
type trace struct {
	// ID and Span are 32 and 16 hex digits.
	ID, Span string
	// Owner is who searched, as auth.Actor.Key has it.
	Owner string
	Query string
	Start time.Time
	// Trace takes the steps of the search while it runs.
	search.Trace

	results *search.Results

	mu      sync.Mutex // guards all below
	outcome string     // empty while the search runs
	end     time.Time
	last    query.Progress
}

// traces keeps the newest searches. It is safe for concurrent use.
type traces struct {
	now    func() time.Time
	random io.Reader

	mu sync.Mutex // guards all below
	// kept is in order of start; the oldest is the first.
	kept []*trace
}

// start keeps a new trace, and forgets the oldest if there are too many.
func (t *traces) start(owner, text string, results *search.Results) *trace {
	var id [24]byte
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := io.ReadFull(t.random, id[:]); err != nil {
		panic("httpapi: no randomness for a trace id: " + err.Error())
	}
	tr := &trace{
		ID:      hex.EncodeToString(id[:16]),
		Span:    hex.EncodeToString(id[16:]),
		Owner:   owner,
		Query:   text,
		Start:   t.now(),
		results: results,
	}
	if len(t.kept) == maxTraces {
		t.kept = slices.Delete(t.kept, 0, 1)
	}
	t.kept = append(t.kept, tr)
	return tr
}

// find returns the trace with an id if it is the actor's own, or nil. What the
// operator searched is for those who see all, too: its page is opened in a
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
func (t *trace) step(name string, from, to time.Time, fields ...search.Field) {
	t.Add(search.Step{Name: name, Start: from.Sub(t.Start), Took: to.Sub(from), Fields: fields})
}

// streamed records what was sent.
func (t *trace) streamed(e *eventWriter, mostHeld int) {
	t.Add(search.Step{Name: "stream", Fields: []search.Field{
		{Key: "events", Value: strconv.Itoa(e.events)},
		{Key: "bytes", Value: strconv.FormatInt(e.bytes, 10)},
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
