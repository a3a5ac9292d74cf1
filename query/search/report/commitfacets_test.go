package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/report"
)

// commit is a match with n ranges, made by name some time before now.
func commit(repo *query.Repository, name string, age time.Duration, n int) *query.CommitMatch {
	return &query.CommitMatch{
		Repo: repo, OID: fmt.Sprintf("%040d", n), Ranges: make([]query.Range, n),
		Author:    query.Signature{Name: name, Email: strings.ToLower(name) + "@example.org", Date: filtersNow},
		Committer: query.Signature{Name: "Bot", Email: "bot@example.org", Date: filtersNow.Add(-age)},
	}
}

func ofDiff(m *query.CommitMatch) *query.CommitMatch {
	m.IsDiff = true
	return m
}

var filtersNow = time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)

func TestCommitFilters(t *testing.T) {
	const day = 24 * time.Hour
	const kilnRepo = `repo repo:^git\.example\.org/lab/kiln$ "git.example.org/lab/kiln" `
	for _, tt := range []struct {
		name    string
		matches []query.Match
		want    []string
	}{
		// one commit counts its ranges for type and repository, and one for the rest
		{"message", []query.Match{commit(kiln, "Ada", time.Hour, 3)}, []string{
			`type type:commit "Commits" 3`, kilnRepo + "3", `commit date after:"1 month ago" "Last month" 1`, `commit date after:"1 week ago" "Last week" 1`, `commit date after:"24 hours ago" "Last 24 hours" 1`, `author author:^ada@example\.org$ "Ada" 1`,
		}},
		{"diff without ranges", []query.Match{ofDiff(commit(kiln, "Ada", time.Hour, 0))}, []string{
			`type type:diff "Diffs" 1`, `commit date after:"1 month ago" "Last month" 1`, `commit date after:"1 week ago" "Last week" 1`, `commit date after:"24 hours ago" "Last 24 hours" 1`, `author author:^ada@example\.org$ "Ada" 1`, kilnRepo + "1",
		}},

		// authors are those of an address, called by the first name seen
		{"authors", []query.Match{commit(kiln, "Ada", 0, 1), commit(kiln, "ADA", 0, 1), commit(kiln, "Bo", 0, 1)}, []string{
			`type type:commit "Commits" 3`, `commit date after:"1 month ago" "Last month" 3`, `commit date after:"1 week ago" "Last week" 3`, `commit date after:"24 hours ago" "Last 24 hours" 3`, kilnRepo + "3",
			`author author:^ada@example\.org$ "Ada" 2`, `author author:^bo@example\.org$ "Bo" 1`,
		}},
		{"an address that needs quotes", []query.Match{&query.CommitMatch{
			Repo: kiln, Author: query.Signature{Name: "A B", Email: "a b+c@x", Date: filtersNow},
		}}, []string{
			`type type:commit "Commits" 1`, `author author:^a\ b\+c@x$ "A B" 1`, `commit date before:"2 months ago" "Older than 2 months" 1`, kilnRepo + "1",
		}},
		{"no address and no committer", []query.Match{&query.CommitMatch{Repo: kiln, Author: query.Signature{Name: "A", Date: filtersNow.Add(-9 * day)}}}, []string{
			`type type:commit "Commits" 1`, `commit date before:"2 months ago" "Older than 2 months" 1`, kilnRepo + "1",
		}},

		// a commit counts for every date that selects it
		{"ages", []query.Match{
			commit(kiln, "A", -day, 1),
			commit(kiln, "A", 25*time.Hour-1, 1), commit(kiln, "A", 25*time.Hour, 1), commit(kiln, "A", 25*time.Hour, 1), commit(kiln, "A", 25*time.Hour, 1),
			commit(kiln, "A", 8*day-1, 1), commit(kiln, "A", 8*day, 1), commit(kiln, "A", 31*day-1, 1), commit(kiln, "A", 31*day-1, 1),
			commit(kiln, "A", 31*day, 1), commit(kiln, "A", 200*365*day, 1), commit(kiln, "A", 3650*day, 1), commit(kiln, "A", 3650*day, 1), commit(kiln, "A", 3650*day, 1),
		}, []string{
			`type type:commit "Commits" 14`, `author author:^a@example\.org$ "A" 14`, kilnRepo + "14",
			`commit date after:"1 month ago" "Last month" 7`, `commit date after:"1 week ago" "Last week" 5`,
			`commit date before:"2 months ago" "Older than 2 months" 4`, `commit date after:"24 hours ago" "Last 24 hours" 1`,
		}},
		{"a date before all durations", []query.Match{&query.CommitMatch{Repo: kiln, Committer: query.Signature{Date: time.Unix(-1<<40, 0)}}}, []string{
			`type type:commit "Commits" 1`, `commit date before:"2 months ago" "Older than 2 months" 1`, kilnRepo + "1",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := report.New(func() time.Time { return filtersNow })
			r.Add(tt.matches)
			var got []string
			for _, f := range r.Filters() {
				got = append(got, fmt.Sprintf("%s %s %q %d", f.Kind, f.Value, f.Label, f.Count))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(tt.want, "\n  "))
			}
		})
	}
}
