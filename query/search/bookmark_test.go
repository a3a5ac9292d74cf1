package search_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
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

// haltingSink yields at random, and takes some of the batch before.
type haltingSink struct {
	rng     *rand.Rand
	matches []query.Match
	halts   int
}

func (s *haltingSink) Send(m []query.Match) error {
	if s.rng.IntN(2) == 0 {
		s.matches = append(s.matches, m...)
		return nil
	}
	n := s.rng.IntN(len(m) + 1)
	s.matches = append(s.matches, m[:n]...)
	s.halts++
	return &answer.YieldError{Delivered: n}
}

// searchHaltingly runs a search until it has ended, and calls between whenever
// it has yielded.
func (c *corpus) searchHaltingly(t *testing.T, rng *rand.Rand, o search.Options, text string, between func()) (answered, int) {
	t.Helper()
	q, err := syntax.Parse(text, query.Keyword)
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	o.Report, o.Bookmark = report.New(time.Now), &search.Bookmark{}
	defer o.Bookmark.Close()
	sink := &haltingSink{rng: rng}
	for {
		out := search.New(c.st, search.Settings{Workers: 1 + rng.IntN(3), Addresses: addressesOf}).Search(context.Background(), q, o, sink)
		var yield *answer.YieldError
		if !errors.As(out.Err, &yield) {
			return answered{matches: sink.matches, outcome: out, results: o.Report}, sink.halts
		}
		if p := o.Report.Progress(); p.Done {
			t.Fatalf("search %q: progress is done although the search yielded", text)
		}
		between()
	}
}

// reported is what an answer says of itself, but for the time that it took.
func (a answered) reported() string {
	p := a.results.Progress()
	p.Took = 0
	return fmt.Sprintf("%+v %+v %+v", p, a.results.Filters(), a.outcome.Alert)
}

// TestYieldsDoNotChangeTheAnswer: a search that yields again and again gives the
// same matches, counts and filters as one that never does.
func TestYieldsDoNotChangeTheAnswer(t *testing.T) {
	cases, halts := 400, 0
	if race.Enabled {
		cases = 60
	}
	check := func(t *testing.T, c *corpus, rng *rand.Rand, o search.Options, text string) {
		t.Helper()
		o.Trace = &report.Trace{}
		want := c.search(t, search.Settings{Addresses: addressesOf}, o, text, query.Keyword)
		wantCoverage, _ := o.Trace.Coverage()
		o.Trace = &report.Trace{}
		got, n := c.searchHaltingly(t, rng, o, text, func() {})
		halts += n
		if got.outcome.Err != nil {
			t.Fatalf("query %q: %v", text, got.outcome.Err)
		}
		if !reflect.DeepEqual(got.matches, want.matches) {
			t.Fatalf("query %q: %d yields change the answer\n%s", text, n, firstDifference(got.full(), want.full()))
		}
		if g, w := got.reported(), want.reported(); g != w {
			t.Fatalf("query %q: after %d yields\n got %s\nwant %s", text, n, g, w)
		}
		// What is verified ahead of a limit depends on workers.
		if got, _ := o.Trace.Coverage(); !strings.Contains(text, "count:") && !reflect.DeepEqual(got, wantCoverage) {
			t.Fatalf("query %q: after %d yields it looked at\n%v, want\n%v", text, n, got, wantCoverage)
		}
	}
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 29))
		c := randomCorpus(t, rng)
		for range cases / 4 {
			text := randomQuery(rng) + []string{"", " count:3", " count:20", " select:repo", " select:file"}[rng.IntN(5)]
			check(t, c, rng, search.Options{Display: []int{-1, 5, 100}[rng.IntN(3)]}, text)
		}
		large := largeCorpus(t, rng)
		for range 10 {
			text := []string{"glaze", "glaze or kiln", "glaze -kiln", "glaze file:7", "glaze (kiln or f1)", "glaze select:file", "case:yes Glaze"}[rng.IntN(7)]
			check(t, large, rng, search.Options{Display: []int{-1, 5, 300}[rng.IntN(3)]}, text+[]string{"", " count:all", " count:250"}[rng.IntN(3)])
		}
		h := randomHistory(t, rng)
		for range cases / 4 {
			check(t, &corpus{st: h.st}, rng, search.Options{Display: -1}, randomCommitQuery(rng)+" count:all")
		}
	}
	if halts < cases {
		t.Errorf("%d searches yielded %d times: that tests little", 2*cases, halts)
	}
}

// largeCorpus has matches for several groups of documents, of many scores.
func largeCorpus(t *testing.T, rng *rand.Rand) *corpus {
	var files []doc
	for i := range 700 {
		text := ""
		for range 1 + rng.IntN(4) {
			text += []string{"glaze\n", "Glaze\n", "kiln glaze()\n", "unglazed\n", "kiln\n"}[rng.IntN(5)]
		}
		path := fmt.Sprintf("f%03d%s", i, []string{".txt", "_test.go", ".go", "/glaze.go"}[rng.IntN(4)])
		files = append(files, doc{repo: []string{"one", "three"}[2*i/700], path: path, text: text, indexed: true})
	}
	return newCorpus(t, 60, nil, files)
}

// pausingSink yields after every batch.
type pausingSink struct{ matches int }

func (s *pausingSink) Send(m []query.Match) error {
	s.matches += len(m)
	return &answer.YieldError{Delivered: len(m)}
}

// TestResumedSearchDoesNotVerifyAgain: a resumed search verifies what comes next,
// neither all that was sent nor what is far ahead.
func TestResumedSearchDoesNotVerifyAgain(t *testing.T) {
	c := largeCorpus(t, rand.New(rand.NewPCG(3, 29)))
	q, err := syntax.Parse("glaze count:all", query.Keyword)
	if err != nil {
		t.Fatal(err)
	}
	bookmark := &search.Bookmark{}
	defer bookmark.Close()
	sink := &pausingSink{}
	results := report.New(time.Now)
	var verified []int
	for more := true; more; {
		trace := &report.Trace{}
		out := search.New(c.st, search.Settings{Workers: 2}).Search(t.Context(), q, search.Options{Display: -1, Report: results, Bookmark: bookmark, Trace: trace}, sink)
		var yield *answer.YieldError
		more = errors.As(out.Err, &yield)
		for _, s := range trace.Steps() {
			for _, f := range s.Fields {
				if n, err := strconv.Atoi(f.Value); s.Name == "verify" && f.Key == "documents" && err == nil {
					verified = append(verified, n)
				}
			}
		}
	}
	if sink.matches < 500 || len(verified) < 8 {
		t.Fatalf("%d matches in %d runs, want hundreds in many", sink.matches, len(verified))
	}
	// A run goes to the end of the group at hand and through the next: the largest
	// two have 436 documents.
	for run, n := range verified[1:] {
		if n > 500 {
			t.Errorf("run %d verified %d documents of 700; by run: %v", run+2, n, verified)
		}
	}
	if last := verified[len(verified)-1]; last > 200 {
		t.Errorf("the last run verified %d documents; by run: %v", last, verified)
	}
}

// TestYieldedSearchSeesOneMoment: what is deleted while a search has yielded is
// still found by it.
func TestYieldedSearchSeesOneMoment(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 29))
	var files []doc
	for i := range 300 {
		files = append(files, doc{repo: "three", path: fmt.Sprintf("f%03d.txt", i), text: "glaze\n", indexed: true})
	}
	c := newCorpus(t, 30, nil, files)
	want := c.search(t, search.Settings{}, search.Options{}, "glaze", query.Keyword)
	deleted := false
	got, halts := c.searchHaltingly(t, rng, search.Options{Display: -1}, "glaze", func() {
		if deleted {
			return
		}
		deleted = true
		repo := *c.repos["three"]
		change := store.Change{Drop: repo.Shards}
		repo.Shards, repo.Documents = nil, 0
		change.Repositories = []*store.Repository{&repo}
		if err := c.st.Commit(change); err != nil {
			t.Fatal(err)
		}
	})
	if g, w := got.full(), want.full(); halts == 0 || !slices.Equal(g, w) {
		t.Errorf("a search that yielded %d times, during which its repository was emptied\n%s", halts, firstDifference(g, w))
	}
	if after := c.search(t, search.Settings{}, search.Options{}, "glaze", query.Keyword); len(after.matches) > 0 {
		t.Errorf("a search afterwards finds %d matches in what was emptied", len(after.matches))
	}
}
