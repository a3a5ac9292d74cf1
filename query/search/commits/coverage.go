package commits

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/query/search/coverage"
	"github.com/trawlsearch/trawl/query/search/report"
)

// cover reports for each repository what the search of commits that is over looked
// at, for those where nothing was to be looked at some of them only. The revisions of
// one are searched together, so they share a line. A client that may not see all is not
// shown where something was.
func (s *search) cover(err error) {
	var out []report.Coverage
	idle := 0
	hides := s.task.HidesDetails()
	for n := range s.repositories {
		if len(out) == coverage.MaxRows || hides && idle == coverage.MaxIdle {
			break
		}
		row := s.coverTarget(s.targetOf(n), err)
		if hides || row.Candidates == 0 && len(row.Unsearched) == 0 {
			if idle++; idle > coverage.MaxIdle {
				continue
			}
		}
		out = append(out, row)
	}
	s.coverage.AddCommits(out, len(s.repositories)-len(out)+s.idle)
}

func (s *search) coverTarget(t *targetCommits, err error) report.Coverage {
	var typed []string
	for _, rev := range t.Revisions {
		if rev.Typed != "" {
			typed = append(typed, rev.Typed)
		}
	}
	indexed, unindexed := len(t.indexed), len(t.unindexed)
	out := report.Coverage{
		Repository: t.Stored.Name, Revision: strings.Join(typed, ":"), Commit: t.Revisions[0].Commit, Commits: true,
		Documents: max(t.Stored.History.Commits, indexed+unindexed), Candidates: indexed + unindexed, Verified: t.seenIndexed + t.seenUnindexed,
	}
	if t.listed > 0 {
		out.Documents = t.listed
	}
	left := map[string]int{}
	if n := indexed - t.seenIndexed; n > 0 {
		left[whyLeft(s.out.IsFullHere(), err, report.ReasonTimeout)] += n
	}
	if n := unindexed - t.seenUnindexed; n > 0 {
		left[whyLeft(s.out.IsFullHere(), err, report.ReasonHistoryDepth)] += n
	}
	if t.isUnlisted {
		left[whyLeft(s.out.IsFullHere(), err, report.ReasonHistoryDepth)] += 0
	}
	if h := &t.Stored.History; h.Tip == "" || h.Reading != "" {
		left[report.ReasonHistoryMissing] = 0
	}
	if s.left.unreadable.Has(t.Stored.Name) {
		left[report.ReasonHistoryUnreadable] = 0
	}
	if s.task.HidesDetails() { // the lists are of all repositories
		out.Candidates, out.Verified = -1, -1
		for reason := range left {
			left[reason] = 0
		}
	}
	for reason, n := range left {
		out.Unsearched = append(out.Unsearched, report.Unsearched{Reason: reason, Documents: n})
	}
	slices.SortFunc(out.Unsearched, func(a, b report.Unsearched) int { return strings.Compare(a.Reason, b.Reason) })
	return out
}

// whyLeft returns why commits were not looked at; afterTimeout is the reason when time
// was up.
func whyLeft(full bool, err error, afterTimeout string) string {
	switch {
	case full:
		return report.ReasonMatchLimit
	case errors.Is(err, context.DeadlineExceeded):
		return afterTimeout
	case err != nil:
		return report.ReasonStopped
	}
	return report.ReasonIndexUnreadable
}
