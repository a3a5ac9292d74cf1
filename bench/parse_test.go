package bench_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/bench"
)

func TestParseQueries(t *testing.T) {
	unbounded := bench.Bounds{Min: 0, Max: -1}
	for _, tt := range []struct {
		text string
		want bench.Query
	}{
		// What a block may leave out
		{"name: a\nkind: literal\nquery: x y\nliteral: x y",
			bench.Query{Name: "a", Kind: bench.Literal, PatternType: "keyword", Text: "x y", Results: unbounded,
				Scope: bench.Lines, Terms: []bench.Term{{Text: "x y"}}}},
		{"name: a\nkind: repository\nquery: type:repo x\nresults: 1",
			bench.Query{Name: "a", Kind: bench.Repository, PatternType: "keyword", Text: "type:repo x",
				Results: bench.Bounds{Min: 1, Max: 1}, Scope: bench.Nothing}},
		{"name: a\nkind: path\nquery: type:path x\npath: x\npath: ^y",
			bench.Query{Name: "a", Kind: bench.Path, PatternType: "keyword", Text: "type:path x", Results: unbounded,
				Scope: bench.Paths, PathRegexps: []string{"x", "^y"}}},

		// Frequencies imply how many results there are
		{"name: a\nkind: literal\nfrequency: absent\nquery: x\nliteral: x",
			bench.Query{Name: "a", Kind: bench.Literal, Frequency: bench.Absent, PatternType: "keyword", Text: "x",
				Scope: bench.Lines, Terms: []bench.Term{{Text: "x"}}}},
		{"name: a\nkind: literal\nfrequency: rare\nquery: x\nliteral: x",
			bench.Query{Name: "a", Kind: bench.Literal, Frequency: bench.Rare, PatternType: "keyword", Text: "x",
				Results: bench.Bounds{Min: 1, Max: 100}, Scope: bench.Lines, Terms: []bench.Term{{Text: "x"}}}},

		// Everything at once; colons, comments and space in values
		{"# remark\n name:  all-fields \nkind: boolean\ntype: regexp\nquery: a:b  c\nresults: <=7\ncompare: files\n" +
			"join: all\nrelation: part\nliteral: a: b\nregexp: a|b\nwithout: # c\nwithout-regexp: d+\nglob: !*.c\nglob: /x/**",
			bench.Query{Name: "all-fields", Kind: bench.Boolean, PatternType: "regexp", Text: "a:b  c",
				Results: bench.Bounds{Min: 0, Max: 7}, Scope: bench.Files, Part: true, All: true,
				Terms:   []bench.Term{{Text: "a: b"}, {Text: "a|b", IsRegexp: true}},
				Without: []bench.Term{{Text: "# c"}, {Text: "d+", IsRegexp: true}},
				Globs:   []string{"!*.c", "/x/**"}}},
	} {
		got, err := bench.ParseQueries(tt.text)
		if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], tt.want) {
			t.Errorf("parse %q:\n got %+v, error %v\nwant %+v", tt.text, got, err, tt.want)
		}
	}
}

func TestParseQueriesErrors(t *testing.T) {
	const start = "name: a\nkind: literal\nquery: x\n"
	for _, tt := range []struct{ text, want string }{
		// Form
		{"name a", `line 1: "name a" is not "field: value"`},
		{"\n\nname:", "line 3: name has no value"},
		{"name: A", `line 1: name "A": use lower-case words`},
		{start + "taste: sweet", `line 4: unknown field "taste"`},
		{start + "query: y", "line 4: query stands twice"},
		{start + "\n" + start, `line 5: name "a" is taken`},

		// Missing and contradicting fields
		{"name: a\nkind: literal", "block at line 1: query is missing"},
		{"# remark\n\nkind: literal\nquery: x", "block at line 3: name is missing"},
		{start + "literal: x\npath: x", "path cannot stand with literal"},

		// Values
		{"kind: fancy", `"fancy" is none of`},
		{start + "join: some", `"some" is none of`},
		{start + "results: many", `results "many"`},
		{start + "results: <5", `results "<5"`},
		{start + "results: -5", `results "-5"`},

		// Regexps that Go or a line-based tool would read differently
		{start + "regexp: a(", "missing closing )"},
		{start + "path: a(", "missing closing )"},
		{start + `regexp: \Aa`, "use ^ and $"},
		{start + `without-regexp: a\z`, "use ^ and $"},
		{start + `regexp: ^.{80,}$`, "peers count bytes"},
		{start + `regexp: a[^b]c`, "peers count bytes"},
		{start + `regexp: (a\W+)\W`, "peers count bytes"},
	} {
		_, err := bench.ParseQueries(tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("parse %q: error = %v, want one with %q", tt.text, err, tt.want)
		}
	}
}

func TestQuerySets(t *testing.T) {
	kernel, err := bench.QuerySet("kernel")
	if err != nil {
		t.Fatal(err)
	}
	if len(kernel) < 42 {
		t.Errorf("kernel set has %d queries, want at least 42", len(kernel))
	}
	if _, err := bench.QuerySet("small"); err != nil {
		t.Error(err)
	}
	if _, err := bench.QuerySet("../query"); err == nil {
		t.Error("query set ../query: no error")
	}
}

func TestQueryExhaustive(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"a or b", "count:all a or b"},
		{"count:10 a", "count:10 a"},
		{"(COUNT:10 a) or b", "(COUNT:10 a) or b"},
		{"account:10", "count:all account:10"},
	} {
		if got := (bench.Query{Text: tt.text}).Exhaustive(); got != tt.want {
			t.Errorf("exhaustive %q = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestQueryCaseSensitive(t *testing.T) {
	for _, tt := range []struct {
		text string
		want bool
	}{
		{"case:yes a", true},
		{"a CASE:y", true},
		{"case:no a", false},
		{"a", false},
		{"showcase:yes", false},
	} {
		if got := (bench.Query{Text: tt.text}).CaseSensitive(); got != tt.want {
			t.Errorf("query %q is case-sensitive: %t, want %t", tt.text, got, tt.want)
		}
	}
}

func TestQuerySpansLines(t *testing.T) {
	for _, tt := range []struct {
		regexp string
		want   bool
	}{
		// Within a line
		{`a.*b`, false},
		{`^a$`, false},
		{`\w+ \d`, false},
		{`[a-z]`, false},
		{`[^a\n]`, false},

		// Across lines
		{`a\s+b`, true},
		{`a\nb`, true},
		{`[^a]`, true},
		{`(x|\W)y`, true},
		{`(?s)a.b`, true},
	} {
		q := bench.Query{Terms: []bench.Term{{Text: tt.regexp, IsRegexp: true}}}
		if got := q.SpansLines(); got != tt.want {
			t.Errorf("regexp %q spans lines: %t, want %t", tt.regexp, got, tt.want)
		}
	}
}

func FuzzParseQueries(f *testing.F) {
	f.Add("name: a\nkind: literal\nquery: x\nliteral: x\n\n# c\nname: b\nkind: path\nquery: x\npath: x")
	f.Add("name: a\nkind: regexp\nquery: x\nregexp: [^a]\\s\nresults: >=3\nglob: !x")
	f.Fuzz(func(t *testing.T, text string) {
		queries, err := bench.ParseQueries(text)
		if err != nil {
			return
		}
		names := map[string]bool{}
		for _, q := range queries {
			if q.Name == "" || q.Text == "" || names[q.Name] {
				t.Errorf("parse %q: query %+v has no text, no name or one that is taken", text, q)
			}
			names[q.Name] = true
			q.SpansLines()
		}
	})
}
