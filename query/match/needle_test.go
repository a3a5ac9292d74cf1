package match

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNeedle compares needles of both kinds with a loop.
func TestNeedle(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	word := func(alphabet string, n int) []byte {
		out := make([]byte, n)
		for i := range out {
			out[i] = alphabet[rng.IntN(len(alphabet))]
		}
		return out
	}
	single := 0
	for range 20_000 {
		alphabet := []string{"ab", "aAbB", "zZq_", "z\xff\x00e", "static inl"}[rng.IntN(5)]
		lit, fold := string(word(alphabet, 1+rng.IntN(6))), rng.IntN(2) == 0
		text := word(alphabet, rng.IntN(200))
		var want []Span
		for at := 0; at+len(lit) <= len(text); at++ {
			here := text[at : at+len(lit)]
			if string(here) == lit || fold && bytes.Equal(foldASCII(here), foldASCII([]byte(lit))) {
				want = append(want, Span{uint32(at), uint32(at + len(lit))})
				at += len(lit) - 1
			}
		}
		for _, wide := range []bool{true, false} {
			n := newNeedleOn(lit, fold, wide)
			if got := n.appendAll(nil, text); !slices.Equal(got, want) {
				t.Fatalf("%q, fold %v, wide %v in %q: %v, want %v", lit, fold, wide, text, got, want)
			}
			if n.single {
				single++
			}
		}
	}
	if single == 0 {
		t.Error("no byte was looked for alone")
	}
}

// foldASCII returns b with its capital letters made small.
func foldASCII(b []byte) []byte {
	out := bytes.Clone(b)
	for i, c := range out {
		out[i] = lower(c)
	}
	return out
}
