package search

import "runtime"

// AtWork returns how many searches s believes to be at work, and how many slots
// are free.
func (s *Searcher) AtWork() (searches, free int) {
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	return int(s.busy.Load()), s.slots.free
}

// Occupy has s believe that n other searches are at work.
func (s *Searcher) Occupy(n int) { s.busy.Add(int32(n)) }

// TakeSlot has somebody else occupy a slot until it is given back.
func (s *Searcher) TakeSlot() (give func()) {
	s.slots.try("somebody else")
	return func() { s.slots.give("somebody else") }
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
