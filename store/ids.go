package store

import (
	"iter"
	"math/bits"
	"slices"
	"sync"
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

// lazyIDs are the IDs of some repositories, of the versions between two changes of
// which these are, made when they are first asked for.
type lazyIDs struct {
	once sync.Once
	IDs
}

func (l *lazyIDs) of(scan func(func(*Repository) bool)) *IDs {
	l.once.Do(func() {
		for r := range scan {
			l.Add(r.ID)
		}
	})
	return &l.IDs
}
