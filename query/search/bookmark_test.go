package search_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
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
	return &search.YieldError{Taken: n}
}

// searchHaltingly runs a search until it has ended, and calls between whenever
// it has yielded.
func (c *corpus) searchHaltingly(t *testing.T, rng *rand.Rand, o search.Options, text string, between func()) (answer, int) {
	t.Helper()
	q, err := syntax.Parse(text, query.Keyword)
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	o.Results, o.Bookmark = search.NewResults(time.Now), &search.Bookmark{}
	defer o.Bookmark.Close()
	sink := &haltingSink{rng: rng}
	for {
		out := search.New(c.st, search.Settings{Workers: 1 + rng.IntN(3), Addresses: addressesOf}).Search(context.Background(), q, o, sink)
		var yield *search.YieldError
		if !errors.As(out.Err, &yield) {
			return answer{matches: sink.matches, outcome: out, results: o.Results}, sink.halts
		}
		if p := o.Results.Progress(); p.Done {
			t.Fatalf("search %q: progress is done although the search yielded", text)
		}
		between()
	}
}

// told is what an answer says of itself, but for the time that it took.
func (a answer) told() string {
	p := a.results.Progress()
	p.Took = 0
	return fmt.Sprintf("%+v %+v %+v", p, a.results.Filters(), a.outcome.Alert)
}

// TestYieldsDoNotChangeTheAnswer: a search that yields again and again gives the
// same matches, counts and filters as one that never does.
func TestYieldsDoNotChangeTheAnswer(t *testing.T) {
	cases, halts := 400, 0
	if raceEnabled {
		cases = 60
	}
	check := func(t *testing.T, c *corpus, rng *rand.Rand, o search.Options, text string) {
		t.Helper()
		want := c.search(t, search.Settings{Addresses: addressesOf}, o, text, query.Keyword)
		got, n := c.searchHaltingly(t, rng, o, text, func() {})
		halts += n
		if got.outcome.Err != nil {
			t.Fatalf("query %q: %v", text, got.outcome.Err)
		}
		if !reflect.DeepEqual(got.matches, want.matches) {
			t.Fatalf("query %q: %d yields change the answer\n%s", text, n, firstDifference(got.full(), want.full()))
		}
		if g, w := got.told(), want.told(); g != w {
			t.Fatalf("query %q: after %d yields\n got %s\nwant %s", text, n, g, w)
		}
	}
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 29))
		c := randomCorpus(t, rng)
		for range cases / 4 {
			text := randomQuery(rng) + []string{"", " count:3", " count:20", " select:repo", " select:file"}[rng.IntN(5)]
			check(t, c, rng, search.Options{Display: []int{-1, 5, 100}[rng.IntN(3)]}, text)
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
