package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
)

// reported is everything that a search tells, in no order of documents, and what
// its trace tells, without times.
func reported(t *testing.T, c *corpus, visible func(*store.Repository) bool, text string) (answer, trace string) {
	t.Helper()
	tr := &report.Trace{}
	a := c.search(t, search.Settings{Workers: 1}, search.Options{Visible: visible, Trace: tr}, text, query.Keyword)
	out := a.lines()
	slices.Sort(out)
	for _, f := range a.results.Filters() {
		out = append(out, fmt.Sprintf("filter %s %s %d %t", f.Value, f.Label, f.Count, f.Exhaustive))
	}
	p := a.results.Progress()
	out = append(out, fmt.Sprintf("%d matches in %d repositories", p.Matches, p.Repositories))
	for _, s := range p.Skipped {
		out = append(out, fmt.Sprintf("skipped %+v", s))
	}
	if a.outcome.Alert != nil {
		out = append(out, fmt.Sprintf("alert %+v", *a.outcome.Alert))
	}
	var steps []string
	for _, s := range tr.Steps() {
		steps = append(steps, fmt.Sprintf("%s %v", s.Name, s.Fields))
	}
	steps = append(steps, tellCoverage(tr))
	slices.Sort(steps)
	return strings.Join(out, "\n"), strings.Join(steps, "\n")
}

// TestVisible: a client that may not see a repository is answered as if it were not
// there, and the trace of their search is the same whatever the repository
// holds.
func TestVisible(t *testing.T) {
	cases := 8
	if race.Enabled || testing.Short() {
		cases = 2
	}
	for seed := range uint64(cases) {
		rng := rand.New(rand.NewPCG(seed, 3))
		c := randomCorpus(t, rng)
		hidden := []string{"example.org/one", "example.org/two", "three"}[rng.IntN(3)]
		visible := func(r *store.Repository) bool { return r.Name != hidden }
		var without, other []doc
		for i, f := range c.files {
			if f.repo != hidden {
				without = append(without, f)
			} else {
				f.path = strings.Repeat("z", len(f.path)-2) + fmt.Sprintf("%02d", i)
				f.text = strings.Repeat("z", len(f.text))
			}
			other = append(other, f)
		}
		if len(without) == len(c.files) {
			continue
		}
		gone := newCorpus(t, 1000, nil, without)
		// Blocks of 1000 hold all documents, so that every shard is shared.
		one, two := newCorpus(t, 1000, nil, c.files), newCorpus(t, 1000, nil, other)
		queries := []string{"count:all type:symbol foo", "count:all type:repo example", "count:all repo:three", "count:all repo:^" + hidden + "$ foo",
			"count:all repo:has.path(src)", "count:all repo:" + hidden + " type:repo three", "fork:only foo", "count:1 foo", "type:repo nothing", "repo:nothing x"}
		for range 60 {
			queries = append(queries, "count:all "+randomQuery(rng))
		}
		for _, text := range queries {
			got, trace := reported(t, one, visible, text)
			if want, _ := reported(t, gone, nil, text); got != want && text != "count:1 foo" { // which one is first depends on the shards
				t.Errorf("seed %d, without %s: query %q\ngot\n%s\nwant\n%s", seed, hidden, text, got, want)
			}
			otherwise, otherTrace := reported(t, two, visible, text)
			if got != otherwise || trace != otherTrace {
				t.Fatalf("seed %d, without %s: query %q tells what is hidden\n%s\n%s\nand with other contents\n%s\n%s", seed, hidden, text, got, trace, otherwise, otherTrace)
			}
		}
	}
}

// Nobody who may see nothing learns that there is anything.
func TestVisibleNothing(t *testing.T) {
	c := newCorpus(t, 1000, map[string]store.Repository{"fork": {Fork: true}}, []doc{{repo: "kiln", path: "a", text: "glaze"}, {repo: "fork", path: "a", text: "glaze"}})
	if _, err := c.st.Repositories().New(store.Repository{Name: "cloning"}); err != nil {
		t.Fatal(err)
	}
	empty, err := store.Open("data", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	nothing := &corpus{st: empty}
	defer nothing.close(t)
	none := func(*store.Repository) bool { return false }
	for _, text := range []string{"glaze", "repo:kiln glaze", "type:repo kiln", "repo:cloning x", "repo:kiln@v2 glaze", "type:symbol glaze", "repo:has.content(glaze)"} {
		if _, err := syntax.Parse(text, query.Keyword); err != nil {
			t.Fatal(err)
		}
		got, trace := reported(t, c, none, text)
		want, wantTrace := reported(t, nothing, none, text)
		if got != want || trace != wantTrace {
			t.Errorf("query %q\ngot\n%s\n%s\nwant what an empty store tells\n%s\n%s", text, got, trace, want, wantTrace)
		}
	}
}
