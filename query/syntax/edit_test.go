package syntax_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

func TestWithFilter(t *testing.T) {
	for _, c := range []struct{ text, field, value, want string }{
		{"", "fork", "yes", "fork:yes"},
		{" a b ", "fork", "yes", "a b fork:yes"},
		{"repo:a (x or y)", "fork", "yes", "repo:a (x or y) fork:yes"},
		{"x", "timeout", "40s", "x timeout:40s"},
		{"x", "repo", "my repo", `x repo:"my repo"`},
		// The filter holds for the whole "or".
		{"repo:a x or y", "fork", "yes", "repo:a x or y fork:yes"},
		{"x or y", "fork", "yes", "x or y fork:yes"},
		{"x or (y)", "fork", "yes", "(x or (y)) fork:yes"},
		{"x case:yes or (y)", "fork", "yes", "(x or (y)) case:yes fork:yes"},
		{"count:5 x case:yes or file:a y timeout:2s", "fork", "yes", "(x or file:a y) count:5 case:yes timeout:2s fork:yes"},
		{"(x case:yes or file:b) or (y)", "fork", "yes", "((x case:yes or file:b) or (y)) fork:yes"},
		{"x or case:yes (y)", "fork", "yes", "(x or (y)) case:yes fork:yes"},
		{"x or (y)", "count", "all", "x or (y) count:all"},
		{"repo:a x or repo:b y", "fork", "yes", "(repo:a x or repo:b y) fork:yes"},
		{"(a) or b", "fork", "yes", "((a) or b) fork:yes"},
		{`"a or b"`, "fork", "yes", `"a or b" fork:yes`},
		// The end of the text would make something else of a filter behind it.
		{"x or", "fork", "yes", "fork:yes x or"},
		{"x not", "fork", "yes", "fork:yes x not"},
		{`x\`, "fork", "yes", `fork:yes x\`},
		// More parentheses do not mend this.
		{"(x or y", "fork", "yes", "(x or y fork:yes"},
	} {
		if got := syntax.WithFilter(c.text, c.field, c.value); got != c.want {
			t.Errorf("WithFilter(%q, %s, %s) = %q, want %q", c.text, c.field, c.value, got, c.want)
		}
	}
}

func TestWithFilterHoldsEverywhere(t *testing.T) {
	for _, c := range readings(t) {
		if c.fails || strings.Count(c.text, "(") != strings.Count(c.text, ")") {
			continue
		}
		edited := syntax.WithFilter(c.text, "file", "added")
		q, err := syntax.Parse(edited, c.pt)
		if err != nil {
			t.Errorf("WithFilter(%q) = %q, which fails (%s): %v", c.text, edited, c.pt, err)
			continue
		}
		for _, b := range q.Basics {
			if !slices.ContainsFunc(b.Values("file"), func(f query.Filter) bool { return f.Value == "added" }) {
				t.Errorf("WithFilter(%q) = %q (%s) leaves a part without the filter: %s", c.text, edited, c.pt, b)
			}
		}
	}
}

func TestWithoutFilter(t *testing.T) {
	for _, c := range []struct {
		pt                query.PatternType
		text, field, want string
	}{
		{query.Keyword, "context:a x", "context", "x"},
		{query.Keyword, "x   context:a   y", "context", "x y"},
		{query.Keyword, "x timeout:5s", "timeout", "x"},
		{query.Keyword, "context:a", "context", ""},
		{query.Keyword, "x y", "context", "x y"},
		// By canonical name, whatever was typed.
		{query.Keyword, `R:a -r:b NOT repo:"c d" x`, "repo", "x"},
		// An operator without its operand goes too.
		{query.Keyword, "repo:a and context:b and x", "context", "repo:a and x"},
		{query.Keyword, "context:b and x", "context", "x"},
		{query.Keyword, "x and context:b", "context", "x"},
		{query.Keyword, "x or (context:b) or y", "context", "x or y"},
		{query.Keyword, "(context:a or context:b) x", "context", "x"},
		{query.Keyword, "(context:a x) or y", "context", "(x) or y"},
		{query.Keyword, "(x context:a)", "context", "(x)"},
		// Text that only looks like a filter stays.
		{query.Keyword, `"x context:a" context:b`, "context", `"x context:a"`},
		// Where quotes are text, the value runs to the space.
		{query.Standard, `"x context:a" context:b`, "context", `"x`},
	} {
		if got := syntax.WithoutFilter(c.text, c.pt, c.field); got != c.want {
			t.Errorf("WithoutFilter(%q, %s, %s) = %q, want %q", c.text, c.pt, c.field, got, c.want)
		}
	}
}
