package bench

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestCsearchCommand(t *testing.T) {
	at := workspace{source: &source{tree: "/t.d"}, dir: "/i"}
	for _, tt := range []struct {
		query Query
		want  string
	}{
		// One pattern
		{Query{Scope: Lines, Terms: literals("->a")}, `-i -n -- ->a`},
		{Query{Scope: Lines, Text: "case:yes a", Terms: regexps(`a\b`)}, `-n -- a\b`},
		{Query{Scope: Lines, Terms: literals("a.", "b")}, `-i -n -- a\.|b`},
		{Query{Scope: Files, Terms: literals("a")}, `-i -l -- a`},

		// Paths
		{Query{Scope: Lines, Terms: literals("a"), Globs: []string{"x/**", "*.c"}}, `-f (?i)^/t\.d/(?:x/|(?:.*/)?[^/]*\.c$) -i -n -- a`},

		// What it cannot
		{Query{Scope: Lines, Terms: literals("a"), Globs: []string{"!*.c"}}, "cannot leave files out"},
		{Query{Scope: Lines, All: true, Terms: literals("a", "b")}, "looks for one thing at a time"},
		{Query{Scope: Lines, Terms: literals("a"), Without: literals("b")}, "looks for one thing at a time"},
		{Query{Scope: Paths, PathRegexps: []string{"a"}}, "looks into files only"},
		{Query{Scope: Files, Terms: regexps(`a\nb`)}, "sees one line at a time"},
	} {
		steps, got := csearchGrep{}.steps(tt.query)
		if got == "" {
			got = strings.Join(csearchGrep{}.command(context.Background(), at, steps[0].args).Args[1:], " ")
		}
		if got != tt.want {
			t.Errorf("%+v:\n got %s\nwant %s", tt.query, got, tt.want)
		}
	}
}

func TestCsearchForm(t *testing.T) {
	form := csearchGrep{}.form(workspace{source: &source{tree: "/t"}})
	for _, tt := range []struct {
		out     string
		want    LineSet
		wantErr string
	}{
		{"", LineSet{}, ""},
		{"/t/a:2:x\n/t/a:1:y:3:z\n/t/b c:7:\n", LineSet{"a": {2, 1}, "b c": {7}}, ""},
		{"/t/a: b:2:x", LineSet{"a: b": {2}}, ""},
		{"/u/a:2:x\n", nil, "want a path below /t"},
		{"/t/a:0:x\n", nil, "and a number"},
		{"/t/a:99999999999:x\n", nil, "and a number"},
	} {
		got := LineSet{}
		err := form.lines(got, []byte(tt.out))
		if !errorHas(err, tt.wantErr) || err == nil && !maps.EqualFunc(got, tt.want, slices.Equal[[]uint32]) {
			t.Errorf("output %q: %v, error %v; want %v, error with %q", tt.out, got, err, tt.want, tt.wantErr)
		}
	}
	if got := form.paths([]byte("/t/a\n/u/b\n/t/c d\n")); !slices.Equal(got, []string{"a", "c d"}) {
		t.Errorf("paths = %q, want those below the tree", got)
	}
}

func FuzzCsearchForm(f *testing.F) {
	f.Add("/t/a:2:x\n/t/b c:12:\n")
	form := csearchGrep{}.form(workspace{source: &source{tree: "/t"}})
	f.Fuzz(func(t *testing.T, out string) {
		set := LineSet{}
		if err := form.lines(set, []byte(out)); err != nil {
			return
		}
		if n, lines := set.Len(), strings.Count(out, "\n")+1; n > lines {
			t.Errorf("output %q of %d lines read as %d", out, lines, n)
		}
	})
}
