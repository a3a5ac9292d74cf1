package dfa_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query/match/dfa"
)

// check compares all matches in each of the texts with those of Go's engine.
func check(t *testing.T, pattern string, texts ...string) {
	t.Helper()
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return
	}
	re, err := dfa.Compile(tree)
	if errors.Is(err, dfa.ErrUnsupported) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	std, err := regexp.Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		got, err := findAll(re, text)
		if errors.Is(err, dfa.ErrBudget) {
			continue
		}
		if want := std.FindAllStringIndex(text, -1); !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("pattern %q in %.300q\n got %v\nwant %v", pattern, text, got, want)
		}
	}
}

func findAll(re *dfa.Regexp, text string) (spans [][]int, err error) {
	s := re.Searcher()
	defer s.Release()
	for at := 0; ; {
		start, end, ok, err := s.Next([]byte(text), at)
		if err != nil || !ok {
			return spans, err
		}
		spans = append(spans, []int{start, end})
		at = end
	}
}

// cases is how many random patterns there are. TRAWL_CASES sets it: one
// goroutine does all of this, which the race detector only slows down.
func cases() int {
	if n, err := strconv.Atoi(os.Getenv("TRAWL_CASES")); err == nil {
		return n
	}
	if testing.Short() {
		return 1000
	}
	return 5000
}

func TestTable(t *testing.T) {
	texts := []string{
		"", "a", "ab", "aab abb ba", "foo bar\nfoo\n\nbar foo", "x\ny\nz", "word1 word_2\tword3\r\n", "Ünïcödé ΑΒΓ αβγ ſK kelvin",
		"\u212a\u017f日本語 text\n", "aaaaaaaaaaaaaaaaaaaa", "abcabcabcabd", "123-456-7890 and 555-1234\n", "\U0001F600 emoji \U0010FFFF",
	}
	patterns := []string{
		// preference
		`a|ab`, `ab|a`, `a+?`, `a+`, `a{2,3}`, `a{2,3}?`, `(a|ab)(c|bcd)`, `(abc)+`, `abc|abcd`, `(?:a|b)*a`, `.+?b`, `.*b`,
		// assertions
		`^foo`, `foo$`, `(?m)^foo`, `(?m)foo$`, `(?m)^bar$`, `\bfoo\b`, `\Boo`, `\Afoo`, `foo\z`, `(?m)^\w`, `(?m)$\n`, `\b\w`, `(?m)x$\n^y`, `.\b`, `\b.`,
		// classes
		`.`, `(?s).`, `[^a]`, `\w+`, `\W`, `\s+`, `[0-9]{3}-[0-9]{4}`, `\pL+`, `\p{Greek}`, `[α-γ]`, `[^\x00-\x7f]`, `(?i)k`, `(?i)s+`, `(?i)αβγ`,
		`\w{5}\s+\w{2}`, `[日本]+`, `\x{10ffff}`, `[\x{d7ff}-\x{e000}]`, `[^\n]+`,
	}
	for _, p := range patterns {
		check(t, p, texts...)
	}
}

// randomPattern draws from everything the parser knows.
func randomPattern(rng *rand.Rand, depth int) string {
	if depth == 0 {
		return []string{"a", "b", "c", "ab", "é", "日", ".", `\w`, `\W`, `\s`, `\d`, `[a-c]`, `[^a]`, `[^\n]`, `\n`, `(?s:.)`, `\b`, `\B`, `^`, `$`,
			`(?m:^)`, `(?m:$)`, `\A`, `\z`, `\pL`, `\PL`, `(?i:k)`, `(?i:sé)`, `[α-ω日]`, "_", " "}[rng.IntN(31)]
	}
	a, b := randomPattern(rng, depth-1), randomPattern(rng, depth-1)
	switch rng.IntN(7) {
	case 0:
		return "(?:" + a + "|" + b + ")"
	case 1:
		return "(?:" + a + ")" + []string{"*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?", "{2,}"}[rng.IntN(10)]
	case 2:
		return "(" + a + ")" + b
	}
	return a + b
}

func randomText(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(40) {
		b.WriteString([]string{"a", "b", "c", "ab", "é", "É", "日", "\n", "\r\n", " ", "_", "0", "k", "K", "\u212a", "ſ", "α", "\U0001F600", "\ufffd"}[rng.IntN(19)])
	}
	return b.String()
}

func TestAgainstRegexp(t *testing.T) {
	for seed := range uint64(cases()) {
		rng := rand.New(rand.NewPCG(seed, 4))
		p := randomPattern(rng, rng.IntN(5))
		check(t, p, randomText(rng), randomText(rng), randomText(rng))
	}
}

// TestSharedSearcher: what a searcher keeps from other texts changes nothing.
func TestSharedSearcher(t *testing.T) {
	tree, _ := syntax.Parse(`(?m)\b(\w+)_(\w+)$|^[a-c]+`, syntax.Perl)
	re, err := dfa.Compile(tree)
	if err != nil {
		t.Fatal(err)
	}
	std := regexp.MustCompile(`(?m)\b(\w+)_(\w+)$|^[a-c]+`)
	s := re.Searcher()
	for seed := range uint64(2000) {
		text := randomText(rand.New(rand.NewPCG(seed, 9)))
		want := std.FindAllStringIndex(text, -1)
		i := 0
		for at := 0; ; i++ {
			start, end, ok, err := s.Next([]byte(text), at)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			if i >= len(want) || want[i][0] != start || want[i][1] != end {
				t.Fatalf("match %d of %q is %d-%d, want %v", i, text, start, end, want)
			}
			at = end
		}
		if i != len(want) {
			t.Fatalf("%d matches of %q, want %v", i, text, want)
		}
	}
}

// TestWindows: places are skipped, and the skipping of them pauses, only where
// no match begins.
func TestWindows(t *testing.T) {
	patterns := []string{
		`\w{5}\s+\w{5}\s+\w{5}`, `[0-9]{3}-[0-9]{3}-[0-9]{4}`, `a{40}`, `a{39}b`, `(?m)^[a-c ]{30,}$`, `(?i)[a-f]{12}k`, `\p{Greek}{2}`,
		`(foo|barbaz)\s*[:(]`, `(?m)^(\w+ ){6}$`, `\bspin\w+lock\b`, `(ab){3,}?c`, `[^\n]{300}`, `é日{2}`, `(?s)a.{50}b`, `\B\w{4}\B`,
	}
	parts := []string{
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "a", "b", "c ", "abab", "ababab", "foo:", "barbaz  (", "spin", "_lock", " ", "\n", "\n\n\t", "words ", "three ",
		"123", "-", "4567", "αβ", "é日日", "K", "\u212a", strings.Repeat("x", 300), strings.Repeat("abc ", 12),
	}
	texts := make([]string, max(cases()/250, 2))
	for seed := range texts {
		rng := rand.New(rand.NewPCG(uint64(seed), 16))
		var b strings.Builder
		// Few parts in turn make stretches where windows do not pay.
		for b.Len() < 30_000 {
			some := parts
			if rng.IntN(2) == 0 {
				i := rng.IntN(len(parts) - 2)
				some = parts[i : i+2]
			}
			for range rng.IntN(200) {
				b.WriteString(some[rng.IntN(len(some))])
			}
		}
		texts[seed] = b.String()
	}
	for _, p := range patterns {
		check(t, p, texts...)
	}
}

// TestHostile: patterns that blow up are refused or give up; they do not eat
// time or memory.
func TestHostile(t *testing.T) {
	text := []byte(strings.Repeat("ab", 200000))
	for _, p := range []string{`(a{0,500}){0,2}z`, `(?:a|b)*a(?:a|b){14}c`, `(?:\pL{30}|\pN{30}){10}`, `((a|b)?){90}x`} {
		tree, err := syntax.Parse(p, syntax.Perl)
		if err != nil {
			continue
		}
		re, err := dfa.Compile(tree)
		if err != nil {
			if !errors.Is(err, dfa.ErrUnsupported) {
				t.Errorf("%s: %v", p, err)
			}
			continue
		}
		s := re.Searcher()
		if _, _, ok, err := s.Next(text, 0); ok || err != nil && !errors.Is(err, dfa.ErrBudget) {
			t.Errorf("%s: found %v, %v", p, ok, err)
		}
	}
}

func FuzzNext(f *testing.F) {
	for _, p := range []string{`a|ab`, `\b\w+\b`, `(?m)^x.*y$`, `(?i)kſ`, `[^a]+?b`} {
		f.Add(p, "foo ab xyy\nx_y \u212a 日本\n")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 100 || len(text) > 2000 || !utf8.ValidString(text) {
			return
		}
		check(t, pattern, text)
	})
}

func BenchmarkNext(b *testing.B) {
	text := []byte(strings.Repeat("static inline int some_function(struct thing *t, int x)\n{\n\treturn t->value + x; /* ordinary */\n}\n", 2000))
	for _, p := range []string{`[0-9]{3}-[0-9]{3}-[0-9]{4}`, `\w{5}\s+\w{5}\s+\w{5}\s+\w{5}\s+\w{5}`, `\p{Greek}`, `[A-Z]+_RESUME`} {
		tree, _ := syntax.Parse(p, syntax.Perl)
		re, err := dfa.Compile(tree)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("pattern=%s", p), func(b *testing.B) {
			s := re.Searcher()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				for at := 0; ; {
					_, end, ok, err := s.Next(text, at)
					if err != nil {
						b.Fatal(err)
					}
					if !ok {
						break
					}
					at = end
				}
			}
		})
	}
}
