package stream

import (
	"context"
	"errors"
	"time"

	"github.com/trawlsearch/trawl/httpapi/stream/event"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
)

// sink puts the matches of a search into the buffer of its stream. It is used by the
// goroutine of the search only, and lives as long as the search, whose context it has.
type sink struct {
	ctx     context.Context
	buffer  *buffer
	sending *background // starts when there is much to send
	encoder event.Encoder
	// bookmark, which is never nil, has the ticket of the search; without a ticket the
	// sink never yields.
	bookmark *search.Bookmark
	// parts are how many of the next match's parts were put in before the search
	// yielded.
	parts   int
	scratch []byte // one encoded match
}

// Send implements answer.Sink. It waits while the buffer is full, and returns early when
// the search is cancelled, or with a *answer.YieldError when the client is slow or others
// want the ticket of the search.
func (s *sink) Send(matches []query.Match) error {
	err := s.put(matches)
	if s.buffer.holds(wholeBytes) {
		s.sending.start()
	}
	return err
}

func (s *sink) put(matches []query.Match) error {
	if len(matches) > 0 {
		defer s.buffer.sealFirstBatch()
	}
	for n, m := range matches {
		err := s.putOne(m)
		if errors.Is(err, errYield) {
			return &answer.YieldError{Delivered: n}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errYield says that the search is to yield.
var errYield = errors.New("yield")

func (s *sink) putOne(m query.Match) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	var ok bool
	switch s.scratch, ok = s.buffer.encode(&s.encoder, m, s.scratch); {
	case ok:
		return nil
	case event.FitsMatch(len(s.scratch)):
		return s.add(s.scratch)
	}
	return s.putDivided(m)
}

func (s *sink) putDivided(m query.Match) error {
	defer func() { s.scratch = nil }() // it grew beyond what a usual match needs
	for n, part := range event.Divide(m) {
		if n < s.parts {
			continue
		}
		s.scratch = s.encoder.AppendPart(s.scratch[:0], part)
		if err := s.add(s.scratch); err != nil {
			s.parts = n
			return err
		}
	}
	s.parts = 0
	return nil
}

// add puts one encoded match in. A match larger than the limit is let in when
// nothing but an unsealed event is held.
func (s *sink) add(match []byte) error {
	for {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if s.buffer.add(match) {
			return nil
		}
		if err := s.waitForClient(); err != nil {
			return err
		}
	}
}

// maxStall is how long a search stalls before it yields of its own accord.
// Its unsent events are megabytes, which a client that takes a tenth of a
// second for each reads slowly; resuming costs milliseconds.
const maxStall = 100 * time.Millisecond

// waitForClient waits until something was written.
func (s *sink) waitForClient() error {
	ticket := s.bookmark.Ticket
	wanted := ticket.Stall()
	defer ticket.Resume()
	var enough <-chan time.Time
	if ticket != nil {
		t := time.NewTimer(maxStall)
		defer t.Stop()
		enough = t.C
	}
	select {
	case <-s.buffer.eventFreed:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	case <-wanted:
		return errYield
	case <-enough:
		return errYield
	}
}

// waitUntilRead waits until most of what the buffer holds was written, and reports false
// when the search is cancelled before. The search does not run meanwhile.
func (s *sink) waitUntilRead() bool {
	s.shrink()
	defer s.buffer.setIdle(false)
	for !s.buffer.isLow() {
		select {
		case <-s.buffer.eventFreed:
		case <-s.ctx.Done():
			return false
		}
	}
	return true
}

// shrink gives up the memory that is not needed while the search does not run.
func (s *sink) shrink() {
	s.scratch = nil
	s.encoder.Shrink()
	s.buffer.setIdle(true)
}
