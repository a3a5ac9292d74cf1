package postings_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/postings"
)

// sourceText makes text like source code: 5000 words, the frequent ones far more
// often, some in capitals or with one, joined by the punctuation of C.
func sourceText(rng *rand.Rand, n int) []byte {
	words := make([]string, 5000)
	for i := range words {
		w := make([]byte, 3+rng.IntN(9))
		for j := range w {
			w[j] = byte('a' + rng.IntN(26))
		}
		words[i] = string(w)
	}
	var text []byte
	for len(text) < n {
		word := words[int(rng.ExpFloat64()*400)%len(words)]
		switch rng.IntN(8) {
		case 0:
			word = strings.ToUpper(word)
		case 1:
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		text = append(append(text, word...), " \n();_"[rng.IntN(6)])
	}
	return text[:n]
}

func BenchmarkAppendTrigrams(b *testing.B) {
	for _, size := range []int{4 << 10, 1 << 20} {
		text := string(sourceText(rand.New(rand.NewPCG(1, 1)), size))
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			var dst []postings.Trigram
			for b.Loop() {
				dst = postings.AppendTrigrams(dst[:0], text)
			}
			b.ReportMetric(float64(len(dst)), "trigrams/op")
		})
	}
}

// randomSet has n numbers spread evenly over a shard.
func randomSet(seed uint64, n int) *postings.Set {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	s := &postings.Set{}
	for s.Len() < n {
		s.Add(uint16(rng.IntN(postings.MaxBlocks)))
	}
	return s
}

func BenchmarkEncode(b *testing.B) {
	for _, n := range []int{10, 1000, 7000, 30000} {
		set := randomSet(1, n)
		b.Run(fmt.Sprintf("size=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			var value []byte
			for b.Loop() {
				value = postings.Encode(value[:0], set)
			}
			b.SetBytes(int64(len(value)))
			b.ReportMetric(float64(len(value))/float64(n), "bytes/posting")
		})
	}
}

// BenchmarkAnd intersects a rare list with a common one, and two common ones.
func BenchmarkAnd(b *testing.B) {
	for _, sizes := range [][2]int{{10, 30000}, {1000, 30000}, {1000, 1000}, {30000, 30000}} {
		rare, common := randomSet(1, sizes[0]), randomSet(2, sizes[1])
		b.Run(fmt.Sprintf("sizes=%dx%d", sizes[0], sizes[1]), func(b *testing.B) {
			b.ReportAllocs()
			left := 0
			for b.Loop() {
				s := rare.Clone()
				s.And(common)
				left = s.Len()
			}
			b.ReportMetric(float64(left), "candidates/op")
		})
	}
}

// BenchmarkWalk encodes all lists of a shard that was built before.
func BenchmarkWalk(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	builder := postings.NewBuilder()
	const size = 4 << 20
	builder.AddDocument(0, sourceText(rng, size))
	b.SetBytes(size)
	b.ReportAllocs()
	lists, bytes := 0, 0
	for b.Loop() {
		lists, bytes = 0, 0
		err := builder.Walk(func(_ postings.Trigram, value []byte) error {
			lists++
			bytes += len(value)
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(lists), "lists/op")
	b.ReportMetric(float64(bytes)/size, "bytes/text-byte")
}

// BenchmarkEval reads the lists of an expression and leaves candidates; lists
// and their bytes are what it had to read.
func BenchmarkEval(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	text := sourceText(rng, 8<<20)
	var docs [][]byte
	for at := 0; at < len(text); at += 16 << 10 {
		docs = append(docs, text[at:min(at+16<<10, len(text))])
	}
	s := build(b, postings.NewBuilder(), docs)
	text = bytes.ToLower(text)
	lit := func(runs ...string) postings.Expr { return &postings.Literal{Runs: runs} }
	common, other := string(text[:5]), string(text[100:105])
	for _, bb := range []struct {
		name string
		expr postings.Expr
	}{
		{"absent", lit("zqxjkvzqxjkv")},
		{"short", lit(common[:3])},
		{"phrase", lit(string(text[4000:4030]))},
		{"and", postings.NewAnd(lit(common), lit(other))},
		{"or", postings.NewOr(lit(common), lit(other))},
	} {
		b.Run("expr="+bb.name, func(b *testing.B) {
			b.ReportAllocs()
			var ev *postings.Evaluator
			candidates := 0
			for b.Loop() {
				ev = &postings.Evaluator{Reader: s}
				c, err := ev.Eval(bb.expr)
				if err != nil {
					b.Fatal(err)
				}
				candidates = 0
				if c.Docs != nil {
					candidates = c.Docs.Len()
				}
			}
			b.ReportMetric(float64(candidates), "candidates/op")
			b.ReportMetric(float64(ev.Cost.Lists), "lists/op")
			b.ReportMetric(float64(ev.Cost.Bytes), "read-bytes/op")
		})
	}
}
