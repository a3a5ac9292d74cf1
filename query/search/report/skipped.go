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
	notReady, timedOut, others := r.skips.entries()
	out := append([]query.Skipped{}, notReady...)
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

// LeftOut says in a few words what a search of one repository left out that it was to
// search, but for some reasons. It is empty if there is nothing. What a search leaves
// out for good (files without text, diffs that are too large) or because the query says so
// (forks, a count) does not count.
func (r *Report) LeftOut(except ...string) string {
	s := r.Skips()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, reason := range append(notReadyReasons(), ReasonTimeout) {
		if skip := s.findRepositories(reason); skip != nil && !slices.Contains(except, reason) {
			return skip.repositories.state
		}
	}
	for _, skip := range s.all {
		if e := skip.entry; skip.repositories == nil && e.Severity == "warn" && !slices.Contains(except, e.Reason) {
			return e.Title
		}
	}
	return ""
}

// suggestTimeout adds a longer timeout to e, as far as the server allows one.
func suggestTimeout(e query.Skipped, timeout, longest time.Duration) query.Skipped {
	if timeout < longest {
		more := "timeout:" + min(LongerTimeout(2*timeout), longest).String()
		e.Message += " Search longer with `" + more + "`, which takes the place of a `timeout:` before it."
		e.SuggestedTitle, e.SuggestedQuery = "search longer", more
	} else if longest > 0 {
		e.Message += " The server searches for " + longest.String() + " at most."
	}
	return e
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
