package shard_test

import (
	"math/rand/v2"
	"testing"

	"github.com/trawlsearch/trawl/store/shard"
)

// TestCommitOfDocument: from wherever the search begins, a document belongs to the last commit
// whose message is not behind it.
func TestCommitOfDocument(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		c := &shard.Commits{Message: []uint32{0}}
		var of []int // by document
		for i := range 1 + rng.IntN(60) {
			for range 1 + rng.IntN(1+rng.IntN(9)) {
				of = append(of, i)
			}
			c.Message = append(c.Message, uint32(len(of)))
		}
		for d, want := range of {
			from := rng.IntN(want + 1)
			if got, next := c.Of(uint16(d)), c.OfNext(uint16(d), from); got != want || next != want {
				t.Fatalf("document %d of %v: commit %d, from %d on %d, want %d", d, c.Message, got, from, next, want)
			}
		}
	}
}
