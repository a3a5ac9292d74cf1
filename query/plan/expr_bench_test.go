package plan_test

import (
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/plan"
)

// BenchmarkExpr plans a parsed regexp; literals/op counts the literals that the
// expression looks up.
func BenchmarkExpr(b *testing.B) {
	for _, bb := range []struct{ name, re string }{
		{"literal", `\bspin_lock_irqsave\b`},
		{"parts", `mutex_lock\(.*->.*mutex\)`},
		{"alternation", `(kmalloc|kzalloc|vmalloc|kcalloc)_node\(`},
		{"short-alternation", `(TODO|FIXME|XXX|HACK)\s*[:(]`},
		{"digits", `[0-9]{3}-[0-9]{3}-[0-9]{4}`},
		{"greek", `\p{Greek}`},
		{"words", `\w{5}\s+\w{5}\s+\w{5}`},
		{"hostile", strings.Repeat(`(a|b|c|d)[0-9a-f]?`, 20)},
	} {
		for _, flags := range []struct {
			name  string
			flags syntax.Flags
		}{{"exact", syntax.Perl}, {"fold", syntax.Perl | syntax.FoldCase}} {
			b.Run("pattern="+bb.name+"/case="+flags.name, func(b *testing.B) {
				tree, err := syntax.Parse(bb.re, flags.flags)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				var e postings.Expr
				for b.Loop() {
					e = plan.Expr(tree)
				}
				b.ReportMetric(float64(countLiterals(e)), "literals/op")
			})
		}
	}
}

func countLiterals(e postings.Expr) int {
	n := 0
	switch e := e.(type) {
	case *postings.Literal:
		return 1
	case *postings.And:
		for _, part := range e.Exprs {
			n += countLiterals(part)
		}
	case *postings.Or:
		for _, part := range e.Exprs {
			n += countLiterals(part)
		}
	}
	return n
}
