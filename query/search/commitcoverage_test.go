package search_test

import (
	"math/rand/v2"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store/ingest"
)

// TestCoverageOfCommits: the counts of a search of commits are those of git,
// however much of the history is in the index.
func TestCoverageOfCommits(t *testing.T) {
	r := grownRepo(t, rand.New(rand.NewPCG(4, 4)), 80)
	older := len(r.log("main~20"))
	for _, test := range []struct {
		name string
		opts ingest.Options
	}{
		{"all kept", ingest.Options{HistoryDiffs: ingest.AllHistory}},
		{"some diffs kept", ingest.Options{HistoryDiffs: 10}},
		{"some messages kept", ingest.Options{HistoryCommits: 30, HistoryDiffs: 5}},
	} {
		c := r.indexed(t, test.opts)
		for _, tt := range []struct {
			query   string
			commits int
			all     bool
			left    string
		}{
			{"type:commit count:all", 80, true, ""},
			{"type:diff count:all", 80, false, ""},
			{"repo:r@main~20 type:commit count:all", older, true, ""},
			{"type:commit count:3", 80, false, "shard-match-limit"},
		} {
			tr := &report.Trace{}
			c.search(t, search.Settings{Workers: 2}, search.Options{Trace: tr}, tt.query, query.Keyword)
			all, _ := tr.Coverage()
			if len(all) != 1 || !all[0].Commits || all[0].Repository != "r" || len(all[0].Commit) != 40 {
				t.Errorf("%s, %s: got %+v, want one line, of commits", test.name, tt.query, all)
				continue
			}
			got := all[0]
			// A limit ends the search before what is not kept was counted.
			if got.Documents != tt.commits && tt.left == "" || tt.all && got.Verified != tt.commits {
				t.Errorf("%s, %s: got %d commits, %d verified; want %d", test.name, tt.query, got.Documents, got.Verified, tt.commits)
			}
			left := 0
			for _, u := range got.Unsearched {
				if left += u.Documents; u.Reason != tt.left {
					t.Errorf("%s, %s: got %q not looked at, want %q", test.name, tt.query, u.Reason, tt.left)
				}
			}
			if (len(got.Unsearched) > 0) != (tt.left != "") || got.Verified+left != got.Candidates {
				t.Errorf("%s, %s: got %+v; want every candidate accounted for", test.name, tt.query, got)
			}
		}
	}
}
