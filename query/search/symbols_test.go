package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store/shard"
)

// definition finds the few definitions that test documents have: a stand-in
// for the parsers, which store/ingest runs.
var definition = regexp.MustCompile(`(?m)^\t?(package|func|type|const|build)\b:? ?([A-Za-z0-9_ſK]*)`)

func definitions(text string) []shard.Symbol {
	var out []shard.Symbol
	container := ""
	for _, loc := range definition.FindAllStringSubmatchIndex(text, -1) {
		s := shard.Symbol{Kind: text[loc[2]:loc[3]], Name: text[loc[4]:loc[5]], Container: container, Language: "Test",
			Line: uint32(1 + strings.Count(text[:loc[0]], "\n")), Column: uint32(loc[4] - loc[0])}
		if s.Kind == "build" {
			s.Kind, s.Name, s.Column = "target", "build", 0
		}
		if s.Kind == "package" {
			container = s.Name
		}
		out = append(out, s)
	}
	return out
}

// symbols writes the symbols of all shards.
func (c *corpus) symbols(t testing.TB) {
	t.Helper()
	sn := c.st.Snapshot()
	defer sn.Close()
	for _, v := range sn.Shards() {
		c.symbolsOf(t, v)
	}
}

func (c *corpus) symbolsOf(t testing.TB, v shard.View) {
	t.Helper()
	w := c.st.NewSymbolWriter()
	defer w.Close()
	docs, err := v.Documents()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Begin(v); err != nil {
		t.Fatal(err)
	}
	text := v.Text()
	defer text.Close()
	for i := range docs.Len() {
		b, err := text.Slice(docs.TextStart[i], docs.TextStart[i+1])
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(uint16(i), definitions(string(b))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Seal(); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(context.Background(), shard.SymbolCounts{Documents: docs.Len()}); err != nil {
		t.Fatal(err)
	}
}

// symbolCorpus are small documents in many shards.
func symbolCorpus(t testing.TB, rng *rand.Rand) *corpus {
	t.Helper()
	words := []string{"kiln", "Kiln", "fire", "Fire", "fireKiln", "glaze", "GLAZE", "mas\u017f", "x", "k9", "\u212Ailn", ""}
	var docs []doc
	for i := range 60 {
		text := "package p\n"
		for range rng.IntN(6) {
			text += []string{"func ", "type ", "const ", "// ", "\tfunc "}[rng.IntN(5)] + words[rng.IntN(len(words))] + words[rng.IntN(len(words))] + "\n"
		}
		docs = append(docs, doc{repo: fmt.Sprint("r", i%3), path: fmt.Sprintf("d%d/f%d.go", i%4, i), text: text, dead: i%17 == 3})
	}
	return newCorpus(t, 9, nil, docs)
}

// found searches and returns what it finds, in order, and the account.
func (c *corpus) found(t testing.TB, set search.Settings, text string) ([]query.Match, *report.Report) {
	t.Helper()
	q, err := syntax.Parse(text, query.Keyword)
	if err != nil {
		t.Fatal(err)
	}
	var out []query.Match
	results := report.New(time.Now)
	outcome := search.New(c.st, set).Search(context.Background(), q, search.Options{Display: -1, Report: results},
		answer.SinkFunc(func(m []query.Match) error { out = append(out, m...); return nil }))
	if outcome.Err != nil {
		t.Fatalf("%s: %v", text, outcome.Err)
	}
	return out, results
}

func tellAll(matches []query.Match) []string {
	var out []string
	for _, m := range matches {
		out = append(out, tellMatch(m))
	}
	return out
}

// The lists lose nothing: answers are those of reading every symbol, order
// included, and those of Go's regexp on the names.
func TestSymbolOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	c := symbolCorpus(t, rng)
	c.symbols(t)
	patterns := []string{"fire", "kiln", "k", "ki", "ilnf", "/^fire$/", "/^Fire/", "/kiln$/", "/fire.*kiln/", "/(fire|glaze)kiln/", "mass", "MASS", "p", "/x?/", "nosuch", "k9"}
	for range 300 {
		parts := []string{"type:symbol count:all"}
		if rng.IntN(3) == 0 {
			parts = append(parts, "case:yes")
		}
		if rng.IntN(4) == 0 {
			parts = append(parts, []string{"file:d1", "-file:d2", "repo:r1", "lang:go", "select:symbol.function", "file:has.content(glaze)"}[rng.IntN(6)])
		}
		for i := range 1 + rng.IntN(2) {
			if i > 0 && rng.IntN(2) == 0 {
				parts = append(parts, "not")
			}
			parts = append(parts, patterns[rng.IntN(len(patterns))])
		}
		text := strings.Join(parts, " ")
		got, _ := c.found(t, search.Settings{}, text)
		want, _ := c.found(t, search.Settings{Brute: true, Workers: 1}, text)
		if !slices.Equal(tellAll(got), tellAll(want)) {
			t.Errorf("%s:\ngot  %q\nwant %q", text, tellAll(got), tellAll(want))
		}
	}
	for _, p := range patterns {
		re := regexp.MustCompile("(?i)" + strings.Trim(p, "/"))
		var got, want []string
		matches, _ := c.found(t, search.Settings{}, "type:symbol count:all "+p)
		for _, m := range matches {
			for _, s := range m.(*query.FileMatch).Symbols {
				got = append(got, fmt.Sprintf("%s %s:%d %s", m.In().Name, m.(*query.FileMatch).Path, s.Line, s.Name))
			}
		}
		for _, f := range c.files {
			for _, s := range definitions(f.text) {
				if !f.dead && re.MatchString(s.Name) {
					want = append(want, fmt.Sprintf("%s %s:%d %s", f.repo, f.path, s.Line, s.Name))
				}
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", p, got, want)
		}
	}
}

// Shards without symbols are reported, and those that have them are searched.
func TestSymbolsMissing(t *testing.T) {
	c := symbolCorpus(t, rand.New(rand.NewPCG(1, 2)))
	skipped := func(text string) string {
		_, results := c.found(t, search.Settings{}, text)
		var out []string
		for _, s := range results.Progress().Skipped {
			out = append(out, s.Severity+" "+s.Reason+" "+s.Message)
		}
		return strings.Join(out, "\n")
	}
	if got := skipped("type:symbol p"); !strings.HasPrefix(got, "warn symbols-missing The symbols of 60 files have not been read yet") {
		t.Errorf("without any: got %q", got)
	}
	if got := skipped("kiln"); got != "" {
		t.Errorf("a search for text: got %q, want nothing", got)
	}
	sn := c.st.Snapshot()
	first := sn.Shards()[0]
	c.symbolsOf(t, first)
	sn.Close()
	want := fmt.Sprintf("The symbols of %d files", 60-first.Header.Documents)
	if got := skipped("type:symbol p"); !strings.Contains(got, want) {
		t.Errorf("with one shard: got %q, want %q", got, want)
	}
	if m, _ := c.found(t, search.Settings{}, "type:symbol p count:all"); len(m) == 0 || len(m) > first.Header.Documents {
		t.Errorf("with one shard of %d: %d documents found", first.Header.Documents, len(m))
	}
	c.symbols(t)
	if got := skipped("type:symbol p"); got != "" {
		t.Errorf("with all: got %q", got)
	}
	_, results := c.found(t, search.Settings{}, "type:symbol nosuchname")
	if p := results.Progress(); !p.Done || len(p.Skipped) > 0 {
		t.Errorf("got %+v, want a complete answer", p)
	}
}

func TestSymbolStatistics(t *testing.T) {
	c := smallCorpus(t)
	_, results := c.found(t, search.Settings{}, "type:symbol type:file bar or foo")
	var got []string
	for _, f := range results.Filters() {
		if f.Kind == "type" || f.Kind == "symbol type" {
			got = append(got, fmt.Sprintf("%s %s %q %d", f.Kind, f.Value, f.Label, f.Count))
		}
	}
	// A query of two types is not narrowed by one of them.
	want := []string{`symbol type select:symbol.function "Function" 2`, `symbol type select:symbol.package "Package" 2`}
	if !slices.Equal(got, want) || results.Progress().Matches != 10 {
		t.Errorf("%d matches, filters\n%s\nwant 10 and\n%s", results.Progress().Matches, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
