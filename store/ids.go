package store

import (
	"iter"
	"math/bits"
	"slices"
)

// IDs is a set of IDs of repositories, one bit for each ID. The zero value is empty,
// as is a nil set. It is safe for concurrent use while it is not changed.
type IDs struct{ words []uint64 }

// Add adds an ID.
func (s *IDs) Add(id uint32) {
	if n := int(id/64) + 1; n > len(s.words) {
		s.words = append(s.words, make([]uint64, n-len(s.words))...)
	}
	s.words[id/64] |= 1 << (id % 64)
}

// Has reports whether an ID is in s.
func (s *IDs) Has(id uint32) bool {
	return s != nil && int(id/64) < len(s.words) && s.words[id/64]&(1<<(id%64)) != 0
}

// Len returns how many IDs there are.
func (s *IDs) Len() (n int) {
	if s == nil {
		return 0
	}
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// All yields the IDs in ascending order.
func (s *IDs) All() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if s == nil {
			return
		}
		for i, w := range s.words {
			for ; w != 0; w &= w - 1 {
				if !yield(uint32(i*64 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// Clone returns a copy of s.
func (s *IDs) Clone() *IDs {
	if s == nil {
		return &IDs{}
	}
	return &IDs{slices.Clone(s.words)}
}

// Intersect leaves the IDs that are in other too.
func (s *IDs) Intersect(other *IDs) { s.each(other, func(w, o uint64) uint64 { return w & o }) }

// Subtract leaves the IDs that are not in other.
func (s *IDs) Subtract(other *IDs) { s.each(other, func(w, o uint64) uint64 { return w &^ o }) }

// Join adds the IDs of other.
func (s *IDs) Join(other *IDs) {
	if other != nil && len(other.words) > len(s.words) {
		s.words = append(s.words, make([]uint64, len(other.words)-len(s.words))...)
	}
	s.each(other, func(w, o uint64) uint64 { return w | o })
}

func (s *IDs) each(other *IDs, f func(w, o uint64) uint64) {
	for i := range s.words {
		o := uint64(0)
		if other != nil && i < len(other.words) {
			o = other.words[i]
		}
		s.words[i] = f(s.words[i], o)
	}
}

// sharedIDs is a set that versions of a table share until one of them changes it.
type sharedIDs struct {
	*IDs
	// own says that no other version has the set.
	own bool
}

// share allows another version to have the set.
func (s *sharedIDs) share() { s.own = false }

// set adds an ID, or removes it.
func (s *sharedIDs) set(id uint32, has bool) {
	if s.Has(id) == has {
		return
	}
	if !s.own {
		s.IDs, s.own = s.Clone(), true
	}
	if has {
		s.Add(id)
		return
	}
	s.words[id/64] &^= 1 << (id % 64)
}
