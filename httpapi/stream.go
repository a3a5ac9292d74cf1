package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/stream/event"
	"github.com/trawlsearch/trawl/httpapi/trace"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
)

// flushEvery is how long a match or a count may wait for company, progressEvery
// how often a stream sends a sign of life.
const (
	flushEvery    = 200 * time.Millisecond
	progressEvery = 5 * time.Second
)

// Searcher runs queries. It sends matches to the sink from one goroutine,
// keeps o.Report up to date while it runs, and ends soon after ctx is done.
type Searcher interface {
	Search(ctx context.Context, q *query.Query, o search.Options, sink answer.Sink) search.Outcome
}

// streams are the searches of a server and their traces.
type streams struct{ *Server }

// serve answers a search as a stream of events. Whatever happens once the stream
// is open, its last event is done.
func (s streams) serve(w http.ResponseWriter, r *http.Request) error {
	end, err := s.begin(w, r)
	if err != nil {
		return err
	}
	defer end()
	p, err := decodeStream(r)
	body := newBody(w, r, s.compressors, &s.events, s.WriteTimeout)
	defer body.release()
	s.run(w.Header(), r, p, err, body)
	return nil
}

// begin counts an answer that is being read until end is called, or refuses it.
func (s streams) begin(w http.ResponseWriter, r *http.Request) (end func(), err error) {
	if what := s.opening(); what != "" {
		w.Header().Set("Retry-After", "1")
		return nil, &Error{Status: http.StatusServiceUnavailable, Message: "opening " + what}
	}
	if !canFlush(w) {
		return nil, &Error{Status: http.StatusInternalServerError, Message: "http flushing not supported"}
	}
	asker := auth.From(r.Context()).ClientKey()
	if !s.streams.begin(asker) {
		w.Header().Set("Retry-After", "5")
		return nil, &Error{Status: http.StatusServiceUnavailable, Message: "too many searches are being read; try again in a moment"}
	}
	return func() { s.streams.end(asker) }, nil
}

// run runs the search of a request and sends its events to out. wrong is what is wrong with
// the parameters. It returns how that ended, in a word for logs and traces.
func (s streams) run(header http.Header, r *http.Request, p streamParams, wrong error, out event.Output) string {
	results := report.New(s.now)
	tr := s.traces.Start(header, r, p.Query, results)
	events := event.NewWriter(out, tr.URL)
	rec := recordOf(r.Context())
	rec.queryID = tr.ID
	if wrong != nil {
		rec.outcome = refuse(events, nil, wrong.Error())
	} else {
		rec.outcome = s.answer(r, p, events, results, tr)
	}
	s.traces.Finish(tr, rec.outcome)
	rec.matches = results.Progress().Matches
	return rec.outcome
}

// answer parses, searches and sends; it returns how that ended, in a word for logs
// and traces.
func (s streams) answer(r *http.Request, p streamParams, events *event.Writer, results *report.Report, tr *trace.Trace) string {
	log := zerolog.Ctx(r.Context())
	began := s.now()
	q, err := s.parse(p)
	tr.Step("parse", began, s.now())
	if err != nil {
		alert, message := explain(err)
		if message == internalError {
			log.Error().Err(err).Msg("parse query")
		}
		return refuse(events, alert, message)
	}
	log.Debug().Str("query", p.Query).Str("trace", tr.ID).Msg("search")
	results.SetDisplay(p.Display)
	st := &stream{
		events:  events,
		results: results,
		out:     newOutbox(event.Encoder{Chunks: p.Chunks, MaxLineBytes: p.MaxLineBytes, AroundMatches: p.AroundMatches, Now: s.now}, s.StreamBuffer, s.buffers, &s.events),
		closing: s.closing,
		log:     log,
		pumps:   s.pumps,
	}
	defer st.out.close()
	ending := st.run(r.Context(), func(ctx context.Context) search.Outcome {
		o := p.options(results, &tr.Trace)
		actor := auth.From(ctx)
		o.Visible, o.Asker, o.ID = actor.Visible(), tr.Client, tr.ID
		o.PublicVisible = o.Visible != nil
		return s.searchOn(ctx, q, o, st)
	})
	recordOf(r.Context()).mostHeld = st.out.mostHeld()
	n, bytes := events.Sent()
	tr.Add(report.Step{Name: "stream", Fields: []report.Field{
		{Key: "events", Value: strconv.Itoa(n)},
		{Key: "bytes", Value: strconv.FormatInt(bytes, 10)},
		{Key: "most_held", Value: fmt.Sprintf("%d bytes", st.out.mostHeld())},
	}})
	return ending
}

// parse turns the text of a request into a query.
func (s streams) parse(p streamParams) (*query.Query, error) {
	pt, err := s.PatternType(p.Version, p.PatternType)
	if err != nil {
		return nil, &requestError{err}
	}
	return s.Parse(p.Query, pt)
}

// searchOn searches until the search has ended, however often it yields. While
// it waits for its client it holds nothing but its outbox and its bookmark.
func (s streams) searchOn(ctx context.Context, q *query.Query, o search.Options, st *stream) search.Outcome {
	o.Bookmark = &search.Bookmark{}
	defer o.Bookmark.Close()
	steps := o.Trace.Len()
	for {
		out := s.search(ctx, q, o, st)
		var yield *answer.YieldError
		if !errors.As(out.Err, &yield) {
			return out
		}
		st.pump.start()
		if !st.out.drained(ctx) {
			return search.Outcome{Err: ctx.Err()}
		}
		o.Trace.Rewind(steps)
	}
}

// refuse writes the two events of a request that is not searched.
func refuse(events *event.Writer, alert *query.Alert, message string) string {
	// A client that is gone needs no further answer.
	events.Finish(func() error {
		if alert != nil {
			_ = events.Alert(alert)
		} else {
			_ = events.Error(message)
		}
		return events.Done()
	})
	return streamRefused
}

func (p streamParams) options(results *report.Report, trace *report.Trace) search.Options {
	o := search.Options{Display: p.Display, Debug: p.Debug, Report: results, Trace: trace}
	if p.Chunks { // line matches show no context
		o.ContextLines = p.ContextLines
	}
	return o
}

// search calls the searcher, and turns its panic into an error: it must not
// take other searches with it.
func (s streams) search(ctx context.Context, q *query.Query, o search.Options, st *stream) (out search.Outcome) {
	defer func() {
		if v := recover(); v != nil {
			out = search.Outcome{Err: newPanicError(v)}
		}
	}()
	return s.Searcher.Search(ctx, q, o, &streamSink{ctx, st})
}

// streamSink puts what one run of a search confirms into the outbox of its
// stream. It lives as long as the call of Search, whose context it has.
type streamSink struct {
	ctx context.Context
	st  *stream
}

// Send implements answer.Sink.
func (s *streamSink) Send(m []query.Match) error {
	err := s.st.out.put(s.ctx, m)
	if s.st.out.many() {
		s.st.pump.start()
	}
	return err
}

// TakeTicket implements answer.TicketTaker.
func (s *streamSink) TakeTicket(t *admission.Ticket) { s.st.out.ticket = t }

// stream is one open response and the search that feeds it. The search runs in
// the goroutine of the request. A search that takes longer, or finds much, gets
// a second goroutine, the pump, which sends meanwhile. Most are over before,
// and are sent in one write without waking another thread.
type stream struct {
	events  *event.Writer
	out     *outbox
	results *report.Report
	// closing is closed when the server wants its streams to end.
	closing <-chan struct{}
	log     *zerolog.Logger

	// pump sends while the search runs; pumps starts it.
	pump  pump
	pumps *admission.Delay

	// The following fields belong to the pump while it runs.
	began                     bool // whether matches have been sent
	filtersSent, progressSent uint64
}

// run runs a search and sends its events until both have ended.
func (s *stream) run(ctx context.Context, do func(context.Context) search.Outcome) string {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.pump.run = func(over <-chan struct{}) { s.sendMeanwhile(over, cancel) }
	return s.finish(ctx, s.pumped(ctx, do))
}

// pumped returns what do does, once nothing is sent any more.
func (s *stream) pumped(ctx context.Context, do func(context.Context) search.Outcome) search.Outcome {
	defer s.pump.startAfter(s.pumps)()
	return do(ctx)
}

// sendMeanwhile sends what is there, in time, until the search is over. A
// failed write cancels the search.
func (s *stream) sendMeanwhile(over <-chan struct{}, cancel context.CancelFunc) {
	tick := time.NewTimer(flushEvery - pumpAfter)
	defer tick.Stop()
	beat := time.NewTimer(progressEvery - pumpAfter)
	defer beat.Stop()
	for closing := s.closing; ; {
		var err error
		select {
		case <-s.out.wake:
			err = s.sendSealed()
		case <-tick.C:
			err = s.flush()
			tick.Reset(flushEvery)
		case <-beat.C:
			err = s.sendProgress(false)
			beat.Reset(progressEvery)
		case <-closing:
			s.results.Skips().Add(report.NewSkip(serverClosing))
			cancel()
			closing = nil
		case <-over:
			return
		}
		if err != nil {
			cancel()
			s.log.Debug().Err(err).Msg("stream ended by its client")
			return
		}
	}
}

// serverClosing is the reason of a search that the end of the server cut short.
var serverClosing = query.Skipped{
	Reason:   "server-closing",
	Title:    "server closing",
	Message:  "The server is shutting down and ended this search early. Search again in a moment.",
	Severity: "warn",
}

// credentialEnded is the reason of a search that the end of its credential cut
// short.
var credentialEnded = query.Skipped{
	Reason:   "credential-ended",
	Title:    "credential ended",
	Message:  "The token or session of this search has ended or may see less than it could, and the search ended with it. Search again, signed in or with another token.",
	Severity: "warn",
}

// flush sends what has changed since the last time.
func (s *stream) flush() error {
	filters, progress := s.results.Marks()
	if filters != s.filtersSent {
		if err := s.sendFilters(false); err != nil {
			return err
		}
	}
	s.out.sealOpen()
	if err := s.sendSealed(); err != nil {
		return err
	}
	if progress != s.progressSent {
		return s.sendProgress(false)
	}
	return nil
}

// sendSealed sends the matches events that are ready, the very first of them
// after the filters.
func (s *stream) sendSealed() error {
	for {
		matches := s.out.take()
		if matches == nil {
			return nil
		}
		err := s.sendMatches(matches)
		s.out.wrote(matches)
		if err != nil {
			return err
		}
	}
}

func (s *stream) sendMatches(matches []byte) error {
	if s.began {
		return s.events.Matches(matches)
	}
	s.began = true
	return s.events.Together(func() error {
		if err := s.sendFilters(false); err != nil {
			return err
		}
		return s.events.Matches(matches)
	})
}

// sendFilters and sendProgress read the mark first: what changes in between is
// sent once more, not lost.

func (s *stream) sendFilters(final bool) error {
	s.filtersSent, _ = s.results.Marks()
	return s.events.Filters(s.results.Filters(), final)
}

func (s *stream) sendProgress(final bool) error {
	_, s.progressSent = s.results.Marks()
	return s.events.Progress(s.results.Progress(), final)
}

// finish sends the end of the stream. Errors of sending are the event
// writer's to remember: after the first nothing more is written.
func (s *stream) finish(ctx context.Context, out search.Outcome) string {
	if context.Cause(ctx) == auth.ErrEnded {
		s.results.Skips().Add(report.NewSkip(credentialEnded))
	}
	alert, message := s.conclude(ctx, out)
	// A search that failed has not said so itself.
	s.results.Finish(false)
	s.events.Finish(func() error {
		_ = s.sendSealed()
		_ = s.sendFilters(true)
		s.out.sealOpen()
		_ = s.sendSealed()
		_ = s.sendProgress(true)
		if alert != nil {
			_ = s.events.Alert(alert)
		}
		if message != "" {
			_ = s.events.Error(message)
		}
		return s.events.Done()
	})
	switch {
	case s.events.Err() != nil:
		return streamAbandoned
	case message != "":
		return streamFailed
	case ctx.Err() != nil:
		return streamCancelled
	}
	return streamDone
}

// searchFailed is the alert that the results are incomplete.
var searchFailed = query.Skipped{
	Reason:   "search-error",
	Title:    "search failed",
	Message:  "The search failed before it had looked at everything. The server's log tells why.",
	Severity: "warn",
}

// conclude decides how the end of a search is reported. Errors of a cancelled
// search only say that it was. An internal error is not shown to a client that
// has results, which learns that they are incomplete, unless it is a broken
// invariant.
func (s *stream) conclude(ctx context.Context, out search.Outcome) (alert *query.Alert, message string) {
	if out.Err == nil || ctx.Err() != nil && !isPanic(out.Err) {
		return out.Alert, ""
	}
	alert, message = explain(out.Err)
	if message == internalError {
		s.log.Error().Err(out.Err).Msg("search")
		s.results.Skips().Add(report.NewSkip(searchFailed))
		if s.results.Progress().Matches > 0 && !isPanic(out.Err) {
			message = ""
		}
	}
	if out.Alert != nil {
		alert = out.Alert
	}
	return alert, message
}
