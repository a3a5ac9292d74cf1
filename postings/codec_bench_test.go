package postings_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trawlsearch/trawl/postings"
)

// BenchmarkDecode reads lists of random numbers; MB/s is of the encoding.
func BenchmarkDecode(b *testing.B) {
	for _, n := range []int{10, 1000, 4000, 7000, 30000} {
		rng := rand.New(rand.NewPCG(1, uint64(n)))
		s := &postings.Set{}
		for s.Len() < n {
			s.Add(uint16(rng.IntN(postings.MaxBlocks)))
		}
		value := postings.Encode(nil, s)
		b.Run(fmt.Sprintf("size=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(value)))
			b.ReportAllocs()
			var into postings.Set
			for b.Loop() {
				if err := into.Decode(value); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAndEncoded narrows candidates by a list as it is stored.
func BenchmarkAndEncoded(b *testing.B) {
	value := postings.Encode(nil, randomSet(2, 7000))
	var tmp postings.Set
	for _, n := range []int{4, 30, 300, 3000} {
		candidates := randomSet(1, n)
		b.Run(fmt.Sprintf("candidates=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(value)))
			for b.Loop() {
				s := candidates.Clone()
				if err := s.AndEncoded(value, &tmp); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
