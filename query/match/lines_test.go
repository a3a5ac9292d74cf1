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

// TestFindLines compares with Go's regexp, run on every line by itself.
func TestFindLines(t *testing.T) {
	patterns := []string{
		// within a line
		`ab`, `a.*b`, `^a`, `b$`, `^$`, `^ab$`, `x*`, `k`, `\bs`, `[a-c]+`, `(a|b){2}`,
		// what would run over the end of a line
		`a\s`, `\s+`, `[^a]+`, `\W+`, `(?s)a.b`, `\n`, `a\nb`, `(?s:.*)`,
		// ends of the text
		`\Aa`, `b\z`, `\A\z`,
	}
	rng := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "b", "c", "\n", "\n", " ", "s", "K", "\u017f", "\u212a", "\r", "\xff", "é"}
	texts := make([]string, 3000)
	if race.Enabled {
		texts = texts[:300]
	}
	for i := range texts {
		for range rng.IntN(20) {
			texts[i] += alphabet[rng.IntN(len(alphabet))]
		}
	}
	for _, p := range patterns {
		for _, caseSensitive := range []bool{true, false} {
			m, err := match.Compile(p, true, caseSensitive)
			if err != nil {
				t.Fatal(err)
			}
			prefix := "(?m)"
			if !caseSensitive {
				prefix = "(?mi)"
			}
			re := regexp.MustCompile(prefix + p)
			for _, text := range texts {
				want, wantFound := linesOf(re, text)
				got, found, _ := m.FindLines(nil, nil, []byte(text))
				if found != wantFound || !slices.Equal(got, want) {
					t.Errorf("FindLines of /%s/ in %q (case %t) = %v, %t; want %v, %t", p, text, caseSensitive, got, found, want, wantFound)
				}
				if got, found, _ := m.BruteLines(nil, nil, []byte(text)); found != wantFound || !slices.Equal(got, want) {
					t.Errorf("BruteLines of /%s/ in %q (case %t) = %v, %t; want %v, %t", p, text, caseSensitive, got, found, want, wantFound)
				}
			}
		}
	}
}

// linesOf is what re finds in each line by itself, where it is in the text, and
// whether anything was found, were it empty.
func linesOf(re *regexp.Regexp, text string) (spans []match.Span, found bool) {
	at := 0
	for line := range strings.SplitSeq(text, "\n") {
		for _, loc := range re.FindAllStringIndex(line, -1) {
			found = true
			if loc[0] < loc[1] {
				spans = append(spans, match.Span{Start: uint32(at + loc[0]), End: uint32(at + loc[1])})
			}
		}
		at += len(line) + 1
	}
	return spans, found
}

// TestCompileWhole: ^ and $ are the ends of the text, and a literal or a regexp
// finds what Go's regexp without flags finds.
func TestCompileWhole(t *testing.T) {
	for _, text := range []string{"", "one", "one\ntwo", "two\none\n", "ONE\n"} {
		for _, p := range []string{`^one`, `one$`, `^one$`, `^`, `t.*`, `o`, `e.t`, `\z`} {
			for _, caseSensitive := range []bool{true, false} {
				m, err := match.CompileWhole(p, true, caseSensitive)
				if err != nil {
					t.Fatal(err)
				}
				prefix := ""
				if !caseSensitive {
					prefix = "(?i)"
				}
				var want []match.Span
				wantFound := false
				for _, loc := range regexp.MustCompile(prefix+p).FindAllStringIndex(text, -1) {
					wantFound = true
					if loc[0] < loc[1] {
						want = append(want, match.Span{Start: uint32(loc[0]), End: uint32(loc[1])})
					}
				}
				if got, found := m.FindBytes(nil, []byte(text)); found != wantFound || !slices.Equal(got, want) {
					t.Errorf("/%s/ in %q (case %t): %v, %t; want %v, %t", p, text, caseSensitive, got, found, want, wantFound)
				}
			}
		}
	}
}
