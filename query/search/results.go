package search

import (
	"sync"
	"time"

	"github.com/trawlsearch/trawl/query"
)

// Results is the running account of one search: what was found so far and
// what was left out. It counts matches before the display limit cuts any. It
// is safe for concurrent use; the zero value is not ready.
type Results struct {
	now   func() time.Time
	start time.Time

	mu sync.Mutex // guards all below; nothing is called while it is held
	// matches is the sum of the matches' counts.
	matches int
	// limit is the effective count limit, 0 before it is known.
	limit int
	// timeout is the time that the search has, maxTimeout the most that a query
	// may ask for; 0 before they are known.
	timeout, maxTimeout time.Duration
	display             int
	hitLimit            bool
	done                bool
	exhaustive          bool
	// incomplete says that the search did not look at everything it chose.
	incomplete bool
	filters    filterSet
	left       leftOut
	// The marks grow with every change that filters or progress would show.
	filtersMark, progressMark uint64
}

// NewResults returns the account of a search that starts now.
func NewResults(now func() time.Time) *Results {
	start := now()
	return &Results{now: now, start: start, display: -1, filters: newFilterSet(start)}
}

// Add counts matches that were confirmed. The caller has truncated them to
// the count limit, and adds them before it cuts them to the display limit.
func (r *Results) Add(matches []query.Match) {
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

// SetLimit tells the effective count limit. The limit counts as hit as soon
// as the matches reach it, even if there is nothing more to find.
func (r *Results) SetLimit(count int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limit = count
	r.hitLimit = r.hitLimit || r.reachedLimit()
	r.markLimit()
}

func (r *Results) reachedLimit() bool { return r.limit > 0 && r.matches >= r.limit }

// SetDisplay tells the display limit; negative, the default, is none.
func (r *Results) SetDisplay(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.display = n
	r.markLimit()
}

// markLimit marks progress as changed by a new limit. A limit that is set
// before anything was found shows nowhere yet.
func (r *Results) markLimit() {
	if r.matches > 0 {
		r.progressMark++
	}
}

// SetTimeout says how long the search may take, and how long any may.
func (r *Results) SetTimeout(timeout, longest time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timeout, r.maxTimeout = timeout, longest
}

// setScope says which filters may be suggested. It is called before any match is
// counted.
func (r *Results) setScope(s facetScope) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.filters.scope = s
}

// HitLimit records that a limit ended or narrowed the search.
func (r *Results) HitLimit() { r.change(func() { r.hitLimit = true }) }

// Exclude adds to the number of repositories left out because they are forks
// or archived and the query did not ask for them.
func (r *Results) Exclude(forks, archived int) {
	if forks == 0 && archived == 0 {
		return
	}
	r.change(func() {
		r.left.forks += forks
		r.left.archived += archived
		r.filters.exclude(forks, archived)
		r.filtersMark++
	})
}

// TimedOut records repositories that were not finished in time, by ascending
// repository id.
func (r *Results) TimedOut(names []string) {
	r.addNames(&r.left.timedOut, names)
}

// Missing records repositories that could not be found, by ascending
// repository id.
func (r *Results) Missing(names []string) {
	r.addNames(&r.left.missing, names)
}

// Cloning records repositories that are not yet fetched, by ascending
// repository id.
func (r *Results) Cloning(names []string) {
	r.addNames(&r.left.cloning, names)
}

// Indexing records repositories that are not indexed yet and whose source is on
// this machine, by ascending repository id.
func (r *Results) Indexing(names []string) {
	r.addNames(&r.left.indexing, names)
}

func (r *Results) addNames(to *nameSet, names []string) {
	if len(names) > 0 {
		r.change(func() { to.add(names) })
	}
}

// Unsearched records anything else that the query could not look at. A later
// entry with the same reason replaces the earlier; an empty severity is warn.
func (r *Results) Unsearched(s query.Skipped) {
	r.change(func() { r.left.set(s) })
}

// Finish records the end of the search. The answer is exhaustive if the caller
// says so and no limit or timeout was recorded. Only the first call counts.
func (r *Results) Finish(exhaustive bool) {
	r.change(func() {
		if r.done {
			return
		}
		r.done = true
		r.exhaustive = exhaustive && !r.incomplete && !r.hitLimit && r.left.timedOut.len() == 0
		r.filtersMark++
	})
}

// change runs f, which alters what progress shows, under the lock.
func (r *Results) change(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
	r.progressMark++
}

// Marks returns two numbers that have grown if Filters or Progress would say
// something new since they were last read, passing time aside.
func (r *Results) Marks() (filters, progress uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.filtersMark, r.progressMark
}

// Progress returns the state of the search at this moment.
func (r *Results) Progress() query.Progress {
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
func (r *Results) Filters() []query.SuggestedFilter {
	r.mu.Lock()
	entries, exhaustive, negated := r.filters.entries(), r.exhaustive, r.filters.scope.negated && r.filters.scope.only == ""
	r.mu.Unlock()
	return orderFilters(entries, exhaustive, negated)
}

// matchCount never exceeds the limit, whatever was added.
func (r *Results) matchCount() int {
	if r.limit > 0 {
		return min(r.matches, r.limit)
	}
	return r.matches
}
