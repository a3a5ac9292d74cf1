package syntax_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

func TestMarks(t *testing.T) {
	tests := []struct {
		text string
		pt   query.PatternType
		want string
	}{
		{"", query.Keyword, ""},
		{"parse header", query.Keyword, ""},
		{`repo:^a/b$@v1 -file:\.go x`, query.Keyword, `field:repo: regexp:^ value:a/b regexp:$ revision:@v1 field:-file: regexp:\. value:go`},
		{`not lang:go NOT x`, query.Keyword, `operator:not field:lang: value:go operator:NOT`},
		{`(a or b) and "c d"`, query.Keyword, `operator:( operator:or operator:) operator:and quoted:"c d"`},
		{`/fo+[a\]-z]{2,3}(?:x|y)\b/`, query.Keyword, `regexp:/ regexp:+[a\]-z]{2,3}(?: regexp:| regexp:)\b regexp:/`},
		{`a.b[`, query.Regexp, `regexp:. regexp:[`},
		{`a.b(c)`, query.Standard, ""},
		{`a.b patterntype:regexp`, query.Keyword, `regexp:. field:patterntype: value:regexp`},
		{`repo:has.file(path:x) ü`, query.Keyword, `field:repo: predicate:has.file( value:path:x predicate:)`},
		{`content:"a b" type:diff`, query.Keyword, `field:content: quoted:"a b" field:type: value:diff`},
		{`) repo:x`, query.Keyword, `field:repo: value:x`},
		{`file:"x`, query.Keyword, `field:file: value:"x`},
		{`x or`, query.Keyword, ``},
	}
	for _, tt := range tests {
		var got []string
		for _, m := range syntax.Marks(tt.text, tt.pt) {
			got = append(got, fmt.Sprintf("%s:%s", m.Kind, tt.text[m.Span.Start:m.Span.End]))
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%q in %s:\n got %s\nwant %s", tt.text, tt.pt, got, tt.want)
		}
	}
}

// Marks of any text lie within it, in order, none over another.
func FuzzMarks(f *testing.F) {
	for _, text := range []string{"repo:^a/b$@v1 -file:x", "(a or not b) c", `/a[b(/`, "not", "a and", "ü repo:\xff@", `f:"\q" (`, "content:(a)"} {
		for i := range allTypes {
			f.Add(text, uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		at := 0
		for _, m := range syntax.Marks(text, allTypes[int(n)%len(allTypes)]) {
			if m.Span.Start < at || m.Span.End <= m.Span.Start || m.Span.End > len(text) {
				t.Fatalf("%q: mark %v behind %d", text, m, at)
			}
			at = m.Span.End
		}
	})
}
