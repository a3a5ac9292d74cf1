package store

import (
	"time"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/shard"
)

// DecodeAway and EncodeAway are for fuzzing.
func DecodeAway(value []byte) ([]*postings.Set, error) { return decodeAway(value) }

// EncodeAway is the opposite.
func EncodeAway(sets []*postings.Set) []byte { return encodeAway(sets) }

// NewShardWriterWith returns a writer that makes posting lists in b, which nothing
// else uses meanwhile.
func (s *Store) NewShardWriterWith(b *postings.Builder) *shard.Writer {
	b.Reset()
	return shard.NewWriter(s.destination(), b)
}

// WithShortPauses has a store pause for a millisecond at most when tables cannot be
// written, and write them by the 256 KiB.
func (o Options) WithShortPauses() Options {
	o.longestPause, o.memoryBytes = time.Millisecond, 256<<10
	return o
}
