package search

import (
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/store"
)

// Bookmark is how far a search came that yielded its ticket, and the moment of the
// store that it saw. The order of an answer depends on snapshot and query only,
// so a search that is run again with its bookmark goes on with the match after
// the last that its sink took. Groups of documents of which all was sent are
// planned once more, and not verified; matches of the group at hand, and of
// whatever else is not in groups of documents, are found once more, and neither
// counted nor sent. The zero value is the beginning. The snapshot keeps
// what was deleted meanwhile on disk, and next to nothing in memory.
//
// A bookmark belongs to one search and is used by one goroutine.
type Bookmark struct {
	snap  *store.Snapshot
	start time.Time
	// counted and taken are how many matches were counted, and how many the
	// sink took.
	counted, taken int
	// position is behind the last group of documents that was sent as a whole.
	position position
	// failed are the shards that could not be searched, or not all of it.
	failed map[uint32]bool
}

// position is where the groups of documents are cut in two: those before are sent.
// The zero value is before the first.
type position struct {
	// groups is how many are before, cut how many of their documents have more
	// matches than are kept.
	groups, cut int
	// counts are those of the sender at that place.
	counts counts
}

// counts are what a sender has counted and may still count.
type counts struct {
	// left is what the whole search may still count, leftHere what the basic
	// queries at hand may, display what may still be sent.
	left, leftHere, display int
	// sent is how many matches were found, whether the sink got them or not.
	sent int
	// shortened is how many of them leave out something that matches.
	shortened int
	// counted and taken are how many matches were counted, and how many the sink
	// took, by all runs.
	counted, taken int
}

// Close releases the snapshot. The search has ended before.
func (b *Bookmark) Close() {
	if b.snap != nil {
		_ = b.snap.Close() // nothing was written through it
		b.snap = nil
	}
}

// passed returns the place from which documents are verified.
func (b *Bookmark) passed() position {
	if b == nil {
		return position{}
	}
	return b.position
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

// TicketTaker is a sink that may have to wait for its client, and yields when the
// ticket of its search is wanted meanwhile. It is told the ticket before the first
// match.
type TicketTaker interface {
	Sink
	TakeTicket(t *admission.Ticket)
}
