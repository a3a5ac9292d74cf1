package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/query"
)

// MaxNamed is how many repositories a message names before it stops.
const MaxNamed = 10

// usualCountLimit stands in until a search sets the effective one.
const usualCountLimit = 10000

// skipped lists what was left out, always in this order; never nil. The lock of
// the report is held.
func (r *Report) skipped() []query.Skipped {
	repositories, timedOut, others := r.gaps.skipped()
	out := append([]query.Skipped{}, repositories...)
	if r.hitLimit {
		out = append(out, skippedLimit(r.limit))
	}
	out = append(out, timedOut...)
	if r.forks > 0 {
		out = append(out, skippedExcluded(ReasonFork, "forked", "fork:yes", r.forks))
	}
	if r.archived > 0 {
		out = append(out, skippedExcluded(ReasonArchived, "archived", "archived:yes", r.archived))
	}
	if r.display >= 0 && r.display < r.matchCount() {
		out = append(out, skippedDisplay(r.display))
	}
	return append(out, others...)
}

// skipped returns the entries of repositories that are not ready, of those that
// were not finished in time, and all others.
func (g *Gaps) skipped() (repositories, timedOut, others []query.Skipped) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.states() {
		if s.of.len() > 0 {
			repositories = append(repositories, skippedNames(s.reason, s.word, "info", s.state, s.of))
		}
	}
	if g.timedOut.len() > 0 {
		timedOut = []query.Skipped{skippedTime(&g.timedOut, g.timeout, g.maxTimeout)}
	}
	return repositories, timedOut, slices.Clone(g.others)
}

// stateOf are repositories that are not ready, in one state.
type stateOf struct {
	of                  *unready
	reason, word, state string
}

func (g *Gaps) states() []stateOf {
	return []stateOf{
		{&g.missing, ReasonMissing, "missing", "not readable at its source"},
		{&g.cloning, ReasonCloning, "cloning", "still being fetched"},
		{&g.indexing, ReasonIndexing, "being indexed", "still being indexed for the first time"},
	}
}

// notInTime is the state of repositories that were not finished before the time was over.
const notInTime = "not searched in time"

// LeftOut says in a few words what a search of one repository left out that it was to
// search, but for some reasons. It is empty if there is nothing. What a search leaves
// out for good (files without text, diffs that are too large) or because the query says so
// (forks, a count) does not count.
func (r *Report) LeftOut(except ...string) string {
	g := r.Gaps()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range append(g.states(), stateOf{&g.timedOut, ReasonTimeout, "", notInTime}) {
		if s.of.len() > 0 && !slices.Contains(except, s.reason) {
			return s.state
		}
	}
	for _, s := range g.others {
		if s.Severity == "warn" && !slices.Contains(except, s.Reason) {
			return s.Title
		}
	}
	return ""
}

// skippedNames names repositories and their state.
func skippedNames(reason, word, severity, state string, of *unready) query.Skipped {
	var msg strings.Builder
	n, names := of.len(), of.names(MaxNamed)
	if n == 1 {
		fmt.Fprintf(&msg, "`%s` was %s.", names[0], state)
	} else {
		fmt.Fprintf(&msg, "%s repositories were %s.", formatCount(n), state)
	}
	msg.WriteString(" Search again, or narrow the query with `repo:` or another filter.")
	if n > 1 {
		msg.WriteString(listNames(names, n))
	}
	return query.Skipped{
		Reason:   reason,
		Title:    formatCount(n) + " " + word,
		Message:  msg.String(),
		Severity: severity,
	}
}

// skippedTime suggests a longer timeout, as far as the server allows one.
func skippedTime(of *unready, timeout, longest time.Duration) query.Skipped {
	s := skippedNames(ReasonTimeout, "timed out", "warn", notInTime, of)
	if timeout < longest {
		more := "timeout:" + min(LongerTimeout(2*timeout), longest).String()
		s.Message += " Search longer with `" + more + "`, which takes the place of a `timeout:` before it."
		s.SuggestedTitle, s.SuggestedQuery = "search longer", more
	} else if longest > 0 {
		s.Message += " The server searches for " + longest.String() + " at most."
	}
	return s
}

func skippedLimit(limit int) query.Skipped {
	if limit <= 0 {
		limit = usualCountLimit
	}
	more := "count:" + strconv.Itoa((limit+1500)/1000*1000)
	return query.Skipped{
		Reason:         ReasonMatchLimit,
		Title:          "result limit hit",
		Message:        "The limit on results was reached, so there may be more. Raise it with `" + more + "`, which takes the place of a `count:` before it, or lift it with `count:all`.",
		Severity:       "info",
		SuggestedTitle: "increase limit",
		SuggestedQuery: more,
	}
}

func skippedExcluded(reason, word, lift string, n int) query.Skipped {
	return query.Skipped{
		Reason:         reason,
		Title:          formatCount(n) + " " + word,
		Message:        fmt.Sprintf("Repositories that are %s are left out unless the query asks for them with `%s`.", word, lift),
		Severity:       "info",
		SuggestedTitle: "include " + word,
		SuggestedQuery: lift,
	}
}

func skippedDisplay(display int) query.Skipped {
	shown := formatCount(display) + " results"
	if display == 1 {
		shown = "1 result"
	}
	return query.Skipped{
		Reason:   ReasonDisplay,
		Title:    "display limit hit",
		Message:  "All results were counted, but this answer holds only " + shown + ", as its `display` parameter asks.",
		Severity: "info",
	}
}

// LongerTimeout rounds up to whole hours, minutes or seconds, the largest unit
// that fits, and to at least two seconds.
func LongerTimeout(d time.Duration) time.Duration {
	d = max(d, 2*time.Second)
	unit := time.Second
	switch {
	case d >= time.Hour:
		unit = time.Hour
	case d >= time.Minute:
		unit = time.Minute
	}
	return (d + unit - 1) / unit * unit
}

// listNames writes names as a list, and that there are more; n is how many there are.
func listNames(names []string, n int) string {
	var list strings.Builder
	for _, n := range names[:min(len(names), MaxNamed)] {
		fmt.Fprintf(&list, "\n* `%s`", n)
	}
	if n > MaxNamed {
		list.WriteString("\n* ...")
	}
	return list.String()
}
