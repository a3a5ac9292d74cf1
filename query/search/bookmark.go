package search

import (
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/store"
)

// Bookmark is how far a search came that yielded its ticket, and the snapshot that
// it reads. The order of an answer depends on snapshot and query only,
// so a search that is run again with its bookmark goes on with the match after
// the last that its sink took. Groups of documents of which all was sent are
// planned once more, and not verified; matches of the group at hand, and of
// whatever else is not in groups of documents, are found once more, and neither
// counted nor sent. The zero value is the beginning. The snapshot keeps
// what was deleted meanwhile on disk, and next to nothing in memory.
//
// A bookmark belongs to one search and is used by one goroutine.
type Bookmark struct {
	// Ticket is that of the search while it runs, nil for none. What admits the search
	// sets it before each call of Searcher.Search, which does not read it; it is nil again
	// once the search has yielded. A sink that has to wait for its client yields when the
	// ticket is wanted meanwhile.
	Ticket *admission.Ticket

	snap  *store.Snapshot
	start time.Time
	// basics are the basic queries within their contexts.
	basics []query.Basic
	// progress is how far the answer has come.
	progress answer.Progress
	// failed are the shards that could not be searched, or not all of it.
	failed map[uint32]bool
}

// Close releases the snapshot. The search has ended before.
func (b *Bookmark) Close() {
	if b.snap != nil {
		_ = b.snap.Close() // nothing was written through it
		b.snap = nil
	}
}

// position returns the place from which documents are verified.
func (b *Bookmark) position() answer.Position {
	if b == nil {
		return answer.Position{}
	}
	return b.progress.Position()
}

// Resumed reports whether a search goes on from b.
func (b *Bookmark) Resumed() bool { return b != nil && b.snap != nil }
