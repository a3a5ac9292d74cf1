package match

import "unsafe"

// slab hands out short slices cut from long ones, so that a hundred thousand of
// them do not cost an allocation each. A short slice keeps its long slice in
// memory, so slabs begin small.
type slab[T any] struct {
	free []T
	size int
}

// Slabs begin at smallSlabBytes and double up to largeSlabBytes.
const (
	smallSlabBytes = 1 << 10
	largeSlabBytes = 64 << 10
)

// take returns a slice of n elements with no room to grow.
func (s *slab[T]) take(n int) []T {
	if n > len(s.free) {
		size := int(unsafe.Sizeof(*new(T)))
		s.size = max(smallSlabBytes/size, min(2*s.size, largeSlabBytes/size), n)
		s.free = make([]T, s.size)
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	return out
}

// clone copies b into the slab.
func (s *slab[T]) clone(b []T) []T {
	out := s.take(len(b))
	copy(out, b)
	return out
}
