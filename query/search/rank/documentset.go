package rank

import (
	"slices"

	"github.com/trawlsearch/trawl/postings"
)

// documentSet is a set of documents of a shard that is only asked: a bitmap, or the
// documents themselves as long as they are few.
type documentSet struct {
	few  []uint16 // ascending
	bits *[postings.MaxBlocks / 64]uint64
}

// fewDocuments is how many documents take less to search than a bitmap of 8 KiB to
// clear.
const fewDocuments = 64

// newDocumentSet returns the set of some documents, which are ascending and not changed
// any more.
func newDocumentSet(documents []uint16) *documentSet {
	if len(documents) <= fewDocuments {
		return &documentSet{few: documents}
	}
	s := &documentSet{bits: &[postings.MaxBlocks / 64]uint64{}}
	for _, doc := range documents {
		s.bits[doc>>6] |= 1 << (doc & 63)
	}
	return s
}

func (s *documentSet) contains(doc uint16) bool {
	if s.bits == nil {
		_, ok := slices.BinarySearch(s.few, doc)
		return ok
	}
	return s.bits[doc>>6]&(1<<(doc&63)) != 0
}
