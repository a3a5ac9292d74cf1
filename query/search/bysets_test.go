package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
)

// mixedCorpus is a random corpus with more repositories: forks, archived ones, some
// with readers and some without a generation.
func mixedCorpus(t *testing.T, rng *rand.Rand) *corpus {
	t.Helper()
	facts := map[string]store.Repository{}
	var files []doc
	for i := range 80 + rng.IntN(40) {
		name := fmt.Sprintf("%s/r%d", []string{"example.org", "kiln.example", "Foo"}[rng.IntN(3)], i)
		r := store.Repository{Fork: rng.IntN(3) == 0, Archived: rng.IntN(3) == 0, Private: rng.IntN(4) == 0, Stars: rng.IntN(3)}
		if rng.IntN(4) == 0 {
			r.Readers = &store.Readers{Users: []uint32{1}}
		}
		facts[name] = r
		for n := range rng.IntN(3) + 1 {
			files = append(files, doc{repo: name, path: fmt.Sprintf("src/f%d.go", n), text: []string{"foo", "bar", "foo bar", "baz"}[rng.IntN(4)], dead: rng.IntN(9) == 0})
		}
	}
	c := newCorpus(t, 4+rng.IntN(20), facts, files)
	for i, r := range []store.Repository{{LastError: "gone"}, {Mirror: true}, {}, {Fork: true}, {Archived: true, Mirror: true}, {Readers: &store.Readers{}}} {
		r.Name = fmt.Sprintf("foo/later%d", i)
		if _, err := c.st.Repositories().New(r); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// TestBySets: a query whose repositories are chosen by sets is answered as one that
// selects every description, for which each repository is looked at.
func TestBySets(t *testing.T) {
	seeds := 20
	if race.Enabled || testing.Short() {
		seeds = 5
	}
	public := func(r *store.Repository) bool { return r.Readers == nil }
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 77))
		c := mixedCorpus(t, rng)
		for range 60 {
			text := []string{"foo", "bar", "absent", "foo or bar", "later", "kiln", "type:repo kiln", "type:repo not foo", "not foo", "type:path f1", "type:symbol foo",
				"select:repo foo", "repo:r1 (foo or bar)", "f1 or (repo:has.path(f0) f1)", "(count:1 foo) or bar", "/f.o/ -file:f1", "(fork:yes foo) or (archived:yes bar)",
				"(fork:yes foo) or (-repo:r2 bar)", "type:commit foo"}[rng.IntN(19)]
			for _, filter := range []string{"fork:yes", "fork:no", "fork:only", "archived:yes", "archived:no", "archived:only", "-repo:foo", "-repo:^kiln", "-repo:r1$", "count:1", "count:all",
				"visibility:any", "index:only", "timeout:30s"} {
				if field, _, _ := strings.Cut(filter, ":"); rng.IntN(6) == 0 && !strings.Contains(text, strings.TrimPrefix(field, "-")+":") {
					text = filter + " (" + text + ")"
				}
			}
			o := search.Options{}
			switch rng.IntN(4) {
			case 0:
				o.Visible = public
			case 1, 2:
				o.Visible, o.PublicVisible = public, true
			}
			got := wholeReport(t, c, o, "("+text+")")
			o.PublicVisible = false
			if want := wholeReport(t, c, o, "repo:has.description(x*) ("+text+")"); got != want {
				t.Fatalf("seed %d, visible %t: query %q\ngot\n%s\nwant\n%s", seed, o.Visible != nil, text, got, want)
			}
		}
	}
}

// wholeReport is all that a search tells, but for its own text and times.
func wholeReport(t *testing.T, c *corpus, o search.Options, text string) string {
	t.Helper()
	o.Trace = &report.Trace{}
	a := c.search(t, search.Settings{Workers: 1, Now: func() time.Time { return time.Unix(1e9, 0) }}, o, text, query.Keyword)
	out := a.lines()
	for _, f := range a.results.Filters() {
		out = append(out, fmt.Sprintf("filter %s %s %d %t", f.Value, f.Label, f.Count, f.Exhaustive))
	}
	p := a.results.Progress()
	out = append(out, fmt.Sprintf("%d matches in %d repositories", p.Matches, p.Repositories))
	for _, s := range p.Skipped {
		out = append(out, fmt.Sprintf("skipped %+v", s))
	}
	if a.outcome.Alert != nil {
		out = append(out, a.outcome.Alert.Title)
	}
	for _, s := range o.Trace.Steps() {
		if !strings.HasPrefix(s.Name, "compile query") {
			out = append(out, fmt.Sprintf("%s %v", s.Name, s.Fields))
		}
	}
	return strings.Join(slices.Concat(out, []string{tellCoverage(o.Trace)}), "\n")
}

// TestLeftOutAtARevision: to include forks is proposed only if one would pass at the revision
// that the query names, whatever it has at its default branch.
func TestLeftOutAtARevision(t *testing.T) {
	facts, files := map[string]store.Repository{}, []doc(nil)
	for i := range 200 {
		name := fmt.Sprintf("r%d", i)
		facts[name] = store.Repository{Fork: i%2 == 0}
		files = append(files, doc{repo: name, path: []string{"base/a.go", "a.go"}[i%2], text: "foo"})
	}
	c := newCorpus(t, 50, facts, files)
	var change store.Change
	sn := c.st.Snapshot()
	for _, stored := range sn.Repositories() {
		if r := *stored; !r.Fork {
			r.Branches = append(slices.Clip(r.Branches), store.Branch{Name: "trunk", Commit: strings.Repeat("c", 40)})
			change.Repositories = append(change.Repositories, &r)
		}
	}
	if err := sn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.st.Commit(change); err != nil {
		t.Fatal(err)
	}
	for rev, want := range map[string]bool{"main": true, "HEAD": true, "trunk": false} {
		a := c.search(t, search.Settings{}, search.Options{}, "repo:.@"+rev+" repo:has.path(^base/) foo", query.Keyword)
		proposed := a.outcome.Alert != nil && len(a.outcome.Alert.Proposed) > 0
		if proposed != want || len(a.matches) > 0 {
			t.Errorf("%s: got %d matches and %+v, want a proposal: %t", rev, len(a.matches), a.outcome.Alert, want)
		}
	}
}
