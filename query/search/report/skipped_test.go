package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
)

func names(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("r%d", i))
	}
	return out
}

// cloning records the first n repositories as not fetched yet, and indexing as not
// indexed yet.
func cloning(r *report.Report, n int)  { notIndexed(r, report.ReasonCloning, n) }
func indexing(r *report.Report, n int) { notIndexed(r, report.ReasonIndexing, n) }

func notIndexed(r *report.Report, reason string, n int) {
	ids := &store.IDs{}
	for id := range n {
		ids.Add(uint32(id))
	}
	r.Skips().Add(report.NotIndexed(reason, ids, func(id uint32) string { return fmt.Sprintf("r%d", id) }))
}

func TestSkippedEntries(t *testing.T) {
	tests := []struct {
		name string
		do   func(*report.Report)
		want string
	}{
		// titles and severities
		{"missing", func(r *report.Report) { r.Skips().Add(report.Missing(names(1))) }, `repository-missing info "1 missing" "" ""`},
		{"cloning", func(r *report.Report) { cloning(r, 2) }, `repository-cloning info "2 cloning" "" ""`},
		{"indexing", func(r *report.Report) { indexing(r, 2) }, `repository-indexing info "2 being indexed" "" ""`},
		{"timed out", func(r *report.Report) { r.Skips().Add(report.TimedOut(names(3))) }, `shard-timeout warn "3 timed out" "" ""`},
		{"forks", func(r *report.Report) { r.Exclude(1, 0) }, `repository-fork info "1 forked" "include forked" "fork:yes"`},
		{"archived", func(r *report.Report) { r.Exclude(0, 2) }, `excluded-archive info "2 archived" "include archived" "archived:yes"`},
		{"unsearched", func(r *report.Report) {
			r.Skips().Add(report.NewSkip(query.Skipped{Reason: "document-unread", Title: "1 unreadable"}))
		}, `document-unread warn "1 unreadable" "" ""`},

		// names are counted once, over several calls
		{"names twice", func(r *report.Report) {
			r.Skips().Add(report.TimedOut(names(3)))
			r.Skips().Add(report.TimedOut(names(4)))
		}, `shard-timeout warn "4 timed out" "" ""`},
		{"excluded in parts", func(r *report.Report) { r.Exclude(1, 0); r.Exclude(2, 0) }, `repository-fork info "3 forked" "include forked" "fork:yes"`},
		{"unsearched twice", func(r *report.Report) {
			r.Skips().Add(report.NewSkip(query.Skipped{Reason: "x", Title: "1", Severity: "info"}))
			r.Skips().Add(report.NewSkip(query.Skipped{Reason: "x", Title: "2", Severity: "info"}))
		}, `x info "2" "" ""`},

		// the number's format
		{"999", func(r *report.Report) { r.Exclude(999, 0) }, `repository-fork info "999 forked" "include forked" "fork:yes"`},
		{"1000", func(r *report.Report) { r.Exclude(1000, 0) }, `repository-fork info "1,000 forked" "include forked" "fork:yes"`},
		{"1034", func(r *report.Report) { r.Exclude(1034, 0) }, `repository-fork info "1,034 forked" "include forked" "fork:yes"`},
		{"9999", func(r *report.Report) { r.Exclude(9999, 0) }, `repository-fork info "9,999 forked" "include forked" "fork:yes"`},
		{"10000", func(r *report.Report) { r.Exclude(10000, 0) }, `repository-fork info "10k forked" "include forked" "fork:yes"`},
		{"12999", func(r *report.Report) { r.Exclude(12999, 0) }, `repository-fork info "12k forked" "include forked" "fork:yes"`},
		{"1234567", func(r *report.Report) { r.Exclude(1234567, 0) }, `repository-fork info "1234k forked" "include forked" "fork:yes"`},

		// the larger limit that is suggested
		{"limit unknown", (*report.Report).HitLimit, `shard-match-limit info "result limit hit" "increase limit" "count:11000"`},
		{"limit 1", func(r *report.Report) { r.SetLimit(1); r.HitLimit() }, `shard-match-limit info "result limit hit" "increase limit" "count:1000"`},
		{"limit 499", func(r *report.Report) { r.SetLimit(499); r.HitLimit() }, `shard-match-limit info "result limit hit" "increase limit" "count:1000"`},
		{"limit 500", func(r *report.Report) { r.SetLimit(500); r.HitLimit() }, `shard-match-limit info "result limit hit" "increase limit" "count:2000"`},
		{"limit 10000", func(r *report.Report) { r.SetLimit(10000); r.HitLimit() }, `shard-match-limit info "result limit hit" "increase limit" "count:11000"`},

		// reaching the limit hits it, in either order
		{"limit reached", func(r *report.Report) { r.SetLimit(2); r.Add([]query.Match{file(kiln, "a", "", 2)}) },
			`shard-match-limit info "result limit hit" "increase limit" "count:1000"`},
		{"limit set late", func(r *report.Report) { r.Add([]query.Match{file(kiln, "a", "", 2)}); r.SetLimit(2) },
			`shard-match-limit info "result limit hit" "increase limit" "count:1000"`},
		{"limit not reached", func(r *report.Report) { r.SetLimit(3); r.Add([]query.Match{file(kiln, "a", "", 2)}) }, ``},

		// the display limit
		{"display", func(r *report.Report) { r.SetDisplay(1); r.Add([]query.Match{file(kiln, "a", "", 2)}) }, `display info "display limit hit" "" ""`},
		{"display 0", func(r *report.Report) { r.SetDisplay(0); r.Add([]query.Match{file(kiln, "a", "", 1)}) }, `display info "display limit hit" "" ""`},
		{"display met", func(r *report.Report) { r.SetDisplay(2); r.Add([]query.Match{file(kiln, "a", "", 2)}) }, ``},
		{"no display limit", func(r *report.Report) { r.SetDisplay(-1); r.Add([]query.Match{file(kiln, "a", "", 2)}) }, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newResults()
			tt.do(r)
			var got []string
			for _, s := range r.Progress().Skipped {
				got = append(got, fmt.Sprintf("%s %s %q %q %q", s.Reason, s.Severity, s.Title, s.SuggestedTitle, s.SuggestedQuery))
			}
			if s := strings.Join(got, "\n"); s != tt.want {
				t.Errorf("got\n  %s\nwant\n  %s", s, tt.want)
			}
		})
	}
}

func TestSkippedOrder(t *testing.T) {
	r := newResults()
	r.Skips().Add(report.NewSkip(query.Skipped{Reason: "other"}))
	r.SetDisplay(1)
	r.Exclude(1, 1)
	r.Skips().Add(report.TimedOut(names(1)))
	r.SetLimit(2)
	r.Add([]query.Match{file(kiln, "a", "", 2)})
	indexing(r, 1)
	cloning(r, 1)
	r.Skips().Add(report.Missing(names(1)))
	var got []string
	for _, s := range r.Progress().Skipped {
		got = append(got, s.Reason)
	}
	want := "repository-missing repository-cloning repository-indexing shard-match-limit shard-timeout repository-fork excluded-archive display other"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("order of reasons\ngot  %s\nwant %s", s, want)
	}
}

func TestSkippedMessages(t *testing.T) {
	tests := []struct {
		name string
		do   func(*report.Report)
		// want are parts of the message, lines the number of its lines.
		want  []string
		lines int
	}{
		// up to ten repositories are named
		{"one", func(r *report.Report) { r.Skips().Add(report.TimedOut([]string{"a/b"})) }, []string{"`a/b` was not searched in time", "`repo:`"}, 1},
		{"two", func(r *report.Report) { cloning(r, 2) }, []string{"2 repositories were", "\n* `r0`\n* `r1`"}, 3},
		{"ten", func(r *report.Report) { r.Skips().Add(report.Missing(names(10))) }, []string{"10 repositories", "\n* `r9`"}, 11},
		{"eleven", func(r *report.Report) { r.Skips().Add(report.Missing(names(11))) }, []string{"11 repositories", "\n* `r9`\n* ..."}, 12},

		// what lifts the limit is in the text too
		{"limit", func(r *report.Report) { r.SetLimit(500); r.HitLimit() }, []string{"`count:2000`", "`count:all`"}, 1},
		{"forks", func(r *report.Report) { r.Exclude(1, 0) }, []string{"forked", "`fork:yes`"}, 1},
		{"archived", func(r *report.Report) { r.Exclude(0, 1) }, []string{"archived", "`archived:yes`"}, 1},

		// how many were shown
		{"display 1", func(r *report.Report) { r.SetDisplay(1); r.Add([]query.Match{file(kiln, "a", "", 2)}) }, []string{"1 result,", "`display`"}, 1},
		{"display 2", func(r *report.Report) { r.SetDisplay(2); r.Add([]query.Match{file(kiln, "a", "", 3)}) }, []string{"2 results,"}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newResults()
			tt.do(r)
			skipped := r.Progress().Skipped
			if len(skipped) != 1 {
				t.Fatalf("got %d entries, want 1: %+v", len(skipped), skipped)
			}
			msg := skipped[0].Message
			for _, part := range tt.want {
				if !strings.Contains(msg, part) {
					t.Errorf("message %q does not contain %q", msg, part)
				}
			}
			if got := strings.Count(msg, "\n") + 1; got != tt.lines {
				t.Errorf("message %q has %d lines, want %d", msg, got, tt.lines)
			}
		})
	}
}

// TestLeftOut: what a search was to look at and did not has words; what it leaves out for
// good, or as the query asks, has none.
func TestLeftOut(t *testing.T) {
	for _, test := range []struct {
		name   string
		do     func(*report.Report)
		except string
		want   string
	}{
		{"nothing", func(*report.Report) {}, "", ""},
		{"forks", func(r *report.Report) { r.Exclude(1, 2) }, "", ""},
		{"no text", func(r *report.Report) {
			r.Skips().Add(report.NewSkip(query.Skipped{Reason: report.ReasonNoText, Title: "1 file without text", Severity: "info"}))
		}, "", ""},
		{"missing", func(r *report.Report) { r.Skips().Add(report.Missing(names(1))) }, "", "not readable at its source"},
		{"cloning", func(r *report.Report) { cloning(r, 1) }, "", "still being fetched"},
		{"indexing", func(r *report.Report) { indexing(r, 1) }, "", "still being indexed for the first time"},
		{"timed out", func(r *report.Report) { r.Skips().Add(report.TimedOut(names(1))) }, "", "not searched in time"},
		{"excepted", func(r *report.Report) { r.Skips().Add(report.TimedOut(names(1))) }, report.ReasonTimeout, ""},
		{"unreadable", func(r *report.Report) { r.Skips().Add(report.RevisionsUnreadable(names(1))) }, "", "1 unreadable"},
		{"as asked", func(r *report.Report) { r.Skips().Add(report.RevisionsNotIndexed(1)) }, "", ""},
		{"depth", func(r *report.Report) {
			r.Skips().Add(report.NewSkip(query.Skipped{Reason: report.ReasonHistoryDepth, Title: "older commits"}))
		}, "", "older commits"},
		{"depth, excepted", func(r *report.Report) {
			r.Skips().Add(report.NewSkip(query.Skipped{Reason: report.ReasonHistoryDepth, Title: "older commits"}))
			r.Skips().Add(report.NewSkip(query.Skipped{Reason: report.ReasonHistoryMissing, Title: "1 history missing"}))
		}, report.ReasonHistoryDepth, "1 history missing"},
	} {
		r := report.New(time.Now)
		test.do(r)
		if got := r.LeftOut(test.except); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
