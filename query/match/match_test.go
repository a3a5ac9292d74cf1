package match_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// corpus is a shard in a store with the texts it was made from.
type corpus struct {
	view  shard.View
	docs  *shard.Documents
	texts [][]byte
	close func()
}

func newCorpus(t testing.TB, texts [][]byte) *corpus {
	t.Helper()
	s, err := store.Open("data", store.Options{FS: vfs.NewMem(), CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	w := s.NewShardWriter()
	for i, text := range texts {
		d := shard.Document{Repository: 1, Path: strconv.Itoa(i), OID: make([]byte, 20)}
		if err := w.AddDocument(d, text, i%7 != 3); err != nil {
			t.Fatal(err)
		}
	}
	h, err := w.Finish(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(store.Change{Add: []shard.Header{h}}); err != nil {
		t.Fatal(err)
	}
	sn := s.Snapshot()
	c := &corpus{view: sn.Shards()[0], texts: texts}
	if c.docs, err = c.view.Documents(); err != nil {
		t.Fatal(err)
	}
	c.close = func() { w.Close(); sn.Close(); s.Close() }
	return c
}

// find runs m over the corpus as a search does: posting lists, then text.
func (c *corpus) find(t testing.TB, m *match.Matcher) map[int][]match.Span {
	t.Helper()
	lists := c.view.ListReader()
	defer lists.Close()
	ev := &postings.Evaluator{Reader: c.view.Lists(shard.FieldContent, lists)}
	cand, err := ev.Eval(m.Expr)
	if err != nil {
		t.Fatal(err)
	}
	finder := m.Finder(cand.Anchor)
	src := c.view.Text()
	defer src.Close()
	out := map[int][]match.Span{}
	var text match.Text
	var blocks match.Blocks
	for i := range c.texts {
		if !cand.All && !cand.Docs.Contains(uint16(i)) {
			continue
		}
		first, last := c.docs.FirstBlock[i], c.docs.FirstBlock[i+1]
		text.Reset(src, c.docs.TextStart[i], int(c.docs.TextBytes[i]), c.view.Newlines()[first:last])
		spans, found, err := finder.Find(nil, &text, blocks.Of(&cand, int(first), int(last)))
		if err != nil {
			t.Fatal(err)
		}
		if found {
			out[i] = spans
		}
	}
	return out
}

// check compares with Go's engine over every whole text.
func (c *corpus) check(t testing.TB, pattern string, isRegexp, caseSensitive bool, repro string) {
	t.Helper()
	m, err := match.Compile(pattern, isRegexp, caseSensitive)
	if err != nil {
		return
	}
	text := pattern
	if !isRegexp {
		text = regexp.QuoteMeta(text)
	}
	flags := "(?m)"
	if !caseSensitive {
		flags = "(?mi)"
	}
	re := regexp.MustCompile(flags + text)
	got := c.find(t, m)
	for i, doc := range c.texts {
		var want []match.Span
		locs := re.FindAllIndex(doc, -1)
		for _, l := range locs {
			if l[0] < l[1] {
				want = append(want, match.Span{Start: uint32(l[0]), End: uint32(l[1])})
			}
		}
		spans, found := got[i]
		if found != (len(locs) > 0) || !slices.Equal(spans, want) {
			t.Errorf("pattern %q regexp=%v case=%v, document %d (%d bytes): found %v %v, want %v %v; expression %v\nrepeat: %s",
				pattern, isRegexp, caseSensitive, i, len(doc), found, clip(spans), len(locs) > 0, clip(want), m.Expr, repro)
			return
		}
	}
}

func clip(s []match.Span) []match.Span { return s[:min(len(s), 8)] }

var words = []string{"foo", "Foo", "bar", "baz_qux", "k", "s", "K", "ſ", "\u212a", "Straße", "ΑΒΓ", "αβγ", "x", "xy", "->", "();",
	"12", "345", "\xff", "\xc3", "é", "É", "日本", "_", "task", "TASK", "tasK", "if (", "\ufffd"}

func randomText(rng *rand.Rand) []byte {
	n := []int{0, 1, 10, 300, 4090, 4100, 9000, 40000, 70000}[rng.IntN(9)]
	var b bytes.Buffer
	for b.Len() < n {
		b.WriteString(words[rng.IntN(len(words))])
		switch rng.IntN(8) {
		case 0:
			b.WriteByte('\n')
		case 1:
			b.WriteString("\r\n")
		case 2, 3:
			b.WriteByte(' ')
		case 4:
			if rng.IntN(20) == 0 {
				b.WriteString(strings.Repeat("long ", rng.IntN(400)))
			}
		}
	}
	return b.Bytes()
}

// randomRegexp draws a regexp over the words of the corpus.
func randomRegexp(rng *rand.Rand, depth int) string {
	if depth == 0 {
		switch rng.IntN(12) {
		case 0:
			return []string{".", `\w`, `\s`, `[a-f]`, `[^x]`, `\d`, `[fF]`, `\pL`, `[à-ÿΑ-ω日]`, `\p{Greek}`, `[kK]`, `[^\n]`, `(?s:.)`, `\W`}[rng.IntN(14)]
		case 1:
			return []string{"^", "$", `\b`, `\B`, `\A`, `\z`}[rng.IntN(6)]
		case 2:
			return `\n`
		}
		w := words[rng.IntN(len(words))]
		for !validUTF8(w) {
			w = words[rng.IntN(len(words))]
		}
		return regexp.QuoteMeta(w)
	}
	a, b := randomRegexp(rng, depth-1), randomRegexp(rng, depth-1)
	switch rng.IntN(10) {
	case 0:
		return "(?:" + a + "|" + b + ")"
	case 1:
		return "(?:" + a + ")" + []string{"*", "+", "?", "{2}", "{1,3}", "*?", "+?", "{2,}"}[rng.IntN(8)]
	case 2:
		return a + ".*" + b
	case 3:
		return a + `\s*` + b
	case 4:
		return "(?i:" + a + ")" + b
	case 5:
		return a
	}
	return a + b
}

func validUTF8(s string) bool { return strings.ToValidUTF8(s, "") == s }

// TestFindAgainstRegexp is the oracle: thousands of random patterns over
// random texts with unicode, CRLF and bytes that are not UTF-8. TRAWL_SEED
// repeats one seed, TRAWL_CASES sets how many.
func TestFindAgainstRegexp(t *testing.T) {
	cases := 600
	if testing.Short() || race.Enabled {
		cases = 150
	}
	if n, err := strconv.Atoi(os.Getenv("TRAWL_CASES")); err == nil {
		cases = n
	}
	first := uint64(1)
	if n, err := strconv.ParseUint(os.Getenv("TRAWL_SEED"), 10, 64); err == nil {
		first, cases = n, 1
	}
	const perCorpus = 50
	for seed := first; seed < first+uint64((cases+perCorpus-1)/perCorpus); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 99))
			texts := make([][]byte, 8)
			for i := range texts {
				texts[i] = randomText(rng)
			}
			c := newCorpus(t, texts)
			defer c.close()
			repro := fmt.Sprintf("TRAWL_SEED=%d go test ./query/match -run TestFindAgainstRegexp", seed)
			for range perCorpus {
				caseSensitive := rng.IntN(2) == 0
				if rng.IntN(2) == 0 {
					var lit strings.Builder
					for range 1 + rng.IntN(3) {
						lit.WriteString(words[rng.IntN(len(words))])
					}
					c.check(t, lit.String(), false, caseSensitive, repro)
				} else {
					c.check(t, randomRegexp(rng, rng.IntN(4)), true, caseSensitive, repro)
				}
			}
		})
	}
}

// TestFindAlternatives: alternatives are looked for in the blocks that lists
// give for each, wherever in a block, or across its end, they stand.
func TestFindAlternatives(t *testing.T) {
	const block = postings.BlockBytes
	text := func(places map[int]string) []byte {
		b := bytes.Repeat([]byte("no such line\n"), 8*block/13)
		for at, word := range places {
			copy(b[at:], word)
		}
		return b
	}
	c := newCorpus(t, [][]byte{
		text(map[int]string{0: "alpha", 3 * block: "beta", 3*block + 9: "alphabeta", 5*block - 2: "gamma_x"}),
		text(map[int]string{block - 1: "alpha", 2*block - 3: "betagamma", 7*block + 100: "BETA gamma"}),
		text(map[int]string{block - 64: "alpha" + strings.Repeat("a", 60) + "beta", 4*block - 5: "alpha", 4 * block: "gamma"}),
		[]byte("gamma"), []byte("alphaalpha beta"), text(nil), []byte("\u017fuch al\u212aa"),
	})
	defer c.close()
	patterns := []string{
		`alpha|beta|gamma`, `(alpha|beta|gamma)\w*`, `(?:beta|alpha)+`, `(gamma|beta|alpha)$`, `\b(beta|gamma)\b`,
		`alpha|alphabeta|beta`, `alphabeta|alpha|beta`, `(alpha|beta)(beta|gamma)`, `alpha\s|alphab|gamma_`,
		`(alpha|beta|gamma|such)`, `such|gamma|alka`, `alpha|(?i:beta)|gamma`,
		`alpha|beta|gamma|delta|such|line|none|alp|bet|gam`,
	}
	if race.Enabled { // one goroutine does all of this
		patterns = patterns[:3]
	}
	for _, p := range patterns {
		for _, caseSensitive := range []bool{true, false} {
			c.check(t, p, true, caseSensitive, "go test ./query/match -run TestFindAlternatives")
		}
	}
}

// TestFindCorners: patterns whose parts have flags of their own, that name
// runes no text has, that match nothing but a place, and texts of many windows.
func TestFindCorners(t *testing.T) {
	// Some more than a window of 64 blocks, which make oracle asks for; the race
	// detector needs no more than some documents that are not read whole.
	size := 280_000
	if race.Enabled {
		size = 5_000
	}
	fill := func(s string) []byte { return bytes.Repeat([]byte(s), size/len(s)) }
	lines, long := fill("foo bar\nx\n\nTASK k \xff\n"), fill("foo ta\u017fk bar x")
	c := newCorpus(t, [][]byte{
		[]byte("ab AB aB \ufffd \xff\n"), []byte("K \u212a ſ s k"), []byte("x"), []byte("a\n"), {},
		lines, append([]byte("x\n"), long...), fill("\n"),
	})
	defer c.close()
	for _, p := range []string{
		// a literal in the end, with flags of its own
		`(?i:ab){1}`, `(?i:a){1,1}`, `((?i:ab))`, `(?i:(ab))`, `(?i)(?-i:ab)`, `(?i:k){1}`, `[aA]{1}`,
		// surrogates
		`\x{D800}`, `[\x{DFFF}]`, `\x{D800}a?`, `(?i)\x{D800}`,
		// places
		`^$`, `^`, `$`, `\b`, `\B`, `^x?$`, `\z`, `\A`, `x*\z`, `(?-m)^f`, `(?-m)k$`, `^.*$`, `\bx\b`, `^foo`, `bar$`,
		// everywhere
		`.`, `\s`, `[^a]`, `[^\n]*`, `\n`, `task`, `tas\w`, `o{2} `, `\w+ bar x$`,
	} {
		for _, caseSensitive := range []bool{true, false} {
			c.check(t, p, true, caseSensitive, "go test ./query/match -run TestFindCorners")
		}
	}
}

// TestZeroText: the zero value is an empty document.
func TestZeroText(t *testing.T) {
	m, err := match.Compile("x*", true, true)
	if err != nil {
		t.Fatal(err)
	}
	var text match.Text
	if spans, found, err := m.Finder(nil).Find(nil, &text, match.Blocks{}); len(spans) > 0 || !found || err != nil {
		t.Errorf("x* in the zero Text: %v, %v, %v; want an empty match only", spans, found, err)
	}
}

// FuzzFind lets the fuzzer choose pattern and text.
func FuzzFind(f *testing.F) {
	for _, p := range []string{"foo", `(?i)task`, `a.*b`, `\s+x`, `^$`, `[sk]+`, `(a|b|cd)e{2,3}`, `\x{212a}`, `x*`, "\ufffd"} {
		f.Add(p, "foo task TASK\nab\r\nſk \xff x\n", true, false)
		f.Add(p, strings.Repeat("task foo aXb\n", 700), true, true)
		f.Add(p, "aab\n\n\u212aelvin", false, false)
	}
	f.Fuzz(func(t *testing.T, pattern, text string, isRegexp, caseSensitive bool) {
		if len(pattern) > 60 || len(text) > 20000 {
			return
		}
		c := newCorpus(t, [][]byte{[]byte("other"), []byte(text)})
		defer c.close()
		c.check(t, pattern, isRegexp, caseSensitive, "the fuzz corpus")
	})
}
