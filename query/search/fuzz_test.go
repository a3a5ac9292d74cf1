package search_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// fuzzCorpus is a little of everything that makes searching hard: letters that
// fold beyond ASCII, bytes that are not UTF-8, long lines, documents of several
// blocks, skipped and dead ones, several shards.
func fuzzCorpus(t testing.TB) *corpus {
	facts := map[string]store.Repository{"b/fork": {Fork: true}, "b/old": {Archived: true}, "b/secret": {Private: true}}
	return newCorpus(t, 5, facts, []doc{
		{repo: "a/one", path: "main.go", text: "package main\n\nfunc main() {\n\tfoo(bar)\n}\n"},
		{repo: "a/one", path: "src/Straße.go", text: "// Straße K\u212a sſ ΑΒΓ αβγ İi ıI\r\nfoo\r\n\r\nFOO\n"},
		{repo: "a/one", path: "src/main_test.go", text: "func TestFoo(t *testing.T) {}\n\xff\xfe foo \xc3\n"},
		{repo: "a/one", path: "README.md", text: "foo bar baz\nbar foo\n" + strings.Repeat("lorem ipsum ", 900) + "needle\n"},
		{repo: "a/one", path: "dead.go", text: "foo needle\n", dead: true},
		{repo: "a/two", path: "bin/foo.png", reason: shard.ReasonBinary},
		{repo: "a/two", path: "empty"},
		{repo: "a/two", path: "x y/-z 日本.txt", text: "日本語 (foo) [bar] {baz} a|b a.b ^$ \\d \"quoted\" 'q' /slash/\n"},
		{repo: "b/fork", path: "f.c", text: "int foo;\n"},
		{repo: "b/old", path: "f.c", text: "int foo;\n"},
		{repo: "b/secret", path: "f.c", text: "int foo;\n\n\n"},
	})
}

// FuzzSearch: no query text makes a search fail, and for every one the index
// gives what a scan of all documents gives.
func FuzzSearch(f *testing.F) {
	types := []query.PatternType{query.Keyword, query.Standard, query.Literal, query.Regexp}
	golden, err := os.ReadFile("testdata/small.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(golden)) {
		if pt, text, ok := strings.Cut(strings.TrimSpace(line), " `"); ok {
			if i := slices.Index(types, query.PatternType(pt)); i >= 0 {
				f.Add(byte(i), strings.TrimSuffix(text, "`"))
			}
		}
	}
	for i, text := range []string{
		"s", "K", "\u212a", "ſ", "straße", "αβγ", "\"\"", "//", "/x*/", "/^$/", "/(?-i:FOO)|needle/", "/\\pL{3}$/", "/[^a]/ file:go", "İ", "\"\\n\"",
		"content:\"\" foo", "(foo or bar) not baz", "-file:. foo", "lang:go or lang:c fork:yes", "repo:a select:file.directory foo", "foo select:file.owners", "foo.*bar", "a|b", "[", "(",
		"foo\\", "日本", "/\xff/", "\x00", "count:2 (foo count:3 or bar)", "type:path type:repo type:file o", "visibility:private f",
	} {
		f.Add(byte(i), text)
	}
	c := fuzzCorpus(f)
	f.Fuzz(func(t *testing.T, pt byte, text string) {
		q, err := syntax.Parse(text, types[int(pt)%len(types)])
		if err != nil {
			return
		}
		for _, b := range q.Basics {
			if b.Value("timeout") != "" {
				return // what is found in time is not reported
			}
		}
		index, scan := c.account(q, search.Settings{Workers: 2}), c.account(q, search.Settings{Brute: true})
		if !slices.Equal(index, scan) {
			t.Fatalf("%s %q: index and scan differ\n%s", q.PatternType, text, firstDifference(index, scan))
		}
	})
}

// account prints everything that a search tells, a line each.
func (c *corpus) account(q *query.Query, s search.Settings) []string {
	a := answered{results: report.New(time.Now)}
	a.outcome = search.New(c.st, s).Search(context.Background(), q, search.Options{Display: -1, ContextLines: 1, Report: a.results},
		answer.SinkFunc(func(m []query.Match) error {
			a.matches = append(a.matches, m...)
			return nil
		}))
	p := a.results.Progress()
	out := append(a.full(), fmt.Sprint(p.Done, p.Matches, p.Repositories), fmt.Sprint(p.Skipped), fmt.Sprint(a.results.Filters()))
	if a.outcome.Alert != nil {
		out = append(out, tellAlert(a.outcome.Alert)...)
	}
	if a.outcome.Err != nil {
		out = append(out, a.outcome.Err.Error())
	}
	return out
}
