package search

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
)

// maxNamed is how many repositories a message names before it stops.
const maxNamed = 10

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
		return skippedNames("repository-missing", "missing", "info", "not readable at its source", l.missing.names)
	})
	add(l.cloning.len() > 0, func() query.Skipped {
		return skippedNames("repository-cloning", "cloning", "info", "still being fetched", l.cloning.names)
	})
	add(l.indexing.len() > 0, func() query.Skipped {
		return skippedNames("repository-indexing", "being indexed", "info", "still being indexed for the first time", l.indexing.names)
	})
	add(r.hitLimit, func() query.Skipped { return skippedLimit(r.limit) })
	add(l.timedOut.len() > 0, func() query.Skipped {
		return skippedTime(l.timedOut.names, r.timeout, r.maxTimeout)
	})
	add(l.forks > 0, func() query.Skipped {
		return skippedExcluded("repository-fork", "forked", "fork:yes", l.forks)
	})
	add(l.archived > 0, func() query.Skipped {
		return skippedExcluded("excluded-archive", "archived", "archived:yes", l.archived)
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
		fmt.Fprintf(&msg, "%s repositories were %s.", formatCount(len(names)), state)
	}
	msg.WriteString(" Search again, or narrow the query with `repo:` or another filter.")
	if len(names) > 1 {
		for _, n := range names[:min(len(names), maxNamed)] {
			fmt.Fprintf(&msg, "\n* `%s`", n)
		}
	}
	if len(names) > maxNamed {
		msg.WriteString("\n* ...")
	}
	return query.Skipped{
		Reason:   reason,
		Title:    formatCount(len(names)) + " " + word,
		Message:  msg.String(),
		Severity: severity,
	}
}

// skippedTime suggests a longer timeout, as far as the server allows one.
func skippedTime(names []string, timeout, longest time.Duration) query.Skipped {
	s := skippedNames("shard-timeout", "timed out", "warn", "not searched in time", names)
	if timeout < longest {
		more := "timeout:" + min(longerTimeout(2*timeout), longest).String()
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
		Reason:         "shard-match-limit",
		Title:          "result limit hit",
		Message:        "The limit on results was reached, so there may be more. Raise it with `" + more + "`, which takes the place of a `count:` before it, or lift it with `count:all`.",
		Severity:       "info",
		SuggestedTitle: "increase limit",
		SuggestedQuery: more,
	}
}

// skippedMatches reports texts with more matches than are kept. Files can be
// listed in place of their matches unless the query selects something itself.
func skippedMatches(texts int, selects bool) query.Skipped {
	what := formatCount(texts) + " texts"
	if texts == 1 {
		what = "1 text"
	}
	s := query.Skipped{
		Reason: "document-match-limit",
		Title:  what + " cut short",
		Message: fmt.Sprintf("Only the first %s matches in %s were kept, whatever `count:` says, so there are more than were counted. "+
			"A longer pattern matches less often; the rest is in the text itself, at its raw address.", formatCount(match.MaxSpans), what),
		Severity: "info",
	}
	if !selects {
		s.Message += " `select:file` lists the files alone."
		s.SuggestedTitle, s.SuggestedQuery = "list files", "select:file"
	}
	return s
}

// skippedPreviews reports commits of which more matches than is shown.
func skippedPreviews(n int) query.Skipped {
	of := plural(n, "preview", "previews")
	return query.Skipped{
		Reason:   "preview-shortened",
		Title:    of + " shortened",
		Message:  "All matches are counted, but " + of + " of a diff left some out: at most 5 files are shown, 3 hunks of each and 7 lines of a hunk. The page of a commit has all of it.",
		Severity: "info",
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
		Reason:   "display",
		Title:    "display limit hit",
		Message:  "All results were counted, but this answer holds only " + shown + ", as its `display` parameter asks.",
		Severity: "info",
	}
}

// formatCount writes n shortly: 999, 1,234, 12k.
func formatCount(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 10000:
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	return strconv.Itoa(n/1000) + "k"
}
