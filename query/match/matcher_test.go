package match

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"testing"
)

// TestLiteralTree: the tree of a quoted text is the one that the parser makes.
func TestLiteralTree(t *testing.T) {
	texts := []string{
		"quuxfrobnicate", "Spin_Lock_IrqSave", "a", "K", "k9", "}}}}", `\Q.*\E`, "->lock);", "#include <linux/module.h>", "two\nlines",
		"\u212aelvin", "\u017fharp", "stra\u00dfe", "\u1e9e", "\u01c5", "\u03c2\u03c3\u03a3", "\u0130\u0131iI", "\u7684", "\ufffd", "\x00", "\U00010400\U00010428", "\u2126\u00e5\u212b",
	}
	for _, text := range texts {
		for _, flags := range []syntax.Flags{syntax.Perl, syntax.Perl &^ syntax.OneLine, syntax.Perl | syntax.FoldCase, syntax.Perl&^syntax.OneLine | syntax.FoldCase} {
			want, err := syntax.Parse(regexp.QuoteMeta(text), flags)
			if err != nil {
				t.Fatal(err)
			}
			got := literalTree(text, flags)
			if got.Op != want.Op || got.Flags != want.Flags || !slices.Equal(got.Rune, want.Rune) {
				t.Errorf("%q with %b: got %v %b %q, want %v %b %q", text, flags, got.Op, got.Flags, got.Rune, want.Op, want.Flags, want.Rune)
			}
		}
	}
}
