package report

import (
	"math"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/store"
)

// Gaps counts the documents and commits that a search skipped. A method whose
// comment says so makes the answer incomplete, whichever run of a search that
// yields recorded it. Zero of anything records nothing. It is safe for concurrent use.
type Gaps struct {
	mu sync.Mutex // guards all below; nothing is called while it is held
	// timeout is the time that the search has, maxTimeout the most that a query
	// may ask for; 0 before they are known.
	timeout, maxTimeout                  time.Duration
	missing, cloning, indexing, timedOut unready
	others                               []query.Skipped
	// incomplete says that the search did not look at everything it chose.
	incomplete bool
	// mark grows with every change.
	mark uint64
}

// change runs f under the lock.
func (g *Gaps) change(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f()
	g.mark++
}

// left reports whether any repository was not finished in time, and whether
// anything else makes the answer incomplete.
func (g *Gaps) left() (timedOut, incomplete bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.timedOut.len() > 0, g.incomplete
}

// marked returns the mark.
func (g *Gaps) marked() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mark
}

// TimedOut records repositories that were not finished in time, by ascending
// repository id. The answer is incomplete.
func (g *Gaps) TimedOut(names []string) {
	g.addNames(&g.timedOut, names)
}

// Missing records repositories with a generation that could not be found, by
// ascending repository id.
func (g *Gaps) Missing(names []string) {
	g.addNames(&g.missing, names)
}

// NotIndexed are the repositories that a search chose and that have no generation.
type NotIndexed struct {
	// Missing have no readable source, Cloning are not fetched yet, and the source of
	// Indexing is on this machine.
	Missing, Cloning, Indexing store.IDs
	// Name returns the name of one, also later.
	Name func(id uint32) string
}

// Len returns how many there are.
func (n *NotIndexed) Len() int { return n.Missing.Len() + n.Cloning.Len() + n.Indexing.Len() }

// NotIndexed records repositories without a generation.
func (g *Gaps) NotIndexed(n *NotIndexed) {
	if n.Len() == 0 {
		return
	}
	g.change(func() {
		for _, of := range []struct {
			to  *unready
			ids *store.IDs
		}{{&g.missing, &n.Missing}, {&g.cloning, &n.Cloning}, {&g.indexing, &n.Indexing}} {
			of.to.ids.Join(of.ids)
			of.to.name = n.Name
		}
	})
}

func (g *Gaps) addNames(to *unready, names []string) {
	if len(names) > 0 {
		g.change(func() { to.others.Add(names) })
	}
}

// Skip records anything else that the query could not look at. A later entry
// with the same reason replaces the earlier; an empty severity is warn.
func (g *Gaps) Skip(s query.Skipped) {
	if s.Severity == "" {
		s.Severity = "warn"
	}
	g.change(func() {
		for i := range g.others {
			if g.others[i].Reason == s.Reason {
				g.others[i] = s
				return
			}
		}
		g.others = append(g.others, s)
	})
}

// Add records an omission.
func (g *Gaps) Add(o Omission) {
	if o.skipped.Reason == "" {
		return
	}
	if o.incomplete {
		g.Incomplete()
	}
	g.Skip(o.skipped)
}

// SetTimeout says how long the search may take, and how long any may.
func (g *Gaps) SetTimeout(timeout, longest time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.timeout, g.maxTimeout = timeout, longest
}

// Incomplete records that the search did not look at everything that it chose.
func (g *Gaps) Incomplete() { g.change(func() { g.incomplete = true }) }

// Unreachable records repositories that git could not read, by ascending
// repository id. The answer is incomplete.
func (g *Gaps) Unreachable(names []string) {
	if len(names) > 0 {
		g.Incomplete()
		g.Missing(names)
	}
}

// Fetching records repositories whose mirror is not on this node yet, by ascending
// repository id. The answer is incomplete.
func (g *Gaps) Fetching(names []string) {
	if len(names) > 0 {
		g.Incomplete()
		g.addNames(&g.cloning, names)
	}
}

// OlderCommits records commits that time was up for before git had read them; n
// is a lower bound if more may have followed. The answer is incomplete.
func (g *Gaps) OlderCommits(n int, more bool) {
	if n == 0 && !more {
		return
	}
	s := query.Skipped{Reason: ReasonHistoryDepth, Severity: "warn"}
	switch {
	case n == 0:
		s.Title = "older commits not searched"
	case more:
		s.Title = formatCount(n) + "+ commits not searched"
	default:
		s.Title = plural(n, "commit", "commits") + " not searched"
	}
	s.Message = "Commits older than the index reaches are read through git, the newest first, until the time is up. " +
		"Narrow the search with `after:`, `author:` or `file:`, give it more time, or have more commits indexed with the setting `history-diffs`."
	g.mu.Lock()
	if g.timeout < g.maxTimeout {
		s.SuggestedTitle, s.SuggestedQuery = "search longer", "timeout:"+g.maxTimeout.String()
	}
	g.mu.Unlock()
	g.Add(Omission{s, true})
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
func (g *Gaps) Repositories() Unfinished {
	g.mu.Lock()
	defer g.mu.Unlock()
	return Unfinished{
		Cloning: g.cloning.names(math.MaxInt), Indexing: g.indexing.names(math.MaxInt),
		Missing: g.missing.names(math.MaxInt), TimedOut: g.timedOut.names(math.MaxInt),
	}
}

// HasUnfinished reports whether there are such repositories up to now.
func (g *Gaps) HasUnfinished() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cloning.len()+g.indexing.len()+g.missing.len()+g.timedOut.len() > 0
}
