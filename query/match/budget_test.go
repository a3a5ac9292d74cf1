package match_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/query/match"
)

// stoppable are patterns and texts that would take hours.
var stoppable = []struct {
	name, pattern string
	text          func() string
}{
	// the automaton looks at all the rest for each match
	{"quadratic", `(?s)a.*zq|a`, func() string { return strings.Repeat("a", 4<<20) }},
	{"quadratic in lines", `a.*zq|a`, func() string { return strings.Repeat("a", 4<<20) }},
	// more states than fit: Go's engine
	{"states", `(?s)e.{900}q[^x]`, func() string { return strings.Repeat("ae q", 1<<20) }},
	// no automaton at all
	{"nullable", `(?s)(e.{900}qz)?`, func() string { return strings.Repeat("ae q", 1<<20) }},
	{"large program", `([\pL\pN]{900}x)`, func() string { return strings.Repeat("aé", 1<<20) }},
}

// TestBudget: work on a text ends soon after it is told to, whatever the pattern.
// Without that the test would not end.
func TestBudget(t *testing.T) {
	done := make(chan struct{})
	close(done)
	for _, tt := range stoppable {
		m, err := match.Compile(tt.pattern, true, true)
		if err != nil {
			t.Fatal(err)
		}
		text := []byte(tt.text())
		var doc match.Text
		doc.Budget = &match.Budget{Done: done}
		doc.ResetBytes(text, nil)
		if _, _, err := m.Finder(nil).Find(nil, &doc, match.Blocks{}); !errors.Is(err, match.ErrStopped) {
			t.Errorf("%s: Find of /%s/ ended with %v, want %v", tt.name, tt.pattern, err, match.ErrStopped)
		}
		for name, look := range map[string]func(*match.Budget, []match.Span, []byte) ([]match.Span, bool, error){
			"FindBytesOn": m.FindBytesWithin, "BruteOn": m.BruteWithin,
		} {
			if _, _, err := look(&match.Budget{Done: done}, nil, text); !errors.Is(err, match.ErrStopped) {
				t.Errorf("%s: %s of /%s/ ended with %v, want %v", tt.name, name, tt.pattern, err, match.ErrStopped)
			}
		}
	}
}

// TestMaxSpans: of a text with more matches than are kept the first are, those
// of all patterns together, and that is told.
func TestMaxSpans(t *testing.T) {
	text := []byte(strings.Repeat("a\n", match.MaxSpans+5))
	patterns := []string{"a", "(?i)a", "[ab]", "a|b", "a?", `\x61$`, `(?s)a\s`, `\ba\b`}
	if race.Enabled { // a quarter of a million matches, again and again
		patterns = patterns[:1]
	}
	for _, pattern := range patterns {
		m, err := match.Compile(pattern, true, true)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := m.Brute(nil, text)
		if len(want) != match.MaxSpans+5 {
			t.Fatalf("/%s/ matches %d times, want %d", pattern, len(want), match.MaxSpans+5)
		}
		for _, kept := range []int{0, 1000, 2 * match.MaxSpans} {
			limit := max(match.MaxSpans-kept, 1)
			var doc match.Text
			budget := &match.Budget{Kept: kept}
			doc.Budget = budget
			doc.ResetBytes(text, nil)
			got, found, err := m.Finder(nil).Find(nil, &doc, match.Blocks{})
			if err != nil || !found || !budget.Cut || !slices.Equal(got, want[:limit]) {
				t.Errorf("/%s/ with %d kept: got %d matches (found %t, cut %t, %v), want the first %d", pattern, kept, len(got), found, budget.Cut, err, limit)
			}
			budget = &match.Budget{Kept: kept}
			if got, _, err = m.BruteWithin(budget, nil, text); err != nil || !budget.Cut || !slices.Equal(got, want[:limit]) {
				t.Errorf("/%s/ with %d kept, by brute force: got %d matches (cut %t, %v), want the first %d", pattern, kept, len(got), budget.Cut, err, limit)
			}
		}
	}
	// As many as are kept are all of them.
	budget := &match.Budget{}
	m, err := match.Compile("a", false, true)
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := m.FindBytesWithin(budget, nil, text[:2*match.MaxSpans]); len(got) != match.MaxSpans || budget.Cut || err != nil {
		t.Errorf("exactly as many as are kept: got %d matches, cut %t, %v", len(got), budget.Cut, err)
	}
}

// TestBruteWithinBudget: Go's engine finds the same when it reads rune by rune.
func TestBruteWithinBudget(t *testing.T) {
	texts := []string{
		"", "a", "kiln\nclay", "aXbXc", "\xff\xfea\xe2\x82b\xe2", "é\u212aſs k", "a\xe2\x82\xacb\xe2", "word-word  word\n\nx", "xx\n",
	}
	patterns := []string{
		"", "a*", "a|b|", "^", "$", `\b`, `\B`, `\A.`, `.\z`, "(?s).", `(?i)k|S`, `^.*$`, `\w+|`, `(a)|(b)`, `x??`, `\Qa`, `a|\Qc`, `(?-m)^.|.$`, `[^a]`, `.\b.?`, "\xef\xbf\xbd",
	}
	size := 20_000
	if race.Enabled { // one goroutine does all of this
		size, patterns = 5_000, patterns[:6]
	}
	for _, pattern := range patterns {
		m, err := match.Compile(pattern, true, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			// so long that the budget counts
			long := []byte(strings.Repeat(text, 1+size/max(len(text), 1)))
			want, wantFound := m.Brute(nil, long)
			got, found, err := m.BruteWithin(&match.Budget{}, nil, long)
			if err != nil || found != wantFound || !slices.Equal(got, want) {
				t.Errorf("/%s/ in %q over and over: got %d matches, %t, %v; want %d, %t", pattern, text, len(got), found, err, len(want), wantFound)
			}
		}
	}
}
