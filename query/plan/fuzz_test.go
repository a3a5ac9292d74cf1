package plan_test

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/plan"
)

// lists is a shard of one document, with or without lists of upper-case letters.
type lists struct {
	exact bool
	of    map[postings.Trigram][]byte
	wide  *postings.Set
}

func newLists(t testing.TB, b *postings.Builder, text string) *lists {
	b.Reset()
	b.AddDocument(0, []byte(text))
	l := &lists{of: map[postings.Trigram][]byte{}, wide: &postings.Set{}}
	keep := func(t postings.Trigram, value []byte) error {
		l.of[t] = bytes.Clone(value)
		return nil
	}
	for _, err := range []error{b.Walk(keep), b.WalkExact(keep)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if strings.ContainsAny(text, "\u017f\u212a") {
		l.wide.Add(0)
	}
	return l
}

func (l *lists) Exact() bool { return l.exact }

func (l *lists) List(dst []byte, t postings.Trigram) ([]byte, error) {
	return append(dst, l.of[t]...), nil
}

func (l *lists) Scan(lo, hi postings.Trigram, f func(value []byte) (bool, error)) error {
	for t, value := range l.of {
		if lo <= t && t < hi && t.Exact() == lo.Exact() {
			if more, err := f(value); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

func (l *lists) WideFold() (*postings.Set, error)   { return l.wide, nil }
func (l *lists) ScanAlways() (*postings.Set, error) { return nil, nil }
func (l *lists) Blocks() int                        { return 1 }
func (l *lists) DocOf() ([]uint16, error)           { return []uint16{0}, nil }

// FuzzExpr: a text that a regexp matches is a candidate of its expression,
// whichever lists there are.
func FuzzExpr(f *testing.F) {
	for _, s := range []struct{ re, text string }{
		{`Spin_Lock`, "the Spin_Lock"},
		{`Spin_Lock`, "the spin_lock, SPIN_LOCK"},
		{`(?i)Spin_Lock`, "\u017fpin_loc\u212a"},
		{`[Ff]ooBar|QZ`, "FooBar fooBar QZ qz"},
		{`(?i:foo)Bar`, "FOOBar fooBAR"},
		{`Foo.*foobar`, "Foo and a foobar"},
		{`Q`, "Q"},
		{`[A-C]B.?C$`, "ABC"},
		{`(?i)\x{212a}É+x`, "kéÉX"},
		{`\bNewR(eader|EADER)\b`, "NewReader NewREADER newReader"},
	} {
		f.Add(s.re, s.text)
	}
	b := postings.NewBuilder()
	f.Fuzz(func(t *testing.T, pattern, text string) {
		tree, err := syntax.Parse(pattern, syntax.Perl&^syntax.OneLine)
		if err != nil || len(text) > postings.BlockBytes {
			return
		}
		re, err := regexp.Compile("(?m:" + pattern + ")")
		if err != nil || !re.MatchString(text) {
			return
		}
		l := newLists(t, b, text)
		e := plan.Expr(tree)
		for _, l.exact = range []bool{false, true} {
			c, err := (&postings.Evaluator{Reader: l}).Eval(e)
			if err != nil {
				t.Fatal(err)
			}
			if !c.All && !c.Docs.Contains(0) {
				t.Fatalf("%q is no candidate of %q, which needs %s; exact lists %v", text, pattern, e, l.exact)
			}
		}
	})
}
