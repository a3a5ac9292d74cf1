package search

import (
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/query/search/admission"
)

// AtWork returns how many searches s believes to be at work, and how many slots
// are free.
func (s *Searcher) AtWork() (searches, free int) { return s.processors.Busy(), s.processors.Free() }

// Occupy has s believe that n other searches are at work.
func (s *Searcher) Occupy(n int) {
	for range n {
		s.processors.Begin("", false, time.Now)
	}
}

// TakeSlots has others occupy all slots, the spare one too, until they are given
// back.
func (s *Searcher) TakeSlots() (give func()) {
	var all []*admission.Slot
	var gone []*admission.Share
	for i := 0; ; i++ {
		other := s.processors.Begin(fmt.Sprint("other ", i), false, time.Now)
		gone = append(gone, other)
		slot := other.Slot()
		if !slot.TryAcquire() {
			break
		}
		all = append(all, slot)
	}
	for _, other := range gone {
		other.End() // none of them counts as being at work
	}
	return func() {
		for _, slot := range all {
			slot.Leave()
		}
	}
}

// WaitForSlots waits until so many goroutines wait for a slot.
func (s *Searcher) WaitForSlots(n int) {
	for s.processors.Waiting() < n {
		time.Sleep(time.Millisecond)
	}
}

// TakeSlot has another client occupy a slot until it is given back.
func (s *Searcher) TakeSlot() (give func()) {
	other := s.processors.Begin("another client", false, time.Now)
	other.End() // it does not count as being at work
	slot := other.Slot()
	slot.TryAcquire()
	return slot.Leave
}
