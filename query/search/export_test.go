package search

import (
	"fmt"
	"runtime"
)

// AtWork returns how many searches s believes to be at work, and how many slots
// are free.
func (s *Searcher) AtWork() (searches, free int) {
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	return int(s.busy.Load()), s.slots.free
}

// Occupy has s believe that n other searches are at work.
func (s *Searcher) Occupy(n int) { s.busy.Add(int32(n)) }

// TakeSlots has others occupy all slots, the spare one too, until they are given
// back.
func (s *Searcher) TakeSlots() (give func()) {
	var all []string
	for i := 0; ; i++ {
		who := fmt.Sprint("other ", i)
		if !s.slots.try(who) {
			break
		}
		all = append(all, who)
	}
	return func() {
		for _, who := range all {
			s.slots.give(who)
		}
	}
}

// WaitForSlots waits until so many goroutines wait for a slot.
func (s *Searcher) WaitForSlots(n int) {
	for {
		s.slots.mu.Lock()
		waiting := len(s.slots.young) + len(s.slots.old)
		s.slots.mu.Unlock()
		if waiting >= n {
			return
		}
		runtime.Gosched()
	}
}

// TakeSlot has somebody else occupy a slot until it is given back.
func (s *Searcher) TakeSlot() (give func()) {
	s.slots.try("somebody else")
	return func() { s.slots.give("somebody else") }
}
