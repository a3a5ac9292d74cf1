package search_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/syntax"
)

// contextsOf stand for filters as a query writes them; several are alternatives.
func contextsOf(name string) ([][]query.Filter, error) {
	repo := func(value string) query.Filter { return query.Filter{Field: "repo", Value: value} }
	switch name {
	case "foo":
		return [][]query.Filter{{repo("acme/foo")}}, nil
	case "all-foo":
		return [][]query.Filter{{repo("acme/foo"), {Field: "fork", Value: "yes"}, {Field: "archived", Value: "yes"}}}, nil
	case "two":
		return [][]query.Filter{{repo("^example.org/acme/bar$")}, {repo("^example.org/acme/foo$")}}, nil
	case "go":
		return [][]query.Filter{{{Field: "lang", Value: "go"}, {Field: "file", Value: "test", Negated: true}}}, nil
	case "broken":
		return nil, errors.New("broken")
	}
	return nil, nil
}

// TestContexts: a search context stands for its filters; what the query says goes first.
func TestContexts(t *testing.T) {
	c := smallCorpus(t)
	o := search.Options{Display: -1, Contexts: contextsOf}
	for _, tt := range [][2]string{
		{"context:foo bar", "repo:acme/foo bar"},
		{"context:all-foo foo", "repo:acme/foo fork:yes archived:yes foo"},
		{"context:all-foo fork:no foo", "repo:acme/foo fork:no archived:yes foo"},
		{"context:two build or bar", "(repo:^example.org/acme/bar$ or repo:^example.org/acme/foo$) (build or bar)"},
		{"context:go bar", "lang:go -file:test bar"},
		{"context:global bar", "bar"},
		{"(context:go bar) or (context:two build)", "(lang:go -file:test bar) or (repo:^example.org/acme/bar$ build) or (repo:^example.org/acme/foo$ build)"},
		{"context:foo type:repo", "repo:acme/foo type:repo"},
		{"context:foo repo:bar x", "repo:acme/foo repo:bar x"},
	} {
		got, want := c.search(t, search.Settings{}, o, tt[0], query.Keyword), c.search(t, search.Settings{}, o, tt[1], query.Keyword)
		if got.outcome.Err != nil || !reflect.DeepEqual(got.full(), want.full()) {
			t.Errorf("%q, %v:\n%s", tt[0], got.outcome.Err, firstDifference(got.full(), want.full()))
		}
	}
	var missing *query.ContextError
	for text, contexts := range map[string]func(string) ([][]query.Filter, error){"context:nowhere bar": contextsOf, "context:broken bar": contextsOf, "context:foo bar": nil} {
		q, err := syntax.Parse(text, query.Keyword)
		if err != nil {
			t.Fatal(err)
		}
		out := search.New(c.st, search.Settings{}).Search(t.Context(), q, search.Options{Contexts: contexts}, answer.SinkFunc(func([]query.Match) error { return nil }))
		if out.Err == nil || errors.As(out.Err, &missing) == (text == "context:broken bar") {
			t.Errorf("%q: %v", text, out.Err)
		}
	}
	a := c.search(t, search.Settings{}, o, "context:foo repo:nowhere x", query.Keyword).outcome.Alert
	if a == nil || a.Title != "No repositories found for your query within the context foo" || len(a.Proposed) != 1 || a.Proposed[0].Query != "context:global repo:nowhere x patternType:keyword" {
		t.Errorf("nothing in the context: %+v", a)
	}
}

// A search that yields goes on in the context that it began in, whatever became of that.
func TestContextStaysWhileASearchYields(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	c := largeCorpus(t, rng)
	now := [][]query.Filter{{{Field: "file", Value: "7"}}}
	o := search.Options{Display: -1, Contexts: func(string) ([][]query.Filter, error) { return now, nil }}
	want := c.search(t, search.Settings{}, o, "context:x glaze count:all", query.Keyword)
	got, halts := c.searchHaltingly(t, rng, o, "context:x glaze count:all", func() { now = nil })
	if got.outcome.Err != nil || halts == 0 || !reflect.DeepEqual(got.full(), want.full()) {
		t.Errorf("after %d yields, %v:\n%s", halts, got.outcome.Err, firstDifference(got.full(), want.full()))
	}
}
