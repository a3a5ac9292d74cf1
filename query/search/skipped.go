package search

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/query"
)

// MaxNamed is how many repositories a message names before it stops.
const MaxNamed = 10

// usualCountLimit stands in while no search has told the effective one.
const usualCountLimit = 10000

// leftOut is what a search did not look at.
type leftOut struct {
	missing, cloning, indexing, timedOut nameSet
	forks, archived                      int
	others                               []query.Skipped
}

// nameSet keeps repository names once each, in the order they came.
type nameSet struct {
	names []string
	known map[string]struct{}
}

func (s *nameSet) add(names []string) {
	if s.known == nil {
		s.known = map[string]struct{}{}
	}
	for _, n := range names {
		if _, ok := s.known[n]; !ok {
			s.known[n] = struct{}{}
			s.names = append(s.names, n)
		}
	}
}

func (s *nameSet) len() int { return len(s.names) }

func (l *leftOut) set(s query.Skipped) {
	if s.Severity == "" {
		s.Severity = "warn"
	}
	for i := range l.others {
		if l.others[i].Reason == s.Reason {
			l.others[i] = s
			return
		}
	}
	l.others = append(l.others, s)
}

// skipped lists what was left out, always in this order; never nil.
func (r *Results) skipped() []query.Skipped {
	out := []query.Skipped{}
	add := func(when bool, s func() query.Skipped) {
		if when {
			out = append(out, s())
		}
	}
	l := &r.left
	add(l.missing.len() > 0, func() query.Skipped {
		return skippedNames(ReasonMissing, "missing", "info", "not readable at its source", l.missing.names)
	})
	add(l.cloning.len() > 0, func() query.Skipped {
		return skippedNames(ReasonCloning, "cloning", "info", "still being fetched", l.cloning.names)
	})
	add(l.indexing.len() > 0, func() query.Skipped {
		return skippedNames(ReasonIndexing, "being indexed", "info", "still being indexed for the first time", l.indexing.names)
	})
	add(r.hitLimit, func() query.Skipped { return skippedLimit(r.limit) })
	add(l.timedOut.len() > 0, func() query.Skipped {
		return skippedTime(l.timedOut.names, r.timeout, r.maxTimeout)
	})
	add(l.forks > 0, func() query.Skipped {
		return skippedExcluded(ReasonFork, "forked", "fork:yes", l.forks)
	})
	add(l.archived > 0, func() query.Skipped {
		return skippedExcluded(ReasonArchived, "archived", "archived:yes", l.archived)
	})
	add(r.display >= 0 && r.display < r.matchCount(), func() query.Skipped {
		return skippedDisplay(r.display)
	})
	return append(out, l.others...)
}

// skippedNames tells which repositories state is true of.
func skippedNames(reason, word, severity, state string, names []string) query.Skipped {
	var msg strings.Builder
	if len(names) == 1 {
		fmt.Fprintf(&msg, "`%s` was %s.", names[0], state)
	} else {
		fmt.Fprintf(&msg, "%s repositories were %s.", FormatCount(len(names)), state)
	}
	msg.WriteString(" Search again, or narrow the query with `repo:` or another filter.")
	if len(names) > 1 {
		msg.WriteString(listNames(names))
	}
	return query.Skipped{
		Reason:   reason,
		Title:    FormatCount(len(names)) + " " + word,
		Message:  msg.String(),
		Severity: severity,
	}
}

// skippedTime suggests a longer timeout, as far as the server allows one.
func skippedTime(names []string, timeout, longest time.Duration) query.Skipped {
	s := skippedNames(ReasonTimeout, "timed out", "warn", "not searched in time", names)
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
		Title:          FormatCount(n) + " " + word,
		Message:        fmt.Sprintf("Repositories that are %s are left out unless the query asks for them with `%s`.", word, lift),
		Severity:       "info",
		SuggestedTitle: "include " + word,
		SuggestedQuery: lift,
	}
}

func skippedDisplay(display int) query.Skipped {
	shown := FormatCount(display) + " results"
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

// listNames writes names as a list, and that there are more.
func listNames(names []string) string {
	var list strings.Builder
	for _, n := range names[:min(len(names), MaxNamed)] {
		fmt.Fprintf(&list, "\n* `%s`", n)
	}
	if len(names) > MaxNamed {
		list.WriteString("\n* ...")
	}
	return list.String()
}
