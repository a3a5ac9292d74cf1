package syntax

import (
	"testing"

	"github.com/trawlsearch/trawl/query"
)

// WordAt finds what is written at the "|" of a text; the span is its end.
func TestWordAt(t *testing.T) {
	for _, c := range []struct {
		before, behind string
		field, text    string
		negated        bool
		start, end     int
	}{
		{"", "", "", "", false, 0, 0},
		{"re", "", "", "re", false, 0, 2},
		{"a re", "po b", "", "re", false, 2, 6},
		{"a ", "b", "", "", false, 2, 3},
		{"repo:", "", "repo", "", false, 0, 5},
		{"x -r:ab", "c y", "repo", "ab", true, 2, 8},
		{"-", "", "", "", true, 0, 1},
		{"(lang:g", ") x", "lang", "g", false, 1, 7},
		{"file:has.content(a b", "", "file", "has.content(a b", false, 0, 20},
		{`lang:"visual b`, "", "lang", "visual b", false, 0, 14},
		{`"a repo:x`, "", "", `"a repo:x`, false, 0, 9},
		{`"a" repo:x`, "", "repo", "x", false, 4, 10},
		{"printf( lang:g", "", "lang", "g", false, 8, 14},
		{"f(a b) lang:g", "", "lang", "g", false, 7, 13},
		{"f(a (b re", "", "", "re", false, 7, 9},
		{"a(b c)d(e f", "", "", "f", false, 10, 11},
		{"file:foo( lang:g", "", "lang", "g", false, 10, 16},
		{"-repo:contains.commit.after(1 month", "", "repo", "contains.commit.after(1 month", true, 0, 35},
		{"repo:has(a (b", "", "repo", "has(a (b", false, 0, 13},
		{"½ lang:½", "", "lang", "½", false, 3, 10},
		{"nosuch:x", "", "", "nosuch:x", false, 0, 8},
	} {
		got := WordAt(c.before+c.behind, len(c.before))
		want := Word{query.Span{Start: c.start, End: c.end}, c.field, c.negated, c.text}
		if got != want {
			t.Errorf("%q|%q: %+v, want %+v", c.before, c.behind, got, want)
		}
	}
}

func FuzzWordAt(f *testing.F) {
	f.Add(`-repo:"a b (c`, 9)
	f.Fuzz(func(t *testing.T, text string, cursor int) {
		if w := WordAt(text, cursor); w.Span.Start < 0 || w.Span.Start > w.Span.End || w.Span.End > len(text) {
			t.Errorf("WordAt(%q, %d) = %+v", text, cursor, w)
		}
	})
}

// What is proposed can be asked, as it is written.
func TestFieldValues(t *testing.T) {
	if len(Fields()) < 15 {
		t.Fatalf("there are %d filters", len(Fields()))
	}
	for _, f := range Fields() {
		for _, v := range f.Values {
			text := FormatFilter(query.Filter{Field: f.Name, Value: v}) + " x"
			if f.Name == "before" || f.Name == "after" {
				text = "type:commit " + text
			}
			q, err := Parse(text, query.Keyword)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			if got := q.Basics[0].Value(f.Name); got != v && f.Name != "patterntype" && f.Name != "count" {
				t.Errorf("%s is read as %q", text, got)
			}
		}
	}
}
