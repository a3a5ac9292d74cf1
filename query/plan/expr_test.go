package plan_test

import (
	"regexp/syntax"
	"testing"

	"github.com/trawlsearch/trawl/query/plan"
)

func TestExpr(t *testing.T) {
	const fold = syntax.FoldCase
	tests := []struct {
		re    string
		flags syntax.Flags
		want  string
	}{
		// literals
		{`foo`, 0, `"foo"="foo"`},
		{`Foo_Bar`, 0, `"foo_bar"="Foo_Bar"`},
		{`Foo_Bar`, fold, `"foo_bar"`},
		{`\bspin_lock\b`, 0, `"spin_lock"="spin_lock"`},
		{`^foo$`, 0, `"foo"="foo"`},
		{``, 0, `all`},
		// parts that may lie far apart
		{`foo.*bar`, 0, `(and "foo"="foo" "bar"="bar")`},
		{`[A-Z]+_RESUME`, 0, `"_resume"="_RESUME"`},
		{`Foo.*foobar`, 0, `(and "foo"="Foo" "foobar"="foobar")`},
		{`Foo.*aFoob`, 0, `"afoob"="aFoob"`},
		{`foo.*(?i:foobar)`, 0, `"foobar"`},
		{`Foo.*(?i:foobar)`, 0, `(and "foo"="Foo" "foobar")`},
		{`mutex\(.*->.*mutex\)`, 0, `(and "mutex("="mutex(" "->"="->" "mutex)"="mutex)")`},
		// alternation and small classes are spelled out
		{`(foo|bar)baz`, 0, `(or "barbaz"="barbaz" "foobaz"="foobaz")`},
		{`foo(bar)?`, 0, `(or "foo"="foo" "foobar"="foobar")`},
		{`foo|ba`, 0, `(or "ba"="ba" "foo"="foo")`},
		{`gr[ae]y`, 0, `(or "gray"="gray" "grey"="grey")`},
		{`[Ff]oo`, 0, `"foo"`},
		// repetition
		{`(foo)+bar`, 0, `"foobar"="foobar"`},
		{`(foo){2}`, 0, `"foofoo"="foofoo"`},
		{`(foo)*`, 0, `all`},
		{`(foo)*bar`, 0, `"bar"="bar"`},
		// nothing to hold on to
		{`\w{5}\s+\w{5}`, 0, `all`},
		{`.`, 0, `all`},
		{`\x{fffd}oo`, 0, `"oo"="oo"`},
		// classes outside ASCII, by the first two bytes of their runes
		{`[à-ÿ]`, 0, `(in c3a000-c3bfff)`},
		{`[א-ת]x`, 0, `(and (in d79000-d7aaff) "x"="x")`},
		{`[\x{700}-\x{900}]`, 0, `(in dc8000-dfbfff e0a000-e0a4ff)`},
		{`[ぁ-ん]+`, 0, `(in e38100-e382ff)`},
		{`[ぁ-ん]+foo`, 0, `(and (in e38100-e382ff) "foo"="foo")`},
		{`[\x{d000}-\x{e000}]`, 0, `(in ed8000-ee80ff)`},
		{`[à-ÿa]`, 0, `all`},
		{`[^a]`, 0, `all`},
		{`\pL`, 0, `all`},
		// folding beyond ASCII
		{`éa`, fold, `(or "Éa" "éa")`},
		// an affix cut inside a rune keeps its bytes
		{`(?i)ΑΒΓ.`, 0, greek},
	}
	for _, tt := range tests {
		re, err := syntax.Parse(tt.re, syntax.Perl|tt.flags)
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Expr(re).String(); got != tt.want {
			t.Errorf("Expr(%s) = %s, want %s", tt.re, got, tt.want)
		}
	}
}

// greek holds every spelling: alpha and gamma have two, beta has three.
const greek = `(or "ΑΒΓ"="ΑΒΓ" "ΑΒγ"="ΑΒγ" "ΑβΓ"="ΑβΓ" "Αβγ"="Αβγ" "ΑϐΓ"="ΑϐΓ" "Αϐγ"="Αϐγ" ` +
	`"αΒΓ"="αΒΓ" "αΒγ"="αΒγ" "αβΓ"="αβΓ" "αβγ"="αβγ" "αϐΓ"="αϐΓ" "αϐγ"="αϐγ")`

// TestExprIsBounded: hostile patterns are analysed at once and yield
// expressions of bounded size.
func TestExprIsBounded(t *testing.T) {
	for _, re := range []string{
		`(a{0,500}){0,2}z`,
		`([a-p][a-p][a-p]|[b-q][b-q][b-q]){1,9}`,
		`((((((((((a|b)c|d)e|f)g|h)i|j)k|l)m|n)o|p)q|r)s|t)*`,
		`(?i)αβγδεζηθικλμνξοπρστυφχψω`,
	} {
		tree, err := syntax.Parse(re, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Expr(tree).String(); len(got) > 1<<16 {
			t.Errorf("Expr(%s) prints as %d bytes", re, len(got))
		}
	}
}
