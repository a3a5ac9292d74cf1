package stream

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/stream/event"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/query/search/report"
)

// flushEvery is how long a match or a count may wait for company, progressEvery
// how often a stream sends a sign of life.
const (
	flushEvery    = 200 * time.Millisecond
	progressEvery = 5 * time.Second
)

// sendAfter is how long a search runs before its matches are sent while it goes
// on: longer than a small search takes, less than a person notices.
const sendAfter = 2 * time.Millisecond

// sender sends the events of one search. The search runs in the goroutine of its request.
// If it takes longer, or finds much, a second goroutine sends meanwhile. Most are over
// before, and are sent in one write without waking another thread.
type sender struct {
	events *event.Writer
	report *report.Report
	// buffer is nil for a request that is refused.
	buffer *buffer
	// closing is closed when the server wants its streams to end.
	closing <-chan struct{}
	log     *zerolog.Logger

	// background sends while the search runs.
	background background
	// The following fields belong to the goroutine of background while it runs, and to
	// that of the request afterwards.
	sentMatches               bool // whether any have been sent
	filtersSent, progressSent uint64
}

// run runs a search and sends its events until both have ended. It returns the outcome.
func (s *sender) run(ctx context.Context, delay *admission.Delay, do func(context.Context) search.Outcome) string {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.background.run = func(over <-chan struct{}) { s.sendMeanwhile(over, cancel) }
	out := func() search.Outcome {
		defer s.background.startAfter(delay)()
		return do(ctx)
	}()
	return s.finish(ctx, out)
}

// refuse sends the two events of a request that is not searched. It returns the outcome.
func (s *sender) refuse(alert *query.Alert, message string) string {
	// A client that is gone needs no further answer.
	s.events.Finish(func() error {
		if alert != nil {
			_ = s.events.Alert(alert)
		} else {
			_ = s.events.Error(message)
		}
		return s.events.Done()
	})
	return Refused
}

// sendMeanwhile sends what is there, in time, until the search is over. A
// failed write cancels the search.
func (s *sender) sendMeanwhile(over <-chan struct{}, cancel context.CancelFunc) {
	tick := time.NewTimer(flushEvery - sendAfter)
	defer tick.Stop()
	beat := time.NewTimer(progressEvery - sendAfter)
	defer beat.Stop()
	for closing := s.closing; ; {
		var err error
		select {
		case <-s.buffer.eventSealed:
			err = s.sendSealed()
		case <-tick.C:
			err = s.sendChanges()
			tick.Reset(flushEvery)
		case <-beat.C:
			err = s.sendProgress(false)
			beat.Reset(progressEvery)
		case <-closing:
			s.report.Skips().Add(report.NewSkip(serverClosing))
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

// sendChanges sends what has changed since the last time.
func (s *sender) sendChanges() error {
	filters, progress := s.report.Marks()
	if filters != s.filtersSent {
		if err := s.sendFilters(false); err != nil {
			return err
		}
	}
	s.buffer.seal()
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
func (s *sender) sendSealed() error {
	for {
		matches := s.buffer.take()
		if matches == nil {
			return nil
		}
		err := s.sendMatches(matches)
		s.buffer.free(matches)
		if err != nil {
			return err
		}
	}
}

func (s *sender) sendMatches(matches []byte) error {
	if s.sentMatches {
		return s.events.Matches(matches)
	}
	s.sentMatches = true
	return s.events.Together(func() error {
		if err := s.sendFilters(false); err != nil {
			return err
		}
		return s.events.Matches(matches)
	})
}

// sendFilters and sendProgress read the mark first: what changes in between is
// sent once more, not lost.

func (s *sender) sendFilters(final bool) error {
	s.filtersSent, _ = s.report.Marks()
	return s.events.Filters(s.report.Filters(), final)
}

func (s *sender) sendProgress(final bool) error {
	_, s.progressSent = s.report.Marks()
	return s.events.Progress(s.report.Progress(), final)
}

// finish sends the end of the stream. Errors of sending are the event
// writer's to remember: after the first nothing more is written.
func (s *sender) finish(ctx context.Context, out search.Outcome) string {
	if context.Cause(ctx) == auth.ErrEnded {
		s.report.Skips().Add(report.NewSkip(credentialEnded))
	}
	alert, message := s.explainEnd(ctx, out)
	// A search that failed has not said so itself.
	s.report.Finish(false)
	s.events.Finish(func() error {
		_ = s.sendSealed()
		_ = s.sendFilters(true)
		s.buffer.seal()
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
		return Abandoned
	case message != "":
		return Failed
	case ctx.Err() != nil:
		return Cancelled
	}
	return Done
}

// explainEnd decides how the end of a search is reported. Errors of a cancelled
// search only say that it was. An internal error is not shown to a client that
// has results, which learns that they are incomplete, unless it is a broken
// invariant.
func (s *sender) explainEnd(ctx context.Context, out search.Outcome) (alert *query.Alert, message string) {
	if out.Err == nil || ctx.Err() != nil && !isPanic(out.Err) {
		return out.Alert, ""
	}
	alert, message, ok := Explain(out.Err)
	if !ok {
		s.log.Error().Err(out.Err).Msg("search")
		s.report.Skips().Add(report.NewSkip(searchFailed))
		if s.report.Progress().Matches == 0 || isPanic(out.Err) {
			message = internalError
		}
	}
	if out.Alert != nil {
		alert = out.Alert
	}
	return alert, message
}
