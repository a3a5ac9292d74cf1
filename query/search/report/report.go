package report

import (
	"sync"
	"time"

	"github.com/trawlsearch/trawl/query"
)

// Report is the running account of one search: what was found so far and
// what was left out. It counts matches before the display limit cuts any. It
// is safe for concurrent use; the zero value is not ready.
type Report struct {
	now   func() time.Time
	start time.Time
	skips Skips

	mu sync.Mutex // guards all below; of the skips is taken while it is held, never the reverse
	// matches is the sum of the matches' counts.
	matches int
	// limit is the effective count limit, 0 before it is known.
	limit      int
	display    int
	hitLimit   bool
	done       bool
	exhaustive bool
	filters    facets
	// forks and archived count the repositories left out by default.
	forks, archived int
	// The marks grow with every change that filters or progress would show.
	filtersMark, progressMark uint64
}

// New returns the account of a search that starts now.
func New(now func() time.Time) *Report {
	start := now()
	return &Report{now: now, start: start, display: -1, filters: newFacets(start)}
}

// Skips returns what the search skipped, to be added to.
func (r *Report) Skips() *Skips { return &r.skips }

// Add counts matches that were confirmed. The caller has truncated them to
// the count limit, and adds them before it cuts them to the display limit.
func (r *Report) Add(matches []query.Match) {
	if len(matches) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range matches {
		r.matches += m.Count()
		r.filters.add(m)
	}
	r.hitLimit = r.hitLimit || r.reachedLimit()
	r.filtersMark++
	r.progressMark++
}

// SetLimit sets the effective count limit. The limit counts as hit as soon as
// the matches reach it, even if there is nothing more to find.
func (r *Report) SetLimit(count int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limit = count
	r.hitLimit = r.hitLimit || r.reachedLimit()
	r.markLimit()
}

func (r *Report) reachedLimit() bool { return r.limit > 0 && r.matches >= r.limit }

// SetDisplay sets the display limit; negative, the default, is none.
func (r *Report) SetDisplay(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.display = n
	r.markLimit()
}

// markLimit marks progress as changed by a new limit. A limit that is set
// before anything was found shows nowhere yet.
func (r *Report) markLimit() {
	if r.matches > 0 {
		r.progressMark++
	}
}

// SetFacetScope says which filters may be suggested. It is called before any match is
// counted.
func (r *Report) SetFacetScope(s FacetScope) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.filters.scope = s
}

// HitLimit records that a limit ended or narrowed the search.
func (r *Report) HitLimit() { r.change(func() { r.hitLimit = true }) }

// Exclude adds to the number of repositories left out because they are forks
// or archived and the query did not ask for them.
func (r *Report) Exclude(forks, archived int) {
	if forks == 0 && archived == 0 {
		return
	}
	r.change(func() {
		r.forks += forks
		r.archived += archived
		r.filters.exclude(forks, archived)
		r.filtersMark++
	})
}

// Finish records the end of the search. The answer is exhaustive if the caller
// says so, and neither a limit nor a Skip that makes it incomplete was recorded.
// Only the first call counts.
func (r *Report) Finish(exhaustive bool) {
	incomplete := r.skips.isIncomplete()
	r.change(func() {
		if r.done {
			return
		}
		r.done = true
		r.exhaustive = exhaustive && !incomplete && !r.hitLimit
		r.filtersMark++
	})
}

// change runs f, which alters what progress shows, under the lock.
func (r *Report) change(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
	r.progressMark++
}

// Marks returns two numbers that have grown if Filters or Progress would say
// something new since they were last read, passing time aside.
func (r *Report) Marks() (filters, progress uint64) {
	skips := r.skips.marked()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.filtersMark, r.progressMark + skips
}

// Progress returns the present state of the search.
func (r *Report) Progress() query.Progress {
	took := r.now().Sub(r.start)
	r.mu.Lock()
	defer r.mu.Unlock()
	p := query.Progress{Done: r.done, Matches: r.matchCount(), Took: took}
	if r.done {
		p.Repositories = r.filters.repositories()
	}
	p.Skipped = r.skipped()
	return p
}

// Filters returns the suggestions with their counts so far, the best first.
func (r *Report) Filters() []query.SuggestedFilter {
	r.mu.Lock()
	entries, exhaustive, negated := r.filters.entries(), r.exhaustive, r.filters.scope.Negated && r.filters.scope.OnlyType == ""
	r.mu.Unlock()
	return orderFilters(entries, exhaustive, negated)
}

// matchCount never exceeds the limit, whatever was added.
func (r *Report) matchCount() int {
	if r.limit > 0 {
		return min(r.matches, r.limit)
	}
	return r.matches
}

// LimitHit reports whether a limit ended or narrowed the search.
func (r *Report) LimitHit() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hitLimit
}
