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

// suggested prints the filters of some kinds that matches lead to.
func suggested(matches []query.Match, kinds ...query.FilterKind) []string {
	r := report.New(func() time.Time { return filtersNow })
	r.Add(matches)
	var got []string
	for _, f := range r.Filters() {
		if slices.Contains(kinds, f.Kind) {
			got = append(got, fmt.Sprintf("%s %s %d", f.Value, f.Label, f.Count))
		}
	}
	return got
}

func checkSuggested(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got\n  %s\nwant\n  %s", what, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// Every filter of kind file, as it is written in a query.
func TestEveryFileFilter(t *testing.T) {
	for path, want := range map[string]string{
		"a_test.go":         `-file:_test\.\w+$ Exclude _test.* 2`,
		"a.test.js":         `-file:\.test\.\w+$ Exclude .test.* 2`,
		"vendor/a":          `-file:(^|/)vendor/ Exclude vendor 2`,
		"a/third-party/a":   `-file:(^|/)third[_\-]?party/ Exclude third party 2`,
		"node_modules/a.js": `-file:(^|/)node_modules/ Exclude node_modules 2`,
		"a.min.js":          `-file:\.min\.js$ Exclude minified JavaScript 2`,
		"a.js.map":          `-file:\.js\.map$ Exclude JavaScript maps 2`,
		"a_spec.rb":         `-file:_spec\.rb$ Exclude Ruby tests 2`,
	} {
		checkSuggested(t, path, suggested([]query.Match{file(kiln, path, "", 2)}, "file"), []string{want})
	}
}

// Every type that one file can count for, and kinds of symbols by their words.
func TestSuggestedTypesOfAFile(t *testing.T) {
	symbols := func(m *query.FileMatch, kinds ...query.SymbolKind) *query.FileMatch {
		for _, k := range kinds {
			m.Symbols = append(m.Symbols, query.Symbol{Name: "x", Kind: k})
		}
		return m
	}
	for _, tt := range []struct {
		name  string
		match *query.FileMatch
		want  []string
	}{
		{"content", file(kiln, "a", "", 3), []string{"type:file Code 3"}},
		{"path", file(kiln, "a", "", 0), []string{"type:path Paths 1"}},
		{"path with ranges", withPath(file(kiln, "a", "", 0), 2), []string{"type:path Paths 1"}},
		{"content, and ranges in the path", withPath(file(kiln, "a", "", 3), 2), []string{"type:file Code 3", "type:path Paths 1"}},
		{"symbols", symbols(&query.FileMatch{Repo: kiln, Path: "a"}, "enum-member", "type-parameter", "class", "class", ""), []string{
			"type:symbol Symbols 5", "select:symbol.class Class 2", "select:symbol.enum-member EnumMember 1", "select:symbol.type-parameter TypeParameter 1",
		}},
		{"all", symbols(withPath(file(kiln, "a", "", 3), 2), "function"), []string{
			"type:file Code 3", "type:path Paths 1", "type:symbol Symbols 1", "select:symbol.function Function 1",
		}},
	} {
		checkSuggested(t, tt.name, suggested([]query.Match{tt.match}, "type", "symbol type"), tt.want)
	}
}

// Owners count for no filter.
func TestOwnersSuggestNothing(t *testing.T) {
	r := newResults()
	r.Add([]query.Match{&query.OwnerMatch{Repo: kiln, Handle: "ada"}, &query.OwnerMatch{Repo: kiln, Email: "bo@example.org"}})
	r.Finish(true)
	if f, p := r.Filters(), r.Progress(); len(f) != 0 || p.Matches != 2 || p.Repositories != 1 {
		t.Errorf("got filters %+v, %d matches in %d repositories; want none, 2 in 1", f, p.Matches, p.Repositories)
	}
}

// Of all filters but those of repositories, 1000 are sent: types and utilities
// first, whatever they count.
func TestOtherFiltersAreBounded(t *testing.T) {
	matches := []query.Match{&query.RepoMatch{Repo: kiln}}
	for i := range 2 * 550 {
		for range 1 + i%2 {
			matches = append(matches, commit(kiln, fmt.Sprintf("A%04d", i), 0, 1))
		}
	}
	r := report.New(func() time.Time { return filtersNow })
	r.Add(matches)
	r.Exclude(1, 0)
	var kinds []query.FilterKind
	repositories := 0
	var counts []int
	for _, f := range r.Filters() {
		switch f.Kind {
		case "repo":
			repositories++
		case "author":
			counts = append(counts, f.Count)
			fallthrough
		default:
			kinds = append(kinds, f.Kind)
		}
	}
	if len(kinds) != 1000 || repositories != 1 {
		t.Errorf("got %d filters and %d of repositories, want 1000 and 1", len(kinds), repositories)
	}
	if want := []query.FilterKind{"type", "utility", "type", "commit date"}; !slices.Equal(kinds[:4], want) {
		t.Errorf("first filters are of kinds %v, want %v", kinds[:4], want)
	}
	for i, n := range counts {
		if frequent := i < 550; frequent != (n == 2) {
			t.Fatalf("author %d has count %d: the 550 with 2 come first", i, n)
		}
	}
}
