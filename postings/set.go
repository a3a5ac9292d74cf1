package postings

import (
	"iter"
	"math/bits"
)

const setWords = MaxBlocks / 64

// arrayMax is the largest set kept as an array. Above it the bitmap's 8 KiB
// are the smaller form.
const arrayMax = 4096

// Set is a set of block or document numbers of one shard, kept as a sorted
// array or as a bitmap, whichever is smaller. The zero value is empty. The
// methods that change a set do so in place and reuse its memory; a Set is not
// safe for concurrent change.
type Set struct {
	array []uint16
	// words is the bitmap when dense, else a spare buffer.
	words []uint64
	count int
	dense bool
}

// NewSet returns the set of the given numbers, which must be ascending.
func NewSet(numbers ...uint16) *Set {
	s := &Set{}
	s.setArray(numbers)
	return s
}

// Full returns the set of 0 to n-1.
func Full(n int) *Set {
	s := &Set{}
	w := s.makeDense()
	for i := range n / 64 {
		w[i] = ^uint64(0)
	}
	if n%64 != 0 {
		w[n/64] = 1<<(n%64) - 1
	}
	s.count = n
	s.shrink()
	return s
}

// Len returns how many numbers s holds.
func (s *Set) Len() int { return s.count }

// Bytes is the memory that s takes beside its own few words; nil takes none.
func (s *Set) Bytes() int {
	if s == nil {
		return 0
	}
	return 2*cap(s.array) + 8*cap(s.words)
}

// Contains reports whether x is in s.
func (s *Set) Contains(x uint16) bool {
	if s.dense {
		return s.words[x>>6]&(1<<(x&63)) != 0
	}
	i := search(s.array, x)
	return i < len(s.array) && s.array[i] == x
}

// All yields the numbers in ascending order.
func (s *Set) All() iter.Seq[uint16] {
	return func(yield func(uint16) bool) {
		if !s.dense {
			for _, x := range s.array {
				if !yield(x) {
					return
				}
			}
			return
		}
		for i, w := range s.words {
			for ; w != 0; w &= w - 1 {
				if !yield(uint16(i<<6 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// Append appends the numbers in ascending order to dst.
func (s *Set) Append(dst []uint16) []uint16 {
	if !s.dense {
		return append(dst, s.array...)
	}
	for i, w := range s.words {
		for ; w != 0; w &= w - 1 {
			dst = append(dst, uint16(i<<6+bits.TrailingZeros64(w)))
		}
	}
	return dst
}

// AppendRange appends the numbers from lo up to but not including hi to dst,
// ascending.
func (s *Set) AppendRange(dst []uint16, lo, hi int) []uint16 {
	if lo >= hi {
		return dst
	}
	if !s.dense {
		for _, x := range s.array[search(s.array, uint16(lo)):] {
			if int(x) >= hi {
				break
			}
			dst = append(dst, x)
		}
		return dst
	}
	for i := lo >> 6; i<<6 < hi; i++ {
		w := s.words[i]
		if i == lo>>6 {
			w &= ^uint64(0) << (lo & 63)
		}
		for ; w != 0; w &= w - 1 {
			x := i<<6 + bits.TrailingZeros64(w)
			if x >= hi {
				return dst
			}
			dst = append(dst, uint16(x))
		}
	}
	return dst
}

// Meets reports whether s has a number from lo up to but not including hi.
func (s *Set) Meets(lo, hi int) bool {
	if lo >= hi {
		return false
	}
	x, ok := s.Next(lo)
	return ok && x < hi
}

// Next returns the least number of s that is at least lo, 0 or more.
func (s *Set) Next(lo int) (x int, ok bool) {
	if !s.dense {
		if lo >= MaxBlocks {
			return 0, false
		}
		i := search(s.array, uint16(lo))
		if i == len(s.array) {
			return 0, false
		}
		return int(s.array[i]), true
	}
	for i := lo >> 6; i < len(s.words); i++ {
		w := s.words[i]
		if i == lo>>6 {
			w &= ^uint64(0) << (lo & 63)
		}
		if w != 0 {
			return i<<6 + bits.TrailingZeros64(w), true
		}
	}
	return 0, false
}

// Clone returns a copy that shares nothing with s.
func (s *Set) Clone() *Set {
	c := &Set{count: s.count, dense: s.dense}
	if s.dense {
		c.words = append([]uint64(nil), s.words...)
	} else {
		c.array = append([]uint16(nil), s.array...)
	}
	return c
}

// Add puts x into s.
func (s *Set) Add(x uint16) {
	if s.dense {
		if w := &s.words[x>>6]; *w&(1<<(x&63)) == 0 {
			*w |= 1 << (x & 63)
			s.count++
		}
		return
	}
	i := search(s.array, x)
	if i < len(s.array) && s.array[i] == x {
		return
	}
	s.array = append(s.array, 0)
	copy(s.array[i+1:], s.array[i:])
	s.array[i] = x
	s.count++
	if s.count > arrayMax {
		s.grow()
	}
}

// AddRange puts lo up to but not including hi into s, which is fast if they are
// beyond all that it has.
func (s *Set) AddRange(lo, hi int) {
	if lo >= hi {
		return
	}
	if n := len(s.array); !s.dense && n > 0 && int(s.array[n-1]) >= lo || !s.dense && n+hi-lo > arrayMax {
		s.grow()
	}
	if !s.dense {
		for x := lo; x < hi; x++ {
			s.array = append(s.array, uint16(x))
		}
		s.count = len(s.array)
		return
	}
	for i := lo >> 6; i<<6 < hi; i++ {
		w := ^uint64(0)
		if i == lo>>6 {
			w <<= lo & 63
		}
		if end := hi - i<<6; end < 64 {
			w &= 1<<end - 1
		}
		s.count += bits.OnesCount64(w &^ s.words[i])
		s.words[i] |= w
	}
	s.shrink()
}

// And keeps in s what is also in o.
func (s *Set) And(o *Set) {
	switch {
	case s.dense && o.dense:
		n := 0
		for i, w := range o.words {
			s.words[i] &= w
			n += bits.OnesCount64(s.words[i])
		}
		s.count = n
		s.shrink()
	case s.dense:
		kept := s.array[:0]
		for _, x := range o.array {
			if s.words[x>>6]&(1<<(x&63)) != 0 {
				kept = append(kept, x)
			}
		}
		s.dense = false
		s.array, s.count = kept, len(kept)
	case o.dense:
		s.keep(func(x uint16) bool { return o.words[x>>6]&(1<<(x&63)) != 0 })
	default:
		s.andArray(o.array)
	}
}

// Or adds to s what is in o.
func (s *Set) Or(o *Set) {
	if o.count == 0 {
		return
	}
	if !s.dense && !o.dense && s.count+o.count <= arrayMax {
		s.setArray(union(s.array, o.array))
		return
	}
	s.grow()
	o.orWords(s.words)
	s.recount()
	s.shrink()
}

// orWords adds s to a bitmap.
func (s *Set) orWords(words []uint64) {
	if !s.dense {
		for _, x := range s.array {
			words[x>>6] |= 1 << (x & 63)
		}
		return
	}
	for i, w := range s.words {
		words[i] |= w
	}
}

func (s *Set) recount() {
	s.count = 0
	for _, w := range s.words {
		s.count += bits.OnesCount64(w)
	}
}

// andArray intersects two arrays, stepping through the longer one by
// galloping when the lengths differ much.
func (s *Set) andArray(o []uint16) {
	kept := s.array[:0]
	if len(o) > 32*len(s.array) {
		for _, x := range s.array {
			i := gallop(o, x)
			o = o[i:]
			if len(o) > 0 && o[0] == x {
				kept = append(kept, x)
			}
		}
	} else {
		j := 0
		for _, x := range s.array {
			for j < len(o) && o[j] < x {
				j++
			}
			if j < len(o) && o[j] == x {
				kept = append(kept, x)
			}
		}
	}
	s.array, s.count = kept, len(kept)
}

func (s *Set) keep(f func(uint16) bool) {
	kept := s.array[:0]
	for _, x := range s.array {
		if f(x) {
			kept = append(kept, x)
		}
	}
	s.array, s.count = kept, len(kept)
}

func (s *Set) setArray(numbers []uint16) {
	s.dense = false
	s.array, s.count = append(s.array[:0], numbers...), len(numbers)
	if s.count > arrayMax {
		s.grow()
	}
}

// makeDense turns s into an empty bitmap and returns its words.
func (s *Set) makeDense() []uint64 {
	if s.words == nil {
		s.words = make([]uint64, setWords)
	} else {
		clear(s.words)
	}
	s.dense, s.count = true, 0
	return s.words
}

// grow turns an array into a bitmap.
func (s *Set) grow() {
	if s.dense {
		return
	}
	w := s.makeDense()
	for _, x := range s.array {
		w[x>>6] |= 1 << (x & 63)
	}
	s.count = len(s.array)
	s.array = s.array[:0]
}

// shrink turns a sparse bitmap into an array.
func (s *Set) shrink() {
	if !s.dense || s.count > arrayMax {
		return
	}
	s.array = s.Append(s.array[:0])
	s.dense = false
}

// search returns the index of the first element that is at least x.
func search(a []uint16, x uint16) int {
	lo, hi := 0, len(a)
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); a[m] < x {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// gallop is search for an x that probably stands near the front.
func gallop(a []uint16, x uint16) int {
	hi := 1
	for hi < len(a) && a[hi] < x {
		hi *= 2
	}
	lo := hi / 2
	return lo + search(a[lo:min(hi+1, len(a))], x)
}

func union(a, b []uint16) []uint16 {
	out := make([]uint16, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			out, a = append(out, a[0]), a[1:]
		case a[0] > b[0]:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}
