package httpapi

import "sync/atomic"

// share is so many bytes, or other things, that are taken and given back by
// whoever comes first. It is safe for concurrent use.
type share struct{ left atomic.Int64 }

func newShare(n int64) *share {
	s := &share{}
	s.left.Store(n)
	return s
}

// take takes n, or reports false if there are not so many.
func (s *share) take(n int64) bool {
	for {
		left := s.left.Load()
		if left < n {
			return false
		}
		if s.left.CompareAndSwap(left, left-n) {
			return true
		}
	}
}

// give gives back what was taken.
func (s *share) give(n int64) { s.left.Add(n) }
