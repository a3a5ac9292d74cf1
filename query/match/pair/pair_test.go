package pair_test

import (
	"bytes"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/trawlsearch/trawl/query/match/pair"
)

// find is a way of Pair to find.
type find func(p pair.Pair, x, y []byte, i int) pair.Hits

var finds = []find{pair.Pair.Find, pair.Pair.FindNarrow}

// places returns all positions that f finds, as a caller that compares there
// does.
func places(t testing.TB, f find, p pair.Pair, x, y []byte, from int) (out []int) {
	t.Helper()
	for i := from; i < len(x); {
		h := f(p, x, y, i)
		if h.Next <= i || h.Next > len(x) || h.Bits == 0 && h.Next != len(x) {
			t.Fatalf("from %d of %d: %+v does not go on", i, len(x), h)
		}
		for rest, first := h.Bits, true; rest != 0; rest, first = rest&(rest-1), false {
			at := h.Base + bits.TrailingZeros32(rest)
			if at < i || at >= h.Next {
				t.Fatalf("from %d: place %d of %+v was not looked at", i, at, h)
			}
			if stands(p, x[at], y[at]) {
				out = append(out, at)
			} else if first {
				t.Fatalf("from %d: the first place %d of %+v is none", i, at, h)
			}
		}
		i = h.Next
	}
	return out
}

func stands(p pair.Pair, x, y byte) bool {
	return x|p.FirstMask == p.First && y|p.SecondMask == p.Second
}

func want(p pair.Pair, x, y []byte, from int) (out []int) {
	for i := from; i < len(x); i++ {
		if stands(p, x[i], y[i]) {
			out = append(out, i)
		}
	}
	return out
}

// check compares every way to find with a loop.
func check(t testing.TB, p pair.Pair, text []byte, distance, from int) {
	t.Helper()
	if len(text) < distance {
		return
	}
	x, y := text[:len(text)-distance:len(text)-distance], text[distance:len(text):len(text)]
	from = min(from, len(x))
	want := want(p, x, y, from)
	for n, f := range finds {
		if got := places(t, f, p, x, y, from); !slices.Equal(got, want) {
			t.Fatalf("way %d: %+v at distance %d from %d in %q\n got %d\nwant %d", n, p, distance, from, text, got, want)
		}
	}
}

var pairs = []pair.Pair{
	{First: 'a', Second: 'b'},
	{First: 'a', FirstMask: 0x20, Second: 'b'},
	{First: 'a', FirstMask: 0x20, Second: 'b', SecondMask: 0x20},
	{First: 0, Second: 0xff},
	{First: 0x80, Second: 'a'},
	{First: 'a', Second: 'a'},
}

// TestFind tries texts of all lengths around the widths that are looked at at
// once, with hits at every place.
func TestFind(t *testing.T) {
	for _, p := range pairs {
		for n := range 300 {
			text := bytes.Repeat([]byte{'x'}, n)
			check(t, p, text, n%5, 0)
			for at := 0; at < n; at += 1 + n/40 {
				clear := bytes.Clone(text)
				clear[at] = p.First
				if at+n%5 < n {
					clear[at+n%5] = p.Second
				}
				check(t, p, clear, n%5, at/2)
			}
		}
	}
}

func TestFindAnywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		text := make([]byte, rng.IntN(700))
		alphabet := []byte{'a', 'b', 'A', 'B', 0, 0xff, 0x80, 'x'}[:2+rng.IntN(7)]
		for i := range text {
			text[i] = alphabet[rng.IntN(len(alphabet))]
		}
		check(t, pairs[rng.IntN(len(pairs))], text, rng.IntN(9), rng.IntN(len(text)+1))
	}
}

func FuzzFind(f *testing.F) {
	f.Add([]byte("static inline int a_b(void)"), byte('a'), byte('b'), true, 2, 3)
	f.Fuzz(func(t *testing.T, text []byte, first, second byte, fold bool, distance, from int) {
		p := pair.Pair{First: first, Second: second}
		if fold {
			p.FirstMask, p.SecondMask = 0x20, 0x20
			p.First, p.Second = first|0x20, second|0x20
		}
		check(t, p, text, distance&63, from&1023)
	})
}

// BenchmarkFind looks for what is not there, and for what is every few hundred
// bytes, in 64 KiB of text.
func BenchmarkFind(b *testing.B) {
	text := bytes.Repeat([]byte("\tif (unlikely(ret < 0)) {\n\t\tdev_err(dev, \"cannot enable clock: %d\\n\", ret);\n\t\tgoto out_disable;\n\t}\n"), 700)[:64<<10]
	for _, c := range []struct {
		name string
		p    pair.Pair
	}{
		{"hits=none", pair.Pair{First: 'q', FirstMask: 0x20, Second: 'z', SecondMask: 0x20}},
		{"hits=some", pair.Pair{First: 'g', FirstMask: 0x20, Second: 't', SecondMask: 0x20}},
	} {
		b.Run(c.name, func(b *testing.B) {
			x, y := text[:len(text)-2], text[2:]
			b.SetBytes(int64(len(x)))
			for b.Loop() {
				for i := 0; i < len(x); {
					i = c.p.Find(x, y, i).Next
				}
			}
		})
	}
}
