package search_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/store/ingest"
)

// TestDiffMatchesAreCountedAsGitCounts: a preview shows five files, three hunks
// of a file and seven lines of a hunk, but every changed line with a match counts
// as git log -p counts it, and what is not shown is reported.
func TestDiffMatchesAreCountedAsGitCounts(t *testing.T) {
	var g gitHistory
	before, after := map[string]string{}, map[string]string{}
	for f := range 8 {
		var old, fresh strings.Builder
		for hunk := range 5 {
			for range 10 {
				old.WriteString("same\n")
				fresh.WriteString("same\n")
			}
			for line := range 3 * hunk {
				fmt.Fprintf(&fresh, "glaze %d\n", line)
			}
			old.WriteString("kiln glaze\n")
		}
		path := fmt.Sprintf("src/f%d.go", f)
		before[path], after[path] = old.String(), fresh.String()
	}
	first := g.commit(before, nil)
	g.commit(after, []string{first}, "refs/heads/main")
	r := loggedRepo{dir: g.write(t)}
	want := 0
	for line := range strings.Lines(runGit(t, r.dir, "", "log", "-p", "-U0", "main")) {
		if (line[0] == '+' || line[0] == '-') && strings.Contains(line, "glaze") {
			want++
		}
	}
	for _, o := range []ingest.Options{{}, {HistoryCommits: -1}, {HistoryDiffs: -1}} {
		c := r.indexed(t, o)
		ask := func(text string) attempt {
			return c.try(context.Background(), t, search.Settings{}, search.Options{Display: -1}, text, nil)
		}
		a := ask("type:diff glaze count:all")
		if got := total(a.matches); got != want || a.progress.Matches != want {
			t.Errorf("history of %d commits and %d diffs: %d matches are counted, progress says %d, git counts %d", o.HistoryCommits, o.HistoryDiffs, got, a.progress.Matches, want)
		}
		for _, m := range a.matches {
			m := m.(*query.CommitMatch)
			if !m.Cut || m.Hidden == 0 || !strings.Contains(m.Body, "... +3 files\n") {
				t.Errorf("%s is shortened: %t, %d hidden:\n%s", m.OID, m.Cut, m.Hidden, m.Body)
			}
		}
		if got := a.reasons(); got != "preview-shortened" || !exhaustive(a) {
			t.Errorf("reasons %q, exhaustive %t", got, exhaustive(a))
		}
		added := total(ask("type:diff glaze count:all select:commit.diff.added").matches)
		removed := total(ask("type:diff glaze count:all select:commit.diff.removed").matches)
		if added+removed != want {
			t.Errorf("%d are added and %d removed, of %d", added, removed, want)
		}
		for _, n := range []int{1, 20, want - 1, want} {
			if got := total(ask(fmt.Sprint("type:diff glaze count:", n)).matches); got != n {
				t.Errorf("count:%d gives %d", n, got)
			}
		}
		if a := ask("type:diff glaze file:f0 count:all -file:x after:2001-09-09T01:00:00 message:nothing"); a.reasons() != "" {
			t.Errorf("without results the reasons are %q", a.reasons())
		}
	}
}
