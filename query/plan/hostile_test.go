package plan_test

import (
	"fmt"
	"regexp/syntax"
	"runtime"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query/plan"
)

// parts returns n different parts of a regexp.
func parts(n int, form, between string) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(form, i)
	}
	return strings.Join(out, between)
}

// TestLargeExpr: what is done for a pattern is in proportion to its length. Bytes
// allocated stand for time: a list that was copied for each of its members took
// gigabytes, and minutes.
func TestLargeExpr(t *testing.T) {
	for _, tt := range []struct{ name, pattern string }{
		{"parts in order", parts(9000, "word%d", ".*?")},
		{"alternatives", parts(9000, "word%d", "|")},
		{"alternatives without an end", parts(9000, "word%d.*", "|")},
		{"parts in order, optional", parts(9000, "(?:word%d)?", ".")},
		{"nested", strings.Repeat("(?:x[ab]", 190) + strings.Repeat("|y)+", 190)},
	} {
		tree, err := syntax.Parse(tt.pattern, syntax.Perl)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		expr := plan.Expr(tree)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 128<<20 {
			t.Errorf("%s: %d MB allocated for a pattern of %d bytes, want at most 128", tt.name, took>>20, len(tt.pattern))
		}
		if expr == nil {
			t.Errorf("%s: no expression", tt.name)
		}
	}
}

func TestSize(t *testing.T) {
	for _, tt := range []struct {
		pattern              string
		instructions, height int
	}{
		{"", 1, 1},
		{"abc", 4, 1},
		{"[a-z]", 1, 1},
		{"(a)", 3, 2},
		{"a|bc", 6, 2},
		{"a{10}", 61, 2},
		{"a{3,10}", 61, 2},
		{"a{10,}", 67, 2},
		{"(?:a{10}){10}", 1831, 3},
		{"a{0}", 3, 2},
	} {
		tree, err := syntax.Parse(tt.pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if n, height := plan.Size(tree); n != tt.instructions || height != tt.height {
			t.Errorf("Size(%q) = %d, %d; want %d, %d", tt.pattern, n, height, tt.instructions, tt.height)
		}
	}
}
