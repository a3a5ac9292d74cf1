package search

// Occupy has s believe that n other searches are at work.
func (s *Searcher) Occupy(n int) { s.busy.Add(int32(n)) }
