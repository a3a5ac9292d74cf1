package match

import (
	"fmt"
	"testing"
)

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
