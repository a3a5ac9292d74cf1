package match_test

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/query/match"
)

// randomPattern makes a regexp of what names are asked for with, and of what may
// cross the end of a line.
func randomPattern(rng *rand.Rand, depth int) string {
	atoms := []string{"a", "b", "ab", "s", "k", "/", `\.`, ".", "[^x]", `\s`, `\W`, `\w`, "^", "$", `\A`, `\z`, `\b`, `\B`, "(?s).", "(?-s).", "(?m)^", "(?-m)^",
		"(?m)$", "(?i)A", "(?-i)A", `\n`, `[\n-a]`, `[^\x00-\x{10FFFF}]`, "[ab]", "é", "K", "github", "x*", ""}
	if depth == 0 || rng.IntN(3) == 0 {
		return atoms[rng.IntN(len(atoms))]
	}
	a, b := randomPattern(rng, depth-1), randomPattern(rng, depth-1)
	switch rng.IntN(6) {
	case 0:
		return "(?:" + a + "|" + b + ")"
	case 1:
		return "(" + a + ")" + b
	case 2:
		return "(?:" + a + ")" + []string{"*", "+", "?", "{2}", "{0,2}?"}[rng.IntN(5)]
	case 3:
		return "^" + a + b + "$"
	}
	return a + b
}

func randomName(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(6) {
		b.WriteString([]string{"a", "B", "ab", "S", "k", "/", ".", "x", "github", "é", "\u212a", "\u017f", "-", "\xff"}[rng.IntN(14-rng.IntN(4))])
	}
	return b.String()
}

// TestLineMatcher: the lines that match are those that Go's regexp matches alone.
func TestLineMatcher(t *testing.T) {
	cases := 60_000
	if testing.Short() || race.Enabled {
		cases = 10_000 // it works in one goroutine
	}
	rng := rand.New(rand.NewPCG(11, 12))
	some := 0
	for range cases {
		pattern, caseSensitive := randomPattern(rng, rng.IntN(4)), rng.IntN(3) == 0
		isRegexp := rng.IntN(8) > 0
		text := pattern
		if !isRegexp {
			text = regexp.QuoteMeta(text)
		}
		if !caseSensitive {
			text = "(?i)" + text
		}
		re, err := regexp.Compile(text)
		l, lineErr := match.CompileLines(pattern, isRegexp, caseSensitive)
		if (err == nil) != (lineErr == nil) {
			t.Fatalf("%q: errors %v and %v", text, err, lineErr)
		}
		if err != nil {
			continue
		}
		var lines []byte
		var want, got []int
		for range rng.IntN(8) * (1 + 200*(rng.IntN(100)/99)) {
			name := randomName(rng)
			if re.MatchString(name) {
				want = append(want, len(lines))
			}
			if l.Match(name) != re.MatchString(name) {
				t.Fatalf("%q matches %q: %t", text, name, l.Match(name))
			}
			lines = append(append(lines, name...), '\n')
		}
		l.Find(lines, func(start int) bool {
			got = append(got, start)
			return true
		})
		if !slices.Equal(got, want) {
			t.Fatalf("%q in %q: lines at %v, want %v", text, lines, got, want)
		}
		if len(got) > 1 {
			some++
			var first []int
			l.Find(lines, func(start int) bool {
				first = append(first, start)
				return false
			})
			if !slices.Equal(first, got[:1]) {
				t.Fatalf("%q in %q: stopped at %v, want %v", text, lines, first, got[:1])
			}
		}
	}
	if some < cases/20 {
		t.Errorf("%d of %d cases match several lines: too few to tell", some, cases)
	}
}
