package search

import (
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// Bookmark is how far a search came that yielded its turn, and the moment of the
// store that it saw. The order of an answer depends on snapshot and query only,
// so a search that is run again with its bookmark goes on with the match after
// the last that its sink took: it finds the ones before once more, and neither
// counts nor sends them. The zero value is the beginning. The snapshot keeps
// what was deleted meanwhile on disk, and next to nothing in memory.
//
// A bookmark belongs to one search and is used by one goroutine.
type Bookmark struct {
	snap  *store.Snapshot
	start time.Time
	// counted and taken are how many matches were counted, and how many the
	// sink took.
	counted, taken int
}

// Close releases the snapshot. The search has ended before.
func (b *Bookmark) Close() {
	if b.snap != nil {
		_ = b.snap.Close() // nothing was written through it
		b.snap = nil
	}
}

// Resumed reports whether a search goes on from b.
func (b *Bookmark) Resumed() bool { return b != nil && b.snap != nil }

// YieldError is what Sink.Send returns to have the search yield: end now, and go
// on later from its bookmark.
type YieldError struct {
	// Taken is how many of the matches were taken.
	Taken int
}

// Error says that the search is to go on later.
func (e *YieldError) Error() string {
	return fmt.Sprintf("search yielded after %d matches of a batch", e.Taken)
}

// TurnTaker is a sink that may have to wait for its client, and yields when the
// turn of its search is wanted meanwhile. It is told the turn before the first
// match.
type TurnTaker interface {
	Sink
	TakeTurn(t *Turn)
}
