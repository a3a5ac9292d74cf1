package search

import (
	"errors"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/report"
)

// sender counts matches against the limits and sends them on. It belongs to
// one goroutine.
type sender struct {
	sink    Sink
	run     *run
	results *report.Report
	counts
	converter
	// converted is what one match was converted to.
	converted []query.Match
	// countedAgain and takenAgain are how many matches that earlier runs counted,
	// and that the sink took from them, are still to be found once more.
	countedAgain, takenAgain int
	// position is the last that was reached.
	position position
	// err is what the sink said; after it nothing more is sent.
	err error
}

func newSender(r *run, limit int) *sender {
	sink, o := r.sink, r.o
	s := &sender{sink: sink, run: r, results: o.Report, counts: counts{left: limit, display: o.Display}, converter: converter{seen: map[string]bool{}}}
	if s.display < 0 || s.display > limit {
		s.display = limit
	}
	if b := o.Bookmark; b != nil {
		s.countedAgain, s.takenAgain = b.counted, b.taken
		s.counted, s.taken = b.counted, b.taken
	}
	return s
}

// begin sets the limit and the selection of the basic queries that follow.
func (s *sender) begin(b *basic) {
	s.leftHere = min(b.limit, s.left)
	s.path, s.rules = b.sel, b.rules
}

// goTo goes to a place that an earlier run reached, which had counted and sent
// more than that.
func (s *sender) goTo(p position) {
	counted, taken := s.counted, s.taken
	s.countedAgain, s.takenAgain = counted-p.counts.counted, taken-p.counts.taken
	s.counts, s.position = p.counts, p
	s.counted, s.taken = counted, taken
}

// reach notes that so many groups of documents were sent as a whole. What
// converters remember of them is in no place, so there is none with such.
func (s *sender) reach(groups, cut int) {
	if !s.mayTakeFewer() {
		s.position = position{groups: groups, cut: cut, counts: s.counts}
		s.position.counts.counted -= s.countedAgain
		s.position.counts.taken -= s.takenAgain
	}
}

// full reports whether the search may stop: its limit is used up.
func (s *sender) full() bool { return s.left == 0 }

// fullHere reports whether the basic queries at hand may stop.
func (s *sender) fullHere() bool { return s.leftHere == 0 }

// mayTakeFewer reports whether of what is sent not all may count: some may have
// been sent before.
func (s *sender) mayTakeFewer() bool { return s.earlier != nil || len(s.path) > 0 }

// batchSize is how many matches go to the sink at once.
const batchSize = 64

// send converts, limits, counts and sends matches in order.
func (s *sender) send(matches []query.Match) error {
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
			s.sent++
			if c, ok := m.(*query.CommitMatch); ok && c.Cut {
				s.shortened++
			}
			if !again(&s.countedAgain) {
				counted = append(counted, m)
			}
			if s.display > 0 {
				m = query.Truncate(m, s.display)
				s.display -= m.Count()
				if !again(&s.takenAgain) {
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
				s.taken += yield.Taken
			}
			s.err = err
			return err
		}
		s.taken += n
		shown = shown[n:]
	}
	return nil
}

// show gives matches to the sink. While it waits for a client the search is not
// at work, and others have its slot.
func (s *sender) show(matches []query.Match) error {
	return s.run.admitted.WaitForClient(s.run.slot, func() error { return s.sink.Send(matches) })
}

// again counts down what is found once more, and reports whether that was it.
func again(left *int) bool {
	if *left == 0 {
		return false
	}
	*left--
	return true
}
