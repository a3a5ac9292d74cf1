package answer

import (
	"errors"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
)

// Sender counts matches against the limits and sends them on. It belongs to
// one goroutine.
type Sender struct {
	sink    Sink
	task    *task.Task
	results *report.Report
	counts
	converter
	// converted are the results of one match.
	converted []query.Match
	// countedAgain and deliveredAgain are how many more matches are found a second time:
	// earlier runs counted them, and the sink took them from those.
	countedAgain, deliveredAgain int
	// position is the last that was marked as sent.
	position Position
	// err is the error of the sink, after which nothing more is sent.
	err error
}

// NewSender returns a sender to sink that goes on from p. limit is how many
// matches the whole search may count, display how many it may send; negative is
// no limit.
func NewSender(t *task.Task, sink Sink, limit, display int, p Progress) *Sender {
	s := &Sender{
		sink: sink, task: t, results: t.Report, counts: counts{left: limit, display: display}, converter: converter{seen: map[string]bool{}},
		countedAgain: p.counted, deliveredAgain: p.delivered,
	}
	if s.display < 0 || s.display > limit {
		s.display = limit
	}
	s.counted, s.delivered = p.counted, p.delivered
	return s
}

// Progress returns how far the answer has come.
func (s *Sender) Progress() Progress { return Progress{s.counted, s.delivered, s.position} }

// RememberSent has the sender remember its results, so that no later basic query
// sends one again.
func (s *Sender) RememberSent() { s.earlier = newSent() }

// Remaining returns how many more matches the basic queries at hand may count.
func (s *Sender) Remaining() int { return s.leftHere }

// Matches returns how many matches were found, whether the sink got them or not.
func (s *Sender) Matches() int { return s.found }

// Err returns the error of the sink, after which nothing more is sent.
func (s *Sender) Err() error { return s.err }

// HasYielded reports whether the sink has ended the search to go on later.
func (s *Sender) HasYielded() bool {
	var yield *YieldError
	return errors.As(s.err, &yield)
}

// Shortened returns how many matches leave out something that matches.
func (s *Sender) Shortened() int { return s.shortened }

// FoundUnowned reports whether the owners of a document without any were asked
// for.
func (s *Sender) FoundUnowned() bool { return s.unowned }

// Begin sets the limit and the selection of the basic queries that follow.
func (s *Sender) Begin(b *target.Query) {
	s.leftHere = min(b.Limit, s.left)
	s.path, s.rules = b.Select, b.OwnerRules
}

// Resume goes on from a position of an earlier run; that run may have
// counted and sent more.
func (s *Sender) Resume(p Position) {
	counted, delivered := s.counted, s.delivered
	s.countedAgain, s.deliveredAgain = counted-p.counts.counted, delivered-p.counts.delivered
	s.counts, s.position = p.counts, p
	s.counted, s.delivered = counted, delivered
}

// MarkSent moves the position behind so many groups of documents, which were sent as a
// whole. A position does not hold what a converter remembers, so with one there is none.
func (s *Sender) MarkSent(groups, cut int) {
	if !s.MayTakeFewer() {
		s.position = Position{Groups: groups, TextsCut: cut, counts: s.counts}
		s.position.counts.counted -= s.countedAgain
		s.position.counts.delivered -= s.deliveredAgain
	}
}

// IsFull reports whether the search may stop: its limit is used up.
func (s *Sender) IsFull() bool { return s.left == 0 }

// IsFullHere reports whether the basic queries at hand may stop.
func (s *Sender) IsFullHere() bool { return s.leftHere == 0 }

// MayTakeFewer reports whether some of the matches may not count, since they were
// sent before.
func (s *Sender) MayTakeFewer() bool { return s.earlier != nil || len(s.path) > 0 }

// batchSize is how many matches go to the sink at once.
const batchSize = 64

// Send converts, limits, counts and sends matches in order.
func (s *Sender) Send(matches []query.Match) error {
	if s.err != nil {
		return s.err
	}
	var counted, shown []query.Match
	for _, m := range matches {
		s.converted = s.convert(s.converted[:0], m)
		for _, m := range s.converted {
			if s.leftHere == 0 {
				break
			}
			m = query.Truncate(m, s.leftHere)
			s.earlier.add(m)
			n := m.Count()
			s.left -= n
			s.leftHere -= n
			s.found++
			if c, ok := m.(*query.CommitMatch); ok && c.Cut {
				s.shortened++
			}
			if !again(&s.countedAgain) {
				counted = append(counted, m)
			}
			if s.display > 0 {
				m = query.Truncate(m, s.display)
				s.display -= m.Count()
				if !again(&s.deliveredAgain) {
					shown = append(shown, m)
				}
			}
		}
		if s.leftHere == 0 {
			break
		}
	}
	s.results.Add(counted)
	s.counted += len(counted)
	if s.leftHere == 0 {
		s.results.HitLimit()
	}
	for len(shown) > 0 {
		n := min(batchSize, len(shown))
		if err := s.show(shown[:n:n]); err != nil {
			var yield *YieldError
			if errors.As(err, &yield) {
				s.delivered += yield.Delivered
			}
			s.err = err
			return err
		}
		s.delivered += n
		shown = shown[n:]
	}
	return nil
}

// show gives matches to the sink. While it waits for a client the search is not
// at work, and others have its slot.
func (s *Sender) show(matches []query.Match) error {
	return s.task.Processors.WaitForClient(s.task.Slot, func() error { return s.sink.Send(matches) })
}

// again counts down the matches that are found a second time, and reports whether
// one is.
func again(left *int) bool {
	if *left == 0 {
		return false
	}
	*left--
	return true
}
