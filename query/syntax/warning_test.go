package syntax_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

// TestNearMissesAreWarnedOf: a part of a query that is searched for as text, or
// has no effect, and looks like something else is named, with what was perhaps
// meant.
func TestNearMissesAreWarnedOf(t *testing.T) {
	const keyword = " patternType:keyword"
	for _, c := range []struct {
		pt   query.PatternType
		text string
		// at is the part, proposed the query without its pattern type.
		at, proposed string
		plausible    bool
	}{
		{query.Keyword, `lnag:go foo`, `lnag:go`, `lang:go foo`, false},
		{query.Keyword, `foo -fiel:x`, `-fiel:x`, `foo -file:x`, false},
		{query.Keyword, `foo not repos:x`, `repos:x`, `foo not repo:x`, false},
		{query.Keyword, `/shard/i`, `/shard/i`, `/(?i)shard/`, false},
		{query.Keyword, `foo /a\/b/g bar`, `/a\/b/g`, `foo /a\/b/ bar`, false},
		{query.Keyword, `(a or b`, `(`, `(a or b)`, false},
		{query.Keyword, `(repo:x ((a or b`, `(`, `(repo:x ((a or b)))`, false},
		{query.Keyword, `(foo`, `(`, `(foo)`, true},
		{query.Keyword, `"open file`, `"open`, `"open file"`, false},
		{query.Keyword, `say "open file repo:x`, `"open`, `say "open file" repo:x`, false},
		{query.Keyword, `"`, `"`, ``, false},
		{query.Regexp, `'static x`, `'static`, `'static x'`, true},
		{query.Keyword, `open file"`, `file"`, ``, true},
		{query.Keyword, `type:FILE x`, `type:FILE`, `type:file x`, false},
		{query.Keyword, `type:blob x`, `type:blob`, ``, false},
		{query.Keyword, `visibility:privat x`, `visibility:privat`, `visibility:private x`, false},
		{query.Keyword, `x patterntype:regex_`, `patterntype:regex_`, `x`, false},
		{query.Keyword, `repo:has.pth(a) x`, `repo:has.pth(a)`, `repo:has.path(a) x`, false},
		{query.Keyword, `Repo:has.path(a) x`, `Repo:has.path(a)`, `repo:has.path(a) x`, false},
		{query.Keyword, `-file:has.contents(a) x`, `-file:has.contents(a)`, ``, false},
		{query.Keyword, `repo:has.owner(x) y`, `repo:has.owner(x)`, ``, false},
		// What people mean as it stands.
		{query.Keyword, `http://x std::vector foo:bar`, ``, ``, false},
		{query.Keyword, `/usr/lib /a/b/ //`, ``, ``, false},
		{query.Keyword, `foo( it's say"hi "a" 'b'`, ``, ``, false},
		{query.Keyword, `type:file visibility:ANY patterntype:regex x`, ``, ``, false},
		{query.Keyword, `file:(a|b) repo:has(k:v) f:hash(x)`, ``, ``, false},
		{query.Standard, `"open file`, ``, ``, false},
		{query.Literal, `/x/i`, ``, ``, false},
		{query.Keyword, `not a`, ``, ``, false},
	} {
		q, err := syntax.Parse(c.text, c.pt)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.text, err)
			continue
		}
		if len(q.Warnings) == 0 {
			if c.at != "" {
				t.Errorf("%q is not warned of", c.text)
			}
			continue
		}
		w := q.Warnings[0]
		got := strings.TrimSuffix(strings.TrimSuffix(w.Proposed, keyword), " patternType:regexp")
		if at := c.text[w.Span.Start:w.Span.End]; at != c.at || got != c.proposed || w.Plausible != c.plausible || len(q.Warnings) > 1 {
			t.Errorf("%q (%s):\n got %d warnings, %q, %q, plausible %t: %s\nwant %q, %q, plausible %t", c.text, c.pt,
				len(q.Warnings), at, got, w.Plausible, w.Message, c.at, c.proposed, c.plausible)
		}
	}
}

// TestErrorsProposeAQuery: where it is known how to mend a query, the error has
// it whole.
func TestErrorsProposeAQuery(t *testing.T) {
	for _, c := range []struct {
		pt             query.PatternType
		text, proposed string
	}{
		{query.Keyword, `foo file:*.go`, `foo file:\.go$ patternType:keyword`},
		{query.Keyword, `-repo:+b@v1 foo`, `-repo:b@v1 foo patternType:keyword`},
		{query.Keyword, `repo:+b@v1 foo`, `repo:b@v1 foo patternType:keyword`},
		{query.Keyword, `x /a[/`, `x /a\[/ patternType:keyword`},
		{query.Regexp, `repo:a foo(bar`, `repo:a /foo\(bar/ patternType:regexp`},
		{query.Regexp, `not a[`, `not /a\[/ patternType:regexp`},
		{query.Keyword, `a lang:pyhton`, `a lang:Python patternType:keyword`},
		{query.Keyword, `a not -file:x`, `a -file:x patternType:keyword`},
		{query.Keyword, `a author:ana`, `a type:commit author:ana patternType:keyword`},
		{query.Keyword, `x repo:"a b`, `x repo:"a b" patternType:keyword`},
		{query.Keyword, `x file:"\.go$" y`, `x file:"\\.go$" y patternType:keyword`},
		{query.Standard, `(a or b) c`, `(a or b) c patternType:keyword`},
		{query.Regexp, `a(?=b)`, ``},
		{query.Regexp, `foo(bar baz[ "a.b" ok`, `/foo\(bar/ /baz\[/ /a\.b/ /ok/ patternType:regexp`},
		{query.Regexp, `(a or`, `/\(a/ /or/ patternType:regexp`},
		{query.Regexp, `a(?=b) c`, ``},
		{query.Keyword, `count:none x`, ``},
		{query.Keyword, `a or b)`, `a or b patternType:keyword`},
		{query.Keyword, `a or b)c`, `a or b c patternType:keyword`},
		{query.Standard, `a or b) repo:x`, `a or b repo:x patternType:standard`},
		{query.Literal, `a and b))`, `a and b patternType:literal`},
		{query.Keyword, `x (a) or b)) or c)`, `x (a) or b or c patternType:keyword`},
		{query.Keyword, `a or ")" b)`, `a or ")" b patternType:keyword`},
		{query.Keyword, `) or b`, ``},
		{query.Keyword, `foo) bar`, ``},
		{query.Keyword, `main(x)) {`, ``},
	} {
		_, err := syntax.Parse(c.text, c.pt)
		var e *query.SyntaxError
		if !errors.As(err, &e) || e.Proposed != c.proposed {
			t.Errorf("Parse(%q, %s) = %v, proposes %q, want %q", c.text, c.pt, err, e.Proposed, c.proposed)
			continue
		}
		if e.Proposed != "" {
			if _, err := syntax.Parse(e.Proposed, query.Standard); err != nil {
				t.Errorf("what Parse(%q) proposes, %q: %v", c.text, e.Proposed, err)
			}
		}
	}
}

// The error of a regular expression shows what was written of it.
func TestErrorsShowWhatWasWritten(t *testing.T) {
	for text, want := range map[string]string{
		`(a or`:        "error parsing regexp: missing closing ): `(a`",
		`x foo[ bar(y`: "error parsing regexp: missing closing ]: `[`",
		`a b\`:         "error parsing regexp: trailing backslash at end of expression: ``",
	} {
		_, err := syntax.Parse(text, query.Regexp)
		var e *query.SyntaxError
		if !errors.As(err, &e) || e.Message != want || e.Span != (query.Span{Start: 0, End: len(text)}) {
			t.Errorf("Parse(%q) = %v, want %s and the place of all of it", text, err, want)
		}
	}
}
