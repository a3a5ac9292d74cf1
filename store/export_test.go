package store

import (
	"time"

	"github.com/trawlsearch/trawl/postings"
)

// DecodeSymbols and EncodeSymbols are for fuzzing.
func DecodeSymbols(value []byte) ([]Symbol, error) { return decodeSymbols(nil, value) }

// EncodeSymbols is the opposite.
func EncodeSymbols(symbols []Symbol) []byte { return appendSymbols(nil, symbols) }

// DecodeCommits is for fuzzing. It returns a commit table of one page, as it
// is encoded again.
func DecodeCommits(page []byte) (again []byte, commits int, err error) {
	c := newCommits()
	if err := c.addPage(page); err != nil {
		return nil, 0, err
	}
	var rows []commitRow
	for i := range c.Len() {
		row := commitRow{Commit: c.At(i)}
		for d := c.Message[i] + 1; d < c.Message[i+1]; d++ {
			row.files = append(row.files, fileRow{c.Status[d], c.OldPath(int(d))})
		}
		rows = append(rows, row)
	}
	return encodeCommitPage(rows), c.Len(), nil
}

// DecodeAway and EncodeAway are for fuzzing.
func DecodeAway(value []byte) ([]*postings.Set, error) { return decodeAway(value) }

// EncodeAway is the opposite.
func EncodeAway(sets []*postings.Set) []byte { return encodeAway(sets) }

// NewShardWriterWith returns a writer that makes posting lists in b, which nobody
// else uses meanwhile.
func (s *Store) NewShardWriterWith(b *postings.Builder) *ShardWriter {
	b.Reset()
	return s.newShardWriter(b)
}

// WithShortPauses has a store pause for a millisecond at most when tables cannot be
// written, and write them by the 256 KiB.
func (o Options) WithShortPauses() Options {
	o.longestPause, o.memoryBytes = time.Millisecond, 256<<10
	return o
}
