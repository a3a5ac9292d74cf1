package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/semaphore"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/compress"
	"github.com/trawlsearch/trawl/httpapi/stream/event"
	"github.com/trawlsearch/trawl/httpapi/trace"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
)

// Searcher runs queries. It sends matches to the sink from one goroutine,
// keeps o.Report up to date while it runs, and ends soon after ctx is done.
type Searcher interface {
	Search(ctx context.Context, q *query.Query, o search.Options, sink answer.Sink) search.Outcome
}

// Options are what an endpoint needs of its server. All are set but those of Limits.
type Options struct {
	Searcher Searcher
	// Traces keeps what searches did.
	Traces *trace.Store
	// Compressors are for the clients that take gzip.
	Compressors *compress.Pool
	// WriteTimeout is how long 48 KiB of an event may take to leave.
	WriteTimeout time.Duration
	// Closing is closed when the server wants its streams to end.
	Closing <-chan struct{}
	// Now is the clock for durations.
	Now func() time.Time
	// Limits are what streams may take of memory.
	Limits Limits
}

// Limits are what streams may take of memory.
type Limits struct {
	// ClientBytes is the most bytes of matches that wait for one slow client; 0 is 1 MiB.
	ClientBytes int
	// SharedBytes is the most bytes that wait for all slow clients together, beyond the
	// 64 KiB of each; 0 is 64 MiB.
	SharedBytes int64
	// Open is how many streams may be open; 0 is 4096. See MostOpen.
	Open int
	// Lend frees so many bytes for streams and returns the function that gives them
	// back; nil frees none. It may take long, and is called from Admit, whose caller has
	// found that searches can run.
	Lend func(bytes int64) (giveBack func())
}

const (
	defaultClientBytes = 1 << 20
	defaultSharedBytes = 64 << 20
	defaultOpen        = 4096
)

// Endpoint answers searches as streams of events. It is safe for concurrent use.
type Endpoint struct {
	o       Options
	limiter *limiter
	// shared are the bytes that all buffers may hold beyond the least of each.
	shared *semaphore.Weighted
	events eventPool
	// delay starts the senders of searches that take a while.
	delay *admission.Delay
	// parse is Params.Parse; tests replace it.
	parse func(Params) (*query.Query, error)
}

// New returns an endpoint.
func New(o Options) *Endpoint {
	l := &o.Limits
	l.ClientBytes = cmp.Or(l.ClientBytes, defaultClientBytes)
	l.SharedBytes = cmp.Or(l.SharedBytes, defaultSharedBytes)
	l.Open = cmp.Or(l.Open, defaultOpen)
	return &Endpoint{
		o: o, limiter: &limiter{most: l.Open, lend: l.Lend}, shared: semaphore.NewWeighted(l.SharedBytes), delay: admission.NewDelay(sendAfter),
		parse: Params.Parse,
	}
}

// Admit counts an answer that is being read until release is called, or refuses it with
// ErrTooMany or ErrCannotFlush.
func (e *Endpoint) Admit(w http.ResponseWriter, r *http.Request) (release func(), err error) {
	if !canFlush(w) {
		return nil, ErrCannotFlush
	}
	client := auth.From(r.Context()).ClientKey()
	if !e.limiter.acquire(client) {
		return nil, ErrTooMany
	}
	return func() { e.limiter.release(client) }, nil
}

// Serve answers an admitted request with the events of its search. Whatever happens once
// the stream is open, its last event is done.
func (e *Endpoint) Serve(w http.ResponseWriter, r *http.Request, sum *Summary) {
	p, err := DecodeParams(r)
	response := e.NewResponse(w, r)
	defer response.Release()
	e.run(w.Header(), r, p, err, response, sum)
}

// Run runs the search of an admitted request and sends its events to out, for an answer
// in another form. It names the trace of the search in the headers of the answer.
func (e *Endpoint) Run(h http.Header, r *http.Request, p Params, out event.Output, sum *Summary) {
	e.run(h, r, p, nil, out, sum)
}

// run is Run; wrong is what is wrong with the parameters.
func (e *Endpoint) run(h http.Header, r *http.Request, p Params, wrong error, out event.Output, sum *Summary) {
	results := report.New(e.o.Now)
	tr := e.o.Traces.Start(h, r, p.Query, results)
	sum.TraceID, sum.Outcome = tr.ID, Failed // what a panic leaves
	defer func() {
		e.o.Traces.Finish(tr, sum.Outcome)
		sum.Matches = results.Progress().Matches
	}()
	s := &sender{events: event.NewWriter(out, tr.URL), report: results, closing: e.o.Closing, log: zerolog.Ctx(r.Context())}
	if wrong != nil {
		sum.Outcome = s.refuse(nil, wrong.Error())
	} else {
		sum.Outcome, sum.MostHeld = e.answer(r.Context(), p, s, tr)
	}
}

// answer parses, searches and sends. It returns how that ended, and how many bytes
// waited for the client at most.
func (e *Endpoint) answer(ctx context.Context, p Params, s *sender, tr *trace.Trace) (outcome string, mostHeld int) {
	start := e.o.Now()
	q, err := e.parse(p)
	tr.Step("parse", start, e.o.Now())
	if err != nil {
		alert, message, ok := Explain(err)
		if !ok {
			s.log.Error().Err(err).Msg("parse query")
			message = internalError
		}
		return s.refuse(alert, message), 0
	}
	s.log.Debug().Str("query", p.Query).Str("trace", tr.ID).Msg("search")
	s.report.SetDisplay(p.Display)
	s.buffer = newBuffer(e.o.Limits.ClientBytes, e.shared, &e.events)
	defer s.buffer.close()
	outcome = s.run(ctx, e.delay, func(ctx context.Context) search.Outcome {
		return e.search(ctx, q, e.options(ctx, p, s.report, tr), s, p.encoder(e.o.Now))
	})
	mostHeld = s.buffer.mostHeld()
	events, bytes := s.events.Sent()
	tr.Add(report.Step{Name: "stream", Fields: []report.Field{
		{Key: "events", Value: strconv.Itoa(events)},
		{Key: "bytes", Value: strconv.FormatInt(bytes, 10)},
		{Key: "most_held", Value: fmt.Sprintf("%d bytes", mostHeld)},
	}})
	return outcome, mostHeld
}

// options are those of the search of a request.
func (e *Endpoint) options(ctx context.Context, p Params, results *report.Report, tr *trace.Trace) search.Options {
	o := search.Options{Display: p.Display, Debug: p.Debug, Report: results, Trace: &tr.Trace, ID: tr.ID}
	if p.Chunks { // line matches show no context
		o.ContextLines = p.ContextLines
	}
	actor := auth.From(ctx)
	o.AskedBy(actor.ClientKey(), actor.Visible())
	return o
}

// search searches until the search has ended, however often it yields. While
// it waits for its client it holds nothing but its buffer and its bookmark.
func (e *Endpoint) search(ctx context.Context, q *query.Query, o search.Options, s *sender, encoder event.Encoder) search.Outcome {
	o.Bookmark = &search.Bookmark{}
	defer o.Bookmark.Close()
	sink := &sink{ctx: ctx, buffer: s.buffer, sending: &s.background, encoder: encoder, bookmark: o.Bookmark}
	steps := o.Trace.Len()
	for {
		out := e.searchOnce(ctx, q, o, sink)
		var yield *answer.YieldError
		if !errors.As(out.Err, &yield) {
			return out
		}
		s.background.start()
		if !sink.waitUntilRead() {
			return search.Outcome{Err: ctx.Err()}
		}
		o.Trace.Rewind(steps)
	}
}

// searchOnce calls the searcher, and turns its panic into an error: it must not
// take other searches with it.
func (e *Endpoint) searchOnce(ctx context.Context, q *query.Query, o search.Options, sink answer.Sink) (out search.Outcome) {
	defer func() {
		if v := recover(); v != nil {
			out = search.Outcome{Err: newPanicError(v)}
		}
	}()
	return e.o.Searcher.Search(ctx, q, o, sink)
}
