package search_test

import (
	"fmt"
	"math/rand/v2"
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
	"github.com/trawlsearch/trawl/store/shard"
)

// facetTotals are what an answer has of what facets count.
type facetTotals struct{ files, commits, commitMatches, repositories int }

func totalsOf(a answered) (n facetTotals) {
	for _, m := range a.matches {
		switch m := m.(type) {
		case *query.FileMatch:
			n.files += m.Count()
		case *query.CommitMatch:
			n.commits++
			n.commitMatches += m.Count()
		case *query.RepoMatch:
			n.repositories++
		}
	}
	return n
}

// followFacets adds suggested filters to the query that they were suggested for,
// one at a time, and wants what they count: just that, or at least that if
// the count is a lower bound. only, if not negative, is the one to follow.
func followFacets(t testing.TB, ask func(text string) answered, text string, only int) (wrong string) {
	t.Helper()
	a := ask(text)
	was := totalsOf(a)
	for i, f := range a.results.Filters() {
		if only >= 0 && i != only%len(a.results.Filters()) || f.Kind == "utility" {
			continue
		}
		followed := syntax.Narrowed(text, f.Value)
		if _, err := syntax.Parse(followed, query.Keyword); err != nil {
			return fmt.Sprintf("query %q, %s %s: %v", text, f.Kind, f.Value, err)
		}
		is := totalsOf(ask(followed))
		got, want := is.files+is.commitMatches, f.Count
		switch {
		case f.Kind == "file": // which excludes
			got, want = is.files, was.files-f.Count
		case f.Kind == "author", f.Kind == "commit date":
			got = is.commits
		case f.Value == "type:repo":
			got = is.repositories
		}
		if got != want && (f.Exhaustive || got < want) {
			return fmt.Sprintf("query %q: %s %s counts %d (exhaustive: %t), following it gives %d, want %d", text, f.Kind, f.Value, f.Count, f.Exhaustive, got, want)
		}
	}
	return ""
}

// asks returns what asks c at a moment, as one server that is asked again and again.
func (c *corpus) asks(t testing.TB, s search.Settings, now time.Time) func(text string) answered {
	s.Now = func() time.Time { return now }
	searcher := search.New(c.st, s)
	return func(text string) answered {
		q, err := syntax.Parse(text, query.Keyword)
		if err != nil {
			t.Fatalf("parse %q: %v", text, err)
		}
		a := answered{results: report.New(s.Now)}
		a.outcome = searcher.Search(t.Context(), q, search.Options{Display: -1, Report: a.results}, answer.SinkFunc(func(m []query.Match) error {
			a.matches = append(a.matches, m...)
			return nil
		}))
		if a.outcome.Err != nil {
			t.Fatalf("search %q: %v", text, a.outcome.Err)
		}
		a.results.Finish(true)
		return a
	}
}

// facetNow is behind the newest commit of randomHistory.
var facetNow = time.Unix(1_700_000_000, 0).Add(time.Hour)

// TestFacetsAreFollowed follows every facet of every kind.
func TestFacetsAreFollowed(t *testing.T) {
	seeds, rounds := uint64(4), 25
	switch {
	case race.Enabled: // two seeds of 25 rounds take 50 s; make oracle follows all without it
		seeds, rounds = 2, 5
	case testing.Short():
		seeds = 2
	}
	kinds := map[query.FilterKind]int{}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 41))
		files := randomCorpus(t, rng)
		history := randomHistory(t, rng)
		repos := []*gitRepo{randomRepo(t, rng, "example.org/one"), randomRepo(t, rng, "my stuff")}
		revisions := revisionCorpus(t, repos, "w1")
		for range rounds {
			for _, o := range []struct {
				c    *corpus
				text string
			}{
				{files, randomQuery(rng) + " count:all"},
				{files, randomQuery(rng) + fmt.Sprintf(" count:%d", 1+rng.IntN(20))},
				{files, "type:symbol count:all " + []string{"foo", "k", "/./", "file:go$", "bar file:src"}[rng.IntN(5)]},
				{files, randomTrailing(rng) + " count:all"},
				{files, randomOperands(rng) + " count:all"},
				{history.corpus, randomCommitQuery(rng) + " count:all"},
				{revisions, "repo:.@" + []string{"w1", "w1:v1", "*refs/heads/*", "main~1"}[rng.IntN(4)] + " count:all type:file foo"},
				{revisions, "repo:. rev:" + []string{"w1", "w1:v1", "*refs/tags/*", "at.time(2030-01-01)"}[rng.IntN(4)] + " count:all foo"},
			} {
				ask := o.c.asks(t, search.Settings{Addresses: addressesOf}, facetNow)
				for _, f := range ask(o.text).results.Filters() {
					kinds[f.Kind]++
				}
				if wrong := followFacets(t, ask, o.text, -1); wrong != "" {
					t.Fatalf("seed %d: %s", seed, wrong)
				}
			}
		}
	}
	for _, kind := range []query.FilterKind{"repo", "lang", "file", "type", "symbol type", "author", "commit date"} {
		if kinds[kind] == 0 {
			t.Errorf("no facet of kind %s was followed", kind)
		}
	}
}

// randomTrailing draws an "or" with filters at its end.
func randomTrailing(rng *rand.Rand) string {
	text := randomExpression(rng, 0) + " or " + randomExpression(rng, 0)
	for range rng.IntN(3) {
		text += " " + []string{"file:src", "repo:one", "case:yes", "-file:foo", "lang:go"}[rng.IntN(5)]
		if strings.Count(text, "case:yes") > 1 {
			text = strings.TrimSuffix(text, " case:yes")
		}
	}
	return text
}

// randomOperands draws an "or" whose operands have filters, and settings of the
// whole between them.
func randomOperands(rng *rand.Rand) string {
	var operands []string
	setting := rng.IntN(4)
	for i := range 2 + rng.IntN(2) {
		text := randomExpression(rng, rng.IntN(2))
		filter := []string{"file:src", "repo:one", "-file:foo", "lang:go", "repo:two"}[rng.IntN(5)]
		switch rng.IntN(3) {
		case 0:
			text = filter + " " + text
		case 1:
			text += " " + filter
		}
		if i == setting {
			text += " case:yes"
		}
		operands = append(operands, text)
	}
	return strings.Join(operands, " or ")
}

// TestUtilityFacetsAreFollowed: what was left out by default is searched.
func TestUtilityFacetsAreFollowed(t *testing.T) {
	c := newCorpus(t, 1000, map[string]store.Repository{"f": {Fork: true}, "a": {Archived: true}},
		[]doc{{repo: "f", path: "x", text: "ox\n"}, {repo: "a", path: "x", text: "ox\n"}, {repo: "r", path: "x", text: "ox\n"}})
	ask := c.asks(t, search.Settings{}, facetNow)
	for _, f := range ask("ox").results.Filters() {
		if f.Kind == "utility" {
			if got := totalsOf(ask("ox " + f.Value)).files; got != 1+f.Count {
				t.Errorf("%s counts %d, following it gives %d files", f.Value, f.Count, got)
			}
		}
	}
}

// TestLastWeekLeadsToLastWeek: dates count the commits that they select.
func TestLastWeekLeadsToLastWeek(t *testing.T) {
	day := int64(24 * 3600)
	var made []madeCommit
	for i, age := range []int64{1, 3, 20, 40, 400} {
		at := facetNow.Unix() - age*day + 7200
		m := madeCommit{repo: "r", message: fmt.Sprint("ox ", i)}
		sign := shard.Signature{Person: testPeople[0], Seconds: at}
		m.Commit = shard.Commit{Author: sign, Committer: sign, Effective: at, State: shard.CommitRead}
		made = append(made, m)
	}
	c := newHistoryCorpus(t, 100, rand.New(rand.NewPCG(1, 1)), made, nil)
	ask := c.asks(t, search.Settings{}, facetNow)
	got := ""
	for _, f := range ask("type:commit ox").results.Filters() {
		if f.Kind == "commit date" {
			got += fmt.Sprintf("%s %d; ", f.Label, f.Count)
		}
	}
	if want := "Last month 3; Last week 2; Last 24 hours 1; Older than 2 months 1; "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if wrong := followFacets(t, ask, "type:commit ox", -1); wrong != "" {
		t.Error(wrong)
	}
}
