package report_test

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/internal/clock"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/report"
)

var (
	kiln  = &query.Repository{ID: 12, Name: "git.example.org/lab/kiln"}
	glaze = &query.Repository{ID: 15, Name: "git.example.org/lab/glaze-db"}
	space = &query.Repository{ID: 16, Name: "my stuff+more"}
)

// file is a match with n ranges in content, in one chunk.
func file(repo *query.Repository, path, lang string, n int) *query.FileMatch {
	m := &query.FileMatch{Repo: repo, Path: path, Language: lang, InText: n, InPath: n == 0}
	if n > 0 {
		m.Chunks = []query.Chunk{{Ranges: make([]query.Range, n)}}
	}
	return m
}

func withPath(m *query.FileMatch, ranges int) *query.FileMatch {
	m.PathRanges, m.InPath = make([]query.Range, ranges), true
	return m
}

func atRev(m *query.FileMatch, rev string) *query.FileMatch {
	m.Rev = rev
	return m
}

func newResults() *report.Report { return report.New(func() time.Time { return time.Time{} }) }

func TestResultsProgress(t *testing.T) {
	tests := []struct {
		name  string
		do    func(*report.Report)
		match int
		repos int
	}{
		// nothing found
		{"fresh", func(*report.Report) {}, 0, 0},
		{"finished empty", func(r *report.Report) { r.Finish(true) }, 0, 0},

		// what a match counts
		{"ranges count", func(r *report.Report) { r.Add([]query.Match{file(kiln, "a", "", 3)}) }, 3, 0},
		{"path counts one", func(r *report.Report) { r.Add([]query.Match{withPath(file(kiln, "a", "", 0), 4)}) }, 1, 0},
		{"repository counts one", func(r *report.Report) { r.Add([]query.Match{&query.RepoMatch{Repo: kiln}}) }, 1, 0},

		// repositories are distinct and reported at the end only
		{"repositories", func(r *report.Report) {
			r.Add([]query.Match{file(kiln, "a", "", 1), &query.RepoMatch{Repo: glaze}, file(kiln, "b", "", 1)})
			r.Finish(true)
		}, 3, 2},
		{"same id, another value", func(r *report.Report) {
			again := *kiln
			r.Add([]query.Match{file(kiln, "a", "", 1), file(&again, "b", "", 1)})
			r.Finish(true)
		}, 2, 1},

		// the count limit caps
		{"capped", func(r *report.Report) {
			r.SetLimit(2)
			r.Add([]query.Match{file(kiln, "a", "", 5)})
		}, 2, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newResults()
			tt.do(r)
			p := r.Progress()
			if p.Matches != tt.match || p.Repositories != tt.repos {
				t.Errorf("got %d matches in %d repositories, want %d in %d", p.Matches, p.Repositories, tt.match, tt.repos)
			}
			if p.Skipped == nil {
				t.Errorf("Skipped is nil, want a list that may be empty")
			}
		})
	}
}

func TestResultsTookCountsFromTheStart(t *testing.T) {
	c := clock.New(time.Unix(1000, 0))
	r := report.New(c.Now)
	c.Add(437 * time.Millisecond)
	if got := r.Progress().Took; got != 437*time.Millisecond {
		t.Errorf("Took = %v, want 437ms", got)
	}
}

func TestResultsMarks(t *testing.T) {
	tests := []struct {
		name              string
		do                func(*report.Report)
		filters, progress bool
	}{
		// what changes both
		{"add", func(r *report.Report) { r.Add([]query.Match{file(kiln, "a", "", 1)}) }, true, true},
		{"exclude", func(r *report.Report) { r.Exclude(1, 0) }, true, true},
		{"finish", func(r *report.Report) { r.Finish(true) }, true, true},

		// what changes progress only
		{"hit limit", (*report.Report).HitLimit, false, true},
		{"timed out", func(r *report.Report) { r.Skips().Add(report.TimedOut([]string{"a"})) }, false, true},

		// what changes nothing
		{"limits of nothing", func(r *report.Report) { r.SetLimit(5); r.SetDisplay(5) }, false, false},
		{"exclude nothing", func(r *report.Report) {
			r.Exclude(0, 0)
			r.Skips().Add(report.TimedOut(nil))
			r.Skips().Add(report.Missing(nil))
			r.Skips().Add(report.NotIndexed(report.ReasonCloning, nil, nil))
		}, false, false},
		{"add nothing", func(r *report.Report) { r.Add(nil) }, false, false},
		{"reading", func(r *report.Report) { r.Progress(); r.Filters() }, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newResults()
			f0, p0 := r.Marks()
			tt.do(r)
			f1, p1 := r.Marks()
			if (f1 > f0) != tt.filters || (p1 > p0) != tt.progress {
				t.Errorf("marks %d,%d became %d,%d; want filters to change: %v, progress: %v", f0, p0, f1, p1, tt.filters, tt.progress)
			}
		})
	}
}

func TestResultsFilters(t *testing.T) {
	tests := []struct {
		name string
		do   func(*report.Report)
		want []string
	}{
		{"nothing", func(*report.Report) {}, nil},

		// one match counts for its type, repository and language
		{"content", func(r *report.Report) {
			r.Add([]query.Match{withPath(atRev(file(kiln, "cmd/glaze/main.go", "Go", 3), "v2"), 1)})
		}, []string{
			`type type:file "Code" 3`,
			`type type:path "Paths" 1`,
			`lang lang:go "Go" 3`,
			`repo repo:^git\.example\.org/lab/kiln$@v2 "git.example.org/lab/kiln" 3`,
		}},
		{"path with ranges", func(r *report.Report) {
			r.Add([]query.Match{withPath(file(kiln, "docs/glaze.md", "Markdown", 0), 2)})
		}, []string{
			`type type:path "Paths" 1`,
			`lang lang:markdown "Markdown" 1`,
			`repo repo:^git\.example\.org/lab/kiln$ "git.example.org/lab/kiln" 1`,
		}},
		{"path without ranges", func(r *report.Report) {
			r.Add([]query.Match{file(kiln, "x", "", 0)})
		}, []string{
			`type type:path "Paths" 1`,
			`repo repo:^git\.example\.org/lab/kiln$ "git.example.org/lab/kiln" 1`,
		}},
		{"repository adds its type only", func(r *report.Report) {
			r.Add([]query.Match{&query.RepoMatch{Repo: kiln}})
		}, []string{`type type:repo "Repositories" 1`}},

		// values are quoted so that they read back
		{"language with spaces", func(r *report.Report) {
			r.Add([]query.Match{file(kiln, "a.vbhtml", "Visual Basic .NET", 1)})
		}, []string{
			`type type:file "Code" 1`,
			`lang lang:"visual basic .net" "Visual Basic .NET" 1`,
			`repo repo:^git\.example\.org/lab/kiln$ "git.example.org/lab/kiln" 1`,
		}},
		{"repository with special characters", func(r *report.Report) {
			r.Add([]query.Match{file(space, "a", "", 1)})
		}, []string{
			`type type:file "Code" 1`,
			`repo repo:^my\ stuff\+more$ "my stuff+more" 1`,
		}},

		// a revision is a filter of its own
		{"revisions", func(r *report.Report) {
			r.Add([]query.Match{atRev(file(kiln, "a", "", 1), "v2"), file(kiln, "a", "", 2), atRev(file(kiln, "b", "", 4), "v2")})
		}, []string{
			`type type:file "Code" 7`,
			`repo repo:^git\.example\.org/lab/kiln$@v2 "git.example.org/lab/kiln" 5`,
			`repo repo:^git\.example\.org/lab/kiln$ "git.example.org/lab/kiln" 2`,
		}},

		// file filters add the whole count of the match
		{"file filters", func(r *report.Report) {
			r.Add([]query.Match{file(kiln, "vendor/a/b_test.go", "", 3)})
		}, []string{
			`type type:file "Code" 3`,
			`file -file:(^|/)vendor/ "Exclude vendor" 3`,
			`file -file:_test\.\w+$ "Exclude _test.*" 3`,
			`repo repo:^git\.example\.org/lab/kiln$ "git.example.org/lab/kiln" 3`,
		}},

		// utilities stand with the types, by count
		{"excluded", func(r *report.Report) {
			r.Add([]query.Match{file(kiln, "a", "", 3)})
			r.Exclude(9, 1)
			r.Exclude(0, 1)
		}, []string{
			`utility fork:yes "Include forked repos" 9`,
			`type type:file "Code" 3`,
			`utility archived:yes "Include archived repos" 2`,
			`repo repo:^git\.example\.org/lab/kiln$ "git.example.org/lab/kiln" 3`,
		}},

		// equal counts stand by value
		{"ties", func(r *report.Report) {
			r.Add([]query.Match{file(kiln, "a.go", "Go", 1), file(glaze, "b.c", "C", 1)})
		}, []string{
			`type type:file "Code" 2`,
			`lang lang:c "C" 1`,
			`lang lang:go "Go" 1`,
			`repo repo:^git\.example\.org/lab/glaze-db$ "git.example.org/lab/glaze-db" 1`,
			`repo repo:^git\.example\.org/lab/kiln$ "git.example.org/lab/kiln" 1`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newResults()
			tt.do(r)
			var got []string
			for _, f := range r.Filters() {
				got = append(got, fmt.Sprintf("%s %s %q %d", f.Kind, f.Value, f.Label, f.Count))
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(tt.want, "\n  "))
			}
		})
	}
}

func TestResultsFiltersAreBounded(t *testing.T) {
	r := newResults()
	const repositories = 4321
	var want []int
	for i := range repositories {
		repo := &query.Repository{ID: uint32(i), Name: fmt.Sprintf("r%05d", i)}
		// 7 spreads the counts over the ids, so that late ones rank high too
		r.Add([]query.Match{file(repo, "a.go", "Go", 1+i*7%repositories)})
	}
	for i := range 1000 {
		want = append(want, repositories-i)
	}
	var got []int
	others := 0
	for _, f := range r.Filters() {
		if f.Kind == "repo" {
			got = append(got, f.Count)
			continue
		}
		others++
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %d repo filters, first %v; want 1000 from %d falling by one", len(got), got[:min(len(got), 5)], repositories)
	}
	if others != 2 {
		t.Errorf("got %d other filters, want type:file and lang:go", others)
	}
}

func TestResultsExhaustive(t *testing.T) {
	tests := []struct {
		name string
		do   func(*report.Report)
		want bool
	}{
		{"not finished", func(*report.Report) {}, false},
		{"finished", func(r *report.Report) { r.Finish(true) }, true},
		{"the caller knows better", func(r *report.Report) { r.Finish(false) }, false},
		{"limit hit", func(r *report.Report) { r.HitLimit(); r.Finish(true) }, false},
		{"limit reached exactly", func(r *report.Report) { r.SetLimit(1); r.Finish(true) }, false},
		{"timed out", func(r *report.Report) { r.Skips().Add(report.TimedOut([]string{"a"})); r.Finish(true) }, false},
		{"first call counts", func(r *report.Report) { r.Finish(false); r.Finish(true) }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newResults()
			r.Add([]query.Match{file(kiln, "a", "", 1)})
			tt.do(r)
			for _, f := range r.Filters() {
				if f.Exhaustive != tt.want {
					t.Errorf("%s: exhaustive = %v, want %v", f.Value, f.Exhaustive, tt.want)
				}
			}
		})
	}
}

func TestResultsConcurrently(t *testing.T) {
	r := newResults()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				r.Add([]query.Match{file(kiln, "a_test.go", "Go", 2)})
				r.Exclude(1, 1)
				r.Marks()
				r.Progress()
				r.Filters()
			}
		})
	}
	wg.Wait()
	if got := r.Progress().Matches; got != 800 {
		t.Errorf("got %d matches, want 800", got)
	}
}

func BenchmarkResultsAdd(b *testing.B) {
	matches := make([]query.Match, 100)
	for i := range matches {
		matches[i] = file(kiln, fmt.Sprintf("drivers/net/ethernet/vendor%d/main_%d.c", i%7, i), "C", 2)
	}
	r := newResults()
	b.ReportAllocs()
	for b.Loop() {
		r.Add(matches)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(matches)), "ns/match")
}
