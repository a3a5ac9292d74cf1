package syntax_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

var allTypes = []query.PatternType{query.Keyword, query.Standard, query.Regexp, query.Literal, query.Structural}

func TestParseOfWhiteSpace(t *testing.T) {
	for _, text := range []string{"", " ", "\n\t ", "\u00a0\u3000"} {
		q, err := syntax.Parse(text, query.Keyword)
		if err != nil || len(q.Basics) != 0 || q.Text != text {
			t.Errorf("Parse(%q) = %+v, %v, want a query without parts", text, q, err)
		}
	}
}

// TestErrorPlaces checks where an error points and what it proposes.
func TestErrorPlaces(t *testing.T) {
	for _, c := range []struct {
		pt         query.PatternType
		text       string
		at         string
		hint       string
		start, end int
	}{
		// Parentheses and operators.
		{query.Keyword, `foo) bar`, `)`, `remove this ")", or quote the pattern that it belongs to`, 3, 4},
		{query.Keyword, `a or or b`, ``, `write a term on both sides of the operator, or quote the word, "or"`, 5, 5},
		{query.Keyword, `a not (b)`, `not (`, `put NOT before each term: NOT a NOT b`, 2, 7},
		{query.Keyword, `a NOT -file:x`, `NOT -file:x`, `-file:x`, 2, 13},
		{query.Standard, `repo:a (b or c) d`, `b or c`, `write the operator, (a or b) and c, or add patterntype:keyword`, 8, 14},
		// Values.
		{query.Keyword, `x repo:"a b`, `"a b`, `close the value with "`, 7, 11},
		{query.Keyword, `x file:"\.go$" y`, `\.`, `write \\ for a backslash inside quotes`, 8, 10},
		{query.Keyword, `a file:*.go`, `file:*.go`, `file:\.go$`, 2, 11},
		{query.Keyword, `a repo:+b`, `repo:+b`, `repo:b`, 2, 9},
		{query.Keyword, `a f:x[`, `f:x[`, `file:x\[`, 2, 6},
		{query.Keyword, `a lang:pyhton`, `lang:pyhton`, `lang:Python`, 2, 13},
		{query.Keyword, `a lang:golan`, `lang:golan`, `lang:Go`, 2, 12},
		{query.Keyword, `a lang:goalng`, `lang:goalng`, `lang:Go`, 2, 13},
		{query.Keyword, `a lang:typesc`, `lang:typesc`, `lang:TypeScript`, 2, 13},
		{query.Keyword, `a lang:qqqqqq`, `lang:qqqqqq`, `name a language, such as lang:go`, 2, 13},
		{query.Keyword, `a count:0`, `count:0`, `count:1000 or count:all`, 2, 9},
		{query.Keyword, `a fork:on`, `fork:on`, `fork:yes`, 2, 9},
		{query.Keyword, `case:yes a -case:no`, `-case:no`, `remove -case:no`, 11, 19},
		{query.Keyword, `a not count:5`, `not count:5`, `count:5`, 2, 13},
		{query.Keyword, `type:diff a before:now`, `before:now`, `before:2024-01-31 or before:"2 weeks ago"`, 12, 22},
		// Patterns.
		{query.Keyword, `x /a[/`, `/a[/`, `a\[`, 2, 6},
		{query.Regexp, `repo:a foo(bar`, `foo(bar`, `foo\(bar`, 7, 14},
		{query.Regexp, `a(?=b)`, `a(?=b)`, `regular expressions have no look-around and no back-references`, 0, 6},
		// Filters that do not go together.
		{query.Keyword, `a rev:v1`, `rev:v1`, `repo:name rev:v1`, 2, 8},
		{query.Keyword, `repo:a@x rev:y`, `repo:a@x`, `repo:a@x`, 0, 8},
		{query.Keyword, `a author:ana`, `author:ana`, `type:commit author:ana`, 2, 12},
		{query.Keyword, `type:symbol repohasfile:x y`, `repohasfile:x`, `repo:has.path(x)`, 12, 25},
	} {
		_, err := syntax.Parse(c.text, c.pt)
		var e *query.SyntaxError
		if !errors.As(err, &e) {
			t.Errorf("Parse(%q) error = %v, want a SyntaxError", c.text, err)
			continue
		}
		if e.Span != (query.Span{Start: c.start, End: c.end}) || c.text[c.start:c.end] != c.at || e.Hint != c.hint {
			t.Errorf("Parse(%q): %v\n got %v %q, hint %q\nwant {%d %d} %q, hint %q", c.text, err,
				e.Span, c.text[e.Span.Start:e.Span.End], e.Hint, c.start, c.end, c.at, c.hint)
		}
	}
}

func TestMissingOperand(t *testing.T) {
	for _, c := range []struct {
		text    string
		missing bool
	}{
		{"a or or b", true},
		{"a and and b", true},
		{"(a or ) b or or c", true},
		{"a)", false},
		{"case:yes case:yes", false},
	} {
		_, err := syntax.Parse(c.text, query.Keyword)
		if err == nil || errors.Is(err, syntax.ErrMissingOperand) != c.missing {
			t.Errorf("Parse(%q) error = %v, is ErrMissingOperand %v, want %v", c.text, err, !c.missing, c.missing)
		}
	}
}

// TestSpans checks that leaves know the text they came from.
func TestSpans(t *testing.T) {
	text := `NOT repo:a "b c" (d or -file:e /f/) type:file`
	q, err := syntax.Parse(text, query.Keyword)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range q.Basics[1].Filters {
		got = append(got, text[f.Span.Start:f.Span.End])
	}
	query.VisitPatterns(q.Basics[1].Pattern, func(p *query.Pattern, _ bool) {
		got = append(got, text[p.Span.Start:p.Span.End])
	})
	want := `NOT repo:a, type:file, -file:e, "b c", /f/`
	if strings.Join(got, ", ") != want {
		t.Errorf("spans of the second part of %q are %s, want %s", text, strings.Join(got, ", "), want)
	}
}

// TestPredicates checks which values are calls: readings do not show it.
func TestPredicates(t *testing.T) {
	for _, c := range []struct{ text, name, arg string }{
		{"repo:has.path(a b)", "has.path", "a b"},
		{"r:has.path(a)", "has.path", "a"},
		{"f:has.owner()", "has.owner", ""},
		{"path:contains.content(a)", "contains.content", "a"},
		{`repo:has.path(a\)b)`, "has.path", `a\)b`},
		{`-repo:has(k:v)`, "has", "k:v"},
		// Not calls.
		{"Repo:has.path(a)", "", ""},
		{"R:has.path(a)", "", ""},
		{"repo:HAS.PATH(a)", "", ""},
		{"repo:has.owner(a)", "", ""},
		{"file:has.path(a)", "", ""},
		{`repo:"has.path(a)"`, "", ""},
		{"repo:has.path", "", ""},
	} {
		q, err := syntax.Parse(c.text, query.Keyword)
		if err != nil {
			t.Errorf("Parse(%q) error = %v", c.text, err)
			continue
		}
		got := query.Predicate{}
		if p := q.Basics[0].Filters[0].Predicate; p != nil {
			got = *p
		}
		if want := (query.Predicate{Name: c.name, Arg: c.arg}); got != want {
			t.Errorf("Parse(%q) has predicate %+v, want %+v", c.text, got, want)
		}
	}
}

// TestLimits feeds texts that are costly for a careless parser. Each must be
// answered at once, with an error that names the limit or with a reading.
func TestLimits(t *testing.T) {
	const deep = 10_000
	for _, c := range []struct {
		name, text, want string
	}{
		{"a megabyte", strings.Repeat("a ", 1<<19), "query is 1048576 bytes long, the limit is 131072"},
		{"nested groups", strings.Repeat("(", deep) + "a or b" + strings.Repeat(")", deep), "parentheses nest more than 500 deep"},
		{"nested text", strings.Repeat("(", deep) + "a" + strings.Repeat(")", deep), "*"},
		{"unclosed parentheses", strings.Repeat("(", deep), "parentheses nest more than 500 deep"},
		{"unclosed parentheses, spaced", strings.Repeat("( ", deep), "parentheses nest more than 500 deep"},
		{"closing parentheses", strings.Repeat(")", deep), "unsupported expression*"},
		{"unclosed calls", strings.Repeat("a( ", 9000), "*"},
		{"one long word", strings.Repeat("a(", 60_000), "*"},
		{"quotes", strings.Repeat(`"a `, 9000), "*"},
		{"escaped quotes", strings.Repeat(`"a\" `, 9000), "*"},
		{"both quotes", strings.Repeat(`"a 'b `, 9000), "*"},
		{"slashes", strings.Repeat(`/a\/ `, 9000), "*"},
		{"strings in parentheses", "(" + strings.Repeat(`"a 'b /c `, 9000), "*"},
		{"strings that do not stand alone", "(" + strings.Repeat(`"a"b '\''c /d/e `, 5000), "*"},
		{"operators", "a" + strings.Repeat(" or a", 9000), "*"},
		{"nots", strings.Repeat("not ", 9000), "*"},
		{"spaces", strings.Repeat(" ", 60_000) + strings.Repeat("or ", 9000), "*"},
		{"backslashes", strings.Repeat(`\`, 100_000), "*"},
		{"predicates", strings.Repeat("repo:has.path(", 9000), "*"},
		{"filters", strings.Repeat("r:a ", 20_000), "query has more than 10000 terms and filters"},
		{"terms", strings.Repeat("a ", 20_000), "query has more than 10000 terms and filters"},
		{"product", strings.Repeat("(repo:a or repo:b) ", 10), "filters in OR groups expand to more than 1000 queries or 50000 terms"},
		{"huge product", strings.Repeat("(repo:a or repo:b) ", 2000), "filters in OR groups expand to more than 1000 queries or 50000 terms"},
		{"wide product", "(repo:a" + strings.Repeat(" or repo:a", 900) + ") " + strings.Repeat("-file:x ", 5000),
			"filters in OR groups expand to more than 1000 queries or 50000 terms"},
		{"long revision", "repo:a rev:" + strings.Repeat("v", 2000), "value of rev: is longer than 1024 bytes"},
		{"copied revisions", "repo:" + strings.Repeat("a", 60_000) + " (rev:0" + strings.Repeat(" or rev:"+strings.Repeat("x", 8), 900) + ")", "*"},
		{"deep regexp", "/" + strings.Repeat("(", 5000) + strings.Repeat(")", 5000) + "/", "*"},
		{"empty filters", strings.Repeat("repo: ", 9000), "*"},
	} {
		for _, pt := range allTypes {
			from := time.Now()
			q, err := syntax.Parse(c.text, pt)
			took := time.Since(from)
			if took > 5*race.Slow()*time.Second {
				t.Errorf("%s in %s took %s", c.name, pt, took)
			}
			prefix, any := strings.CutSuffix(c.want, "*")
			switch {
			case q == nil && err == nil:
				t.Errorf("%s in %s: neither query nor error", c.name, pt)
			case any && err != nil && !strings.HasPrefix(err.Error(), prefix), !any && pt == query.Keyword && (err == nil || err.Error() != c.want):
				t.Errorf("%s in %s: error = %v, want %s", c.name, pt, err, c.want)
			}
		}
	}
}

// TestManyBasics is the largest union that is still read.
func TestManyBasics(t *testing.T) {
	text := "(repo:a" + strings.Repeat(" or repo:a", 999) + ") x"
	q, err := syntax.Parse(text, query.Keyword)
	if err != nil || len(q.Basics) != 1000 {
		t.Errorf("a union of 1000 = %v, error %v", q != nil, err)
	}
}

func BenchmarkParse(b *testing.B) {
	text := `repo:^github\.com/a/ (lang:go or lang:python) -file:_test "open file" /err(or)?s?/ not x`
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := syntax.Parse(text, query.Keyword); err != nil {
			b.Fatal(err)
		}
	}
}
