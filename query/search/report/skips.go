package report

import (
	"math"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/query"
)

// Skips collects what a search skipped. A search that yields adds the same again in
// each run. It is safe for concurrent use.
type Skips struct {
	mu sync.Mutex // guards all below; nothing is called while it is held but what names repositories
	// timeout is the time that the search has, maxTimeout the most that a query
	// may ask for; 0 before they are known.
	timeout, maxTimeout time.Duration
	// all has one Skip for each reason, in the order in which reasons came.
	all []Skip
	// incomplete says that the search did not look at everything it chose.
	incomplete bool
	// mark grows with every change.
	mark uint64
}

// Add adds a Skip. Repositories are added to those of an earlier Skip with the same
// reason; any other Skip replaces it. Nothing is added for the zero value.
func (s *Skips) Add(skip Skip) {
	if skip.entry.Reason == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mark++
	s.incomplete = s.incomplete || skip.incomplete
	if skip.timeHelps && s.timeout < s.maxTimeout {
		skip.entry.SuggestedTitle, skip.entry.SuggestedQuery = "search longer", "timeout:"+s.maxTimeout.String()
	}
	switch old := s.find(skip.entry.Reason); {
	case old == nil:
		s.all = append(s.all, skip)
	case old.repositories != nil && skip.repositories != nil:
		old.repositories.join(skip.repositories)
	default:
		*old = skip
	}
}

// find returns the Skip with a reason, nil if there is none. The lock is held.
func (s *Skips) find(reason string) *Skip {
	for i := range s.all {
		if s.all[i].entry.Reason == reason {
			return &s.all[i]
		}
	}
	return nil
}

// findRepositories returns the Skip of repositories with a reason, nil if there is
// none. The lock is held.
func (s *Skips) findRepositories(reason string) *Skip {
	if skip := s.find(reason); skip != nil && skip.repositories != nil {
		return skip
	}
	return nil
}

// SetTimeout says how long the search may take, and how long any may.
func (s *Skips) SetTimeout(timeout, longest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timeout, s.maxTimeout = timeout, longest
}

// MarkIncomplete records that the search did not look at everything that it chose,
// where no Skip says what is missing.
func (s *Skips) MarkIncomplete() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.incomplete = true
	s.mark++
}

// isIncomplete reports whether the search did not look at everything that it chose.
func (s *Skips) isIncomplete() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.incomplete
}

// marked returns the mark.
func (s *Skips) marked() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mark
}

// entries returns the entries of repositories that are not ready, of those that
// were not finished in time, and all others.
func (s *Skips) entries() (notReady, timedOut, others []query.Skipped) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, reason := range notReadyReasons() {
		if skip := s.findRepositories(reason); skip != nil {
			notReady = append(notReady, skip.repositories.entry(skip.entry))
		}
	}
	if skip := s.findRepositories(ReasonTimeout); skip != nil {
		timedOut = append(timedOut, suggestTimeout(skip.repositories.entry(skip.entry), s.timeout, s.maxTimeout))
	}
	for _, skip := range s.all {
		if skip.repositories == nil {
			others = append(others, skip.entry)
		}
	}
	return notReady, timedOut, others
}

// Unfinished are the names of repositories that were not searched, or not all of
// them.
type Unfinished struct {
	// Cloning are being fetched, Indexing are indexed for the first time, and
	// Missing have no readable source.
	Cloning, Indexing, Missing []string
	TimedOut                   []string
}

// Repositories returns the repositories that were not finished up to now.
func (s *Skips) Repositories() Unfinished {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := func(reason string) []string {
		if skip := s.findRepositories(reason); skip != nil {
			return skip.repositories.names(math.MaxInt)
		}
		return nil
	}
	return Unfinished{Cloning: names(ReasonCloning), Indexing: names(ReasonIndexing), Missing: names(ReasonMissing), TimedOut: names(ReasonTimeout)}
}

// HasUnfinished reports whether there are such repositories up to now.
func (s *Skips) HasUnfinished() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, skip := range s.all {
		if skip.repositories != nil {
			return true
		}
	}
	return false
}
