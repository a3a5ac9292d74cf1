package match

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
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
	if testing.Short() {
		cases = 10_000
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
		l, lineErr := CompileLines(pattern, isRegexp, caseSensitive)
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

// Patterns that people type do not try line after line.
func TestLineMatcherIsWhole(t *testing.T) {
	for _, pattern := range []string{"linux", `^github\.com/a/b$`, `^github\.com/a/`, "-config$", `^github\.com/[^/]+/a$`, `a\W+b`, "a.*b", "(?:a|b)/c", `\ba\b`} {
		l, err := CompileLines(pattern, true, false)
		if err != nil {
			t.Fatal(err)
		}
		if l.automaton == nil && !l.exact {
			t.Errorf("%q tries each line alone", pattern)
		}
	}
	for pattern, every := range map[string]bool{".*": true, "": true, "x*": true, "^": false, "$": false, "a|": true} {
		if l, err := CompileLines(pattern, true, false); err != nil || l.every != every {
			t.Errorf("%q: matches every line %t, want %t (%v)", pattern, l.every, every, err)
		}
	}
}

func BenchmarkLineMatcher(b *testing.B) {
	var names []byte
	for i := range 100_000 {
		names = fmt.Appendf(names, "github.com/org%d/repository-%d\n", i%317, i)
	}
	for _, pattern := range []string{"quux", `^github\.com/org13/repository-13$`, `^github\.com/org13/`, `^git[^/]*/org13/.*-5000$`, "org13.*-5000", "repository", ".", "^r"} {
		l, err := CompileLines(pattern, true, false)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("pattern="+pattern, func(b *testing.B) {
			b.SetBytes(int64(len(names)))
			n := 0
			for b.Loop() {
				n = 0
				l.Find(names, func(int) bool {
					n++
					return true
				})
			}
			b.ReportMetric(float64(n), "lines/op")
		})
	}
}

func BenchmarkCompileLines(b *testing.B) {
	for _, pattern := range []string{"quux", `^github\.com/org13/repository-13$`, `^git[^/]*/org13/.*-5000$`} {
		b.Run("pattern="+pattern, func(b *testing.B) {
			for b.Loop() {
				if _, err := CompileLines(pattern, true, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
