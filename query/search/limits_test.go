package search_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
)

// attempt is a search that may fail, with all that it said.
type attempt struct {
	answered
	progress query.Progress
}

// try searches text as keyword with the options as they are.
func (c *corpus) try(ctx context.Context, t testing.TB, s search.Settings, o search.Options, text string, sink answer.Sink) attempt {
	t.Helper()
	q, err := syntax.Parse(text, query.Keyword)
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	var a attempt
	o.Report = report.New(time.Now)
	if sink == nil {
		sink = answer.SinkFunc(func(m []query.Match) error {
			a.batches++
			a.matches = append(a.matches, m...)
			return nil
		})
	}
	a.outcome = search.New(c.st, s).Search(ctx, q, o, sink)
	a.results, a.progress = o.Report, o.Report.Progress()
	if !a.progress.Done {
		t.Errorf("search %q: progress is not done at the end", text)
	}
	return a
}

// reasons lists why the answer may be incomplete, with what would lift it.
func (a attempt) reasons() string {
	var out []string
	for _, s := range a.progress.Skipped {
		out = append(out, strings.TrimSpace(s.Reason+" "+s.SuggestedQuery))
	}
	return strings.Join(out, ", ")
}

// units prints results as they are counted, one per line.
func (a answered) units() []string {
	var out []string
	for _, m := range a.matches {
		f, ok := m.(*query.FileMatch)
		if !ok {
			out = append(out, "repo "+m.In().Name)
			continue
		}
		for _, c := range f.Chunks {
			for _, r := range c.Ranges {
				out = append(out, fmt.Sprintf("%s %q %d-%d", f.Repo.Name, f.Path, r.Start.Offset, r.End.Offset))
			}
		}
		if len(f.Chunks) == 0 {
			out = append(out, fmt.Sprintf("%s %q", f.Repo.Name, f.Path))
		}
	}
	return out
}

func total(matches []query.Match) int {
	n := 0
	for _, m := range matches {
		n += m.Count()
	}
	return n
}

// countCorpus has ten documents with three times "ox", one of them also with
// five times "yak", and two repositories.
func countCorpus(t testing.TB) *corpus {
	var files []doc
	for i := range 10 {
		f := doc{repo: "one", path: fmt.Sprintf("f%d", i), text: "ox\nox\nox\n"}
		if i > 5 {
			f.repo = "two"
		}
		if i == 3 {
			f.text += strings.Repeat("yak\n", 5)
		}
		files = append(files, f)
	}
	return newCorpus(t, 3, nil, files)
}

func TestCountLimit(t *testing.T) {
	c := countCorpus(t)
	tests := []struct {
		query string
		// want is the number of results, last that of the last match.
		want, last int
		reasons    string
	}{
		// the last match is cut to fit
		{"ox", 30, 3, ""},
		{"ox count:31", 30, 3, ""},
		{"ox count:30", 30, 3, "shard-match-limit count:1000"},
		{"ox count:29", 29, 2, "shard-match-limit count:1000"},
		{"ox count:1", 1, 1, "shard-match-limit count:1000"},
		{"ox count:6", 6, 3, "shard-match-limit count:1000"},
		{"ox count:all", 30, 3, ""},
		{"type:path f count:4", 4, 1, "shard-match-limit count:1000"},
		{"type:repo /one|two/ count:1", 1, 1, "shard-match-limit count:1000"},
		{"type:repo /one|two/ count:3", 2, 1, ""},

		// selected results count after the selection
		{"ox select:repo", 2, 1, ""},
		{"ox select:repo count:2", 2, 1, "shard-match-limit count:1000"},
		{"ox select:repo count:1", 1, 1, "shard-match-limit count:1000"},
		{"ox select:file", 10, 1, ""},
		{"ox select:file count:9", 9, 1, "shard-match-limit count:1000"},
		{"ox select:file.directory", 2, 1, ""},
		{"ox select:content count:4", 4, 1, "shard-match-limit count:1000"},

		// each part of a union has its own limit, the whole has the largest
		{"(type:file ox count:2) or (type:file yak count:3)", 3, 1, "shard-match-limit count:1000"},
		{"(type:file ox count:3) or (type:file yak count:2)", 3, 3, "shard-match-limit count:1000"},
		{"(type:file nothing count:9) or (type:file yak count:3)", 3, 3, "shard-match-limit count:1000"},
		{"(type:file ox count:2) or (type:file yak)", 7, 5, "shard-match-limit count:11000"},
		{"(type:file ox count:4) or (type:file yak count:all)", 9, 5, "shard-match-limit count:100001000"},
		{"(type:file nothing count:9) or (type:file yak count:9)", 5, 5, ""},
		{"(type:file ox count:all) or (type:file yak count:all)", 35, 3, ""},

		// a path and a text are one result each
		{"(f3 or yak) count:5", 5, 5, "shard-match-limit count:1000"},
		{"(f3 or yak) count:6", 5, 5, ""},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			a := c.try(context.Background(), t, search.Settings{}, search.Options{Display: -1}, tt.query, nil)
			if a.outcome != (search.Outcome{}) {
				t.Fatalf("outcome %+v", a.outcome)
			}
			if got := total(a.matches); got != tt.want || a.progress.Matches != tt.want {
				t.Errorf("got %d results sent and %d counted, want %d\n%s", got, a.progress.Matches, tt.want, strings.Join(a.units(), "\n"))
			}
			if got := a.matches[len(a.matches)-1].Count(); got != tt.last {
				t.Errorf("got %d results in the last match, want %d", got, tt.last)
			}
			if got := a.reasons(); got != tt.reasons {
				t.Errorf("got reasons %q, want %q", got, tt.reasons)
			}
			if got := slices.Compact(slices.Sorted(slices.Values(a.units()))); len(got) != tt.want {
				t.Errorf("got %d different results, want %d", len(got), tt.want)
			}
		})
	}
}

func TestDefaultCount(t *testing.T) {
	c := newCorpus(t, 1000, nil, []doc{
		{repo: "r", path: "a", text: strings.Repeat("ox ", 6000)},
		{repo: "r", path: "b", text: strings.Repeat("ox ", 4000)},
		{repo: "r", path: "c", text: "ox yak"},
	})
	tests := []struct {
		query string
		o     search.Options
		want  int
		limit bool
	}{
		{"ox", search.Options{Display: -1}, 10000, true},
		{"ox count:10001", search.Options{Display: -1}, 10001, true},
		{"ox count:10002", search.Options{Display: -1}, 10001, false},
		{"ox", search.Options{Display: -1, DefaultCount: 30}, 30, true},
		{"ox count:40", search.Options{Display: -1, DefaultCount: 30}, 40, true},
		{"yak", search.Options{Display: -1, DefaultCount: 30}, 1, false},
	}
	for _, tt := range tests {
		a := c.try(context.Background(), t, search.Settings{}, tt.o, tt.query, nil)
		if got := total(a.matches); got != tt.want || a.progress.Matches != tt.want {
			t.Errorf("%q, default %d: got %d results sent and %d counted, want %d", tt.query, tt.o.DefaultCount, got, a.progress.Matches, tt.want)
		}
		if got := a.reasons() != ""; got != tt.limit {
			t.Errorf("%q, default %d: got reasons %q, want a limit: %v", tt.query, tt.o.DefaultCount, a.reasons(), tt.limit)
		}
	}
}

// A limit never changes what is there to find, nor its order: a display limit
// shows the beginning of the whole answer and counts all of it, a count limit
// finds its beginning and no more.
func TestLimitsCutTheWholeAnswer(t *testing.T) {
	seeds, perCorpus := uint64(4), 40
	if race.Enabled {
		seeds, perCorpus = 2, 20
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 99))
		c := randomCorpus(t, rng)
		for range perCorpus {
			text := randomQuery(rng) + " count:all"
			whole := c.try(context.Background(), t, search.Settings{}, search.Options{Display: -1}, text, nil)
			all := whole.units()
			n := rng.IntN(len(all) + 2)
			shown := c.try(context.Background(), t, search.Settings{Workers: 1 + rng.IntN(4)}, search.Options{Display: n}, text, nil)
			where := fmt.Sprintf("seed %d, query %q, limit %d of %d", seed, text, n, len(all))
			if got, want := shown.units(), all[:min(n, len(all))]; !slices.Equal(got, want) {
				t.Fatalf("%s: display shows no prefix\n%s", where, firstDifference(got, want))
			}
			if shown.progress.Matches != len(all) || shown.progress.Repositories != whole.progress.Repositories {
				t.Fatalf("%s: display counts %d results in %d repositories, want %d in %d", where,
					shown.progress.Matches, shown.progress.Repositories, len(all), whole.progress.Repositories)
			}
			if got, want := shown.reasons() == "display", n < len(all); got != want {
				t.Fatalf("%s: display gives reasons %q", where, shown.reasons())
			}
			if got, want := fmt.Sprint(shown.results.Filters()), fmt.Sprint(whole.results.Filters()); got != want {
				t.Fatalf("%s: display changes the filters\n got %s\nwant %s", where, got, want)
			}
			n = max(n, 1)
			counted := c.try(context.Background(), t, search.Settings{Workers: 1 + rng.IntN(4)}, search.Options{Display: -1},
				strings.Replace(text, "count:all", fmt.Sprint("count:", n), 1), nil)
			if got, want := len(counted.units()), min(n, len(all)); got != want || counted.progress.Matches != want {
				t.Fatalf("%s: count finds %d and counts %d, want %d", where, got, counted.progress.Matches, want)
			}
			if got, want := strings.HasPrefix(counted.reasons(), "shard-match-limit"), len(all) >= n; got != want {
				t.Fatalf("%s: count gives reasons %q", where, counted.reasons())
			}
			if got, want := counted.units(), all[:min(n, len(all))]; !slices.Equal(got, want) {
				t.Fatalf("%s: count finds no prefix\n%s", where, firstDifference(got, want))
			}
		}
	}
}

func TestDisplayNothing(t *testing.T) {
	a := countCorpus(t).try(context.Background(), t, search.Settings{}, search.Options{Display: 0}, "ox", nil)
	if a.batches != 0 {
		t.Errorf("got %d batches, want none", a.batches)
	}
	if a.progress.Matches != 30 || a.progress.Repositories != 2 || a.reasons() != "display" || len(a.results.Filters()) == 0 {
		t.Errorf("got %+v, filters %v; want 30 matches in 2 repositories and reason display", a.progress, a.results.Filters())
	}
}

func TestTimeoutBeforeAnything(t *testing.T) {
	c := countCorpus(t)
	tests := []struct {
		query string
		// timedOut are the repositories that are named, alert the proposal when
		// there is nothing to name.
		timedOut, alert string
	}{
		// documents: their repositories are reported
		{"timeout:1ns ox", "2 timed out", ""},
		{"timeout:-5s ox", "2 timed out", ""},
		{"timeout:1ns repo:one ox", "1 timed out", ""},
		{"timeout:1ns ((repo:one ox count:2) or (repo:two yak count:3))", "2 timed out", ""},
		{"timeout:1ns ox select:repo", "2 timed out", ""},

		// names only: nobody to name
		{"timeout:1ns type:repo one", "", "timeout:2s type:repo one patternType:keyword"},
		{"type:repo one timeout:1ns", "", "timeout:2s type:repo one patternType:keyword"},
		{"timeout:1ns repo:one", "", "timeout:2s repo:one patternType:keyword"},
		{"type:repo (one timeout:1ns or two timeout:1ns)", "", "timeout:2s type:repo (one or two) patternType:keyword"},
		{"type:repo one patterntype:regexp timeout:1ns", "", "timeout:2s type:repo one patternType:regexp"},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			a := c.try(context.Background(), t, search.Settings{}, search.Options{Display: -1}, tt.query, nil)
			if a.outcome.Err != nil || len(a.matches) > 0 {
				t.Fatalf("got %d matches, error %v; want neither", len(a.matches), a.outcome.Err)
			}
			named := ""
			for _, s := range a.progress.Skipped {
				if s.Reason == "shard-timeout" {
					named = s.Title
				}
			}
			if named != tt.timedOut {
				t.Errorf("got %q, want %q timed out", named, tt.timedOut)
			}
			if exhaustive(a) {
				t.Error("the answer claims to be exhaustive")
			}
			if tt.alert == "" {
				if a.outcome.Alert != nil {
					t.Errorf("got alert %+v, want none", a.outcome.Alert)
				}
				return
			}
			if a.outcome.Alert == nil || len(a.outcome.Alert.Proposed) != 1 {
				t.Fatalf("got alert %+v, want one with a proposal", a.outcome.Alert)
			}
			got := a.outcome.Alert.Proposed[0].Query
			if got != tt.alert {
				t.Errorf("got proposal %q, want %q", got, tt.alert)
			}
			enough := strings.Replace(got, "timeout:2s", "timeout:1m", 1) // also for a machine that stands still
			if again := c.try(context.Background(), t, search.Settings{}, search.Options{Display: -1}, enough, nil); len(again.matches) == 0 || again.outcome.Alert != nil {
				t.Errorf("the proposal finds %d matches, alert %+v", len(again.matches), again.outcome.Alert)
			}
		})
	}
}

// exhaustive reports what the filters say; without any it is unknown.
func exhaustive(a attempt) bool {
	f := a.results.Filters()
	return len(f) > 0 && f[0].Exhaustive
}

// wideCorpus has many documents in many shards of three repositories, enough
// for several groups.
func wideCorpus(t testing.TB) *corpus {
	var files []doc
	for i := range 3600 {
		files = append(files, doc{repo: fmt.Sprint("r", i/1200), path: fmt.Sprintf("d/f%d.go", i), text: "package ox\n"})
	}
	return newCorpus(t, 300, nil, files)
}

// A sink that is slower than the timeout keeps what it got; the repositories
// that were not finished are named.
func TestTimeoutMidway(t *testing.T) {
	c := wideCorpus(t)
	var a attempt
	sent := 0
	// Where nothing is sent in time, there is more of it.
	for timeout := 300 * time.Millisecond; sent == 0 && timeout < 30*time.Second; timeout *= 4 {
		a = c.try(context.Background(), t, search.Settings{Workers: 1}, search.Options{Display: -1}, "type:file ox timeout:"+timeout.String(),
			answer.SinkFunc(func(m []query.Match) error {
				sent += len(m)
				time.Sleep(timeout + 100*time.Millisecond)
				return nil
			}))
	}
	if sent == 0 || sent == 3600 || a.outcome != (search.Outcome{}) {
		t.Errorf("got %d matches and %+v, want some, not all, and nothing else", sent, a.outcome)
	}
	if sent != a.progress.Matches {
		t.Errorf("got %d matches sent and %d counted", sent, a.progress.Matches)
	}
	i := slices.IndexFunc(a.progress.Skipped, func(s query.Skipped) bool { return s.Reason == "shard-timeout" })
	if i < 0 || !strings.Contains(a.progress.Skipped[i].Message, "`r2`") {
		t.Errorf("got %+v, want r2 among those that timed out", a.progress.Skipped)
	}
	if exhaustive(a) {
		t.Error("the answer claims to be exhaustive")
	}
}

// Settings bound the time, and a clock that stands still stops nothing.
func TestTimeoutSettings(t *testing.T) {
	c := countCorpus(t)
	still := func() time.Time { return time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) }
	tests := []struct {
		query string
		s     search.Settings
		done  bool
	}{
		{"ox", search.Settings{}, true},
		{"ox", search.Settings{Now: still}, true},
		{"ox", search.Settings{DefaultTimeout: time.Nanosecond}, false},
		{"ox timeout:1h", search.Settings{MaxTimeout: time.Nanosecond}, false},
		{"ox timeout:1h", search.Settings{DefaultTimeout: time.Nanosecond}, true},
		{"ox count:all", search.Settings{DefaultTimeout: time.Nanosecond}, true},
		{"ox count:all", search.Settings{MaxTimeout: time.Nanosecond}, false},
	}
	for _, tt := range tests {
		a := c.try(context.Background(), t, tt.s, search.Options{Display: -1}, tt.query, nil)
		if got := a.reasons() == ""; got != tt.done {
			t.Errorf("%q default %v max %v: got reasons %q, want all done: %v", tt.query, tt.s.DefaultTimeout, tt.s.MaxTimeout, a.reasons(), tt.done)
		}
	}
}

// The most time that a search may take changes while the searcher is in use.
func TestSetMaxTimeout(t *testing.T) {
	c := countCorpus(t)
	s := search.New(c.st, search.Settings{})
	q, err := syntax.Parse("ox timeout:1h", query.Keyword)
	if err != nil {
		t.Fatal(err)
	}
	done := func() bool {
		r := report.New(time.Now)
		out := s.Search(t.Context(), q, search.Options{Display: -1, Report: r}, answer.SinkFunc(func([]query.Match) error { return nil }))
		return out.Err == nil && len(r.Progress().Skipped) == 0
	}
	if !done() {
		t.Error("not all is searched within the default")
	}
	s.SetMaxTimeout(time.Nanosecond)
	if done() {
		t.Error("all is searched within a nanosecond")
	}
	s.SetMaxTimeout(time.Minute)
	if !done() {
		t.Error("not all is searched within a minute")
	}
}

func TestCancel(t *testing.T) {
	c := wideCorpus(t)
	tests := []struct {
		name string
		// after is how many batches arrive before the caller goes.
		after int
	}{{"before the start", 0}, {"after the first batch", 1}, {"later", 20}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if tt.after == 0 {
				cancel()
			}
			batches, late := 0, 0
			a := c.try(ctx, t, search.Settings{}, search.Options{Display: -1}, "type:file ox", answer.SinkFunc(func([]query.Match) error {
				if batches++; batches == tt.after {
					cancel()
				} else if ctx.Err() != nil {
					late++
				}
				return nil
			}))
			if a.outcome != (search.Outcome{}) {
				t.Errorf("got %+v, want nothing to tell", a.outcome)
			}
			const group = (1024 + 256) / 64
			if batches < tt.after || late > group {
				t.Errorf("got %d batches, %d of them after the end; want at most those of one group", batches, late)
			}
			if exhaustive(a) || a.progress.Matches == 3600 {
				t.Errorf("got %d matches, exhaustive %v; want a part", a.progress.Matches, exhaustive(a))
			}
		})
	}
}

func TestSinkError(t *testing.T) {
	broken := errors.New("broken pipe")
	tests := []struct {
		name, query string
		// fails is the batch that fails.
		fails int
	}{
		{"at the first name", "type:repo r", 1},
		{"at names, before documents", "r or ox", 1},
		{"at the first document", "type:file ox", 1},
		{"later", "type:file ox", 7},
		{"when the limit is reached", "type:file ox count:3", 1},
		{"before the second part of a union", "(type:file ox count:3) or (type:file package count:9)", 1},
	}
	c := wideCorpus(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			batches := 0
			a := c.try(context.Background(), t, search.Settings{}, search.Options{Display: -1}, tt.query, answer.SinkFunc(func([]query.Match) error {
				if batches++; batches >= tt.fails {
					return broken
				}
				return nil
			}))
			if !errors.Is(a.outcome.Err, broken) {
				t.Errorf("got %+v, want the sink's error", a.outcome)
			}
			if batches != tt.fails {
				t.Errorf("Send was called %d times, want %d", batches, tt.fails)
			}
			if exhaustive(a) {
				t.Error("the answer claims to be exhaustive")
			}
		})
	}
}

// Repositories that cannot be searched are reported, in the order of their IDs.
func TestUnindexedRepositories(t *testing.T) {
	c := countCorpus(t)
	for _, r := range []store.Repository{{Name: "new1", Stars: 1, Mirror: true}, {Name: "new2", Stars: 5, Mirror: true}, {Name: "local1"}, {Name: "local2"}, {Name: "gone1", LastError: "no such host"}, {Name: "gone2", LastError: "no such host"}} {
		if _, err := c.st.Repositories().New(r); err != nil {
			t.Fatal(err)
		}
	}
	a := c.try(context.Background(), t, search.Settings{}, search.Options{Display: -1}, "(type:file ox) or (type:file yak)", nil)
	var got []string
	for _, s := range a.progress.Skipped {
		got = append(got, s.Title)
		first, second := strings.Index(s.Message, "1`"), strings.Index(s.Message, "2`")
		if first < 0 || second < first {
			t.Errorf("message %q does not name both in order", s.Message)
		}
	}
	if want := []string{"2 missing", "2 cloning", "2 being indexed"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
