package postings

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
)

// The encoding of a posting list, one byte of tag and then
//
//	0 gaps     uvarint count, then one uvarint per number: the distance to the
//	           number before, minus 1; the first counts from -1
//	1 roaring  a 32-bit roaring bitmap in the portable format
//	           (github.com/RoaringBitmap/RoaringFormatSpec), read in place
//
// Example: {3, 4, 300} is 00 03 03 00 a7 02.
//
// Gaps cost about one byte a number and are read in one pass; beyond some
// 7,500 numbers of 65,536 the roaring bitmap's 8 KiB are smaller, and before
// that wherever numbers stand in runs. The writer takes the smaller. Most
// lists are short: on the Linux 6.1 tree half of them have fewer than 10
// numbers.
const (
	tagGaps    = 0
	tagRoaring = 1
)

// ErrCorrupt is wrapped by errors about encoded lists that cannot be read.
var ErrCorrupt = errors.New("corrupt posting list")

// roaringFrom is the length of gaps from which the writer tries roaring.
const roaringFrom = 512

// Encode appends the encoding of s to dst.
func Encode(dst []byte, s *Set) []byte {
	gaps := make([]byte, 0, s.Len()+8)
	last := -1
	for x := range s.All() {
		gaps = binary.AppendUvarint(gaps, uint64(int(x)-last-1))
		last = int(x)
	}
	return appendEncoded(dst, s.Len(), gaps)
}

// appendEncoded appends a list given as gaps in the smaller of both forms.
func appendEncoded(dst []byte, count int, gaps []byte) []byte {
	if len(gaps) >= roaringFrom && roaringBytes(count, gaps) < len(gaps) {
		dst = append(dst, tagRoaring)
		raw, err := roaringOf(gaps).ToBytes()
		if err != nil {
			panic("postings: serialising a roaring bitmap to memory: " + err.Error())
		}
		return append(dst, raw...)
	}
	dst = append(dst, tagGaps)
	dst = binary.AppendUvarint(dst, uint64(count))
	return append(dst, gaps...)
}

// roaringBytes returns the size of the roaring bitmap of a list, without making
// it: a number begins a run unless its gap is 0, and no gap has a byte 0
// otherwise.
func roaringBytes(count int, gaps []byte) int {
	runs := count - bytes.Count(gaps, []byte{0})
	if gaps[0] == 0 {
		runs++
	}
	plain := min(2*count, roaringBitmap)
	if 4*runs+2 < plain {
		return roaringRunsBytes + 4*runs
	}
	return roaringPlainBytes + plain
}

func roaringOf(gaps []byte) *roaring.Bitmap {
	words := make([]uint64, setWords)
	last := -1
	for len(gaps) > 0 {
		g, n := binary.Uvarint(gaps)
		gaps = gaps[n:]
		last += int(g) + 1
		words[last>>6] |= 1 << (last & 63)
	}
	rb := roaring.FromDense(words, false)
	rb.RunOptimize()
	return rb
}

// Count returns the length of an encoded list without decoding it.
func Count(value []byte) (int, error) {
	if len(value) == 0 {
		return 0, fmt.Errorf("%w: empty value", ErrCorrupt)
	}
	switch value[0] {
	case tagGaps:
		n, w := binary.Uvarint(value[1:])
		if w <= 0 || n > MaxBlocks {
			return 0, fmt.Errorf("%w: bad count", ErrCorrupt)
		}
		return int(n), nil
	case tagRoaring:
		n, _, _, err := roaringCount(value[1:])
		return n, err
	}
	return 0, fmt.Errorf("%w: unknown tag %d", ErrCorrupt, value[0])
}

// Decode replaces s by the encoded list. It keeps no reference to value.
func (s *Set) Decode(value []byte) error {
	if len(value) == 0 {
		return fmt.Errorf("%w: empty value", ErrCorrupt)
	}
	switch value[0] {
	case tagGaps:
		return s.decodeGaps(value[1:])
	case tagRoaring:
		return s.decodeRoaring(value[1:])
	}
	return fmt.Errorf("%w: unknown tag %d", ErrCorrupt, value[0])
}

// AndEncoded keeps the numbers in s that are also in an encoded list; scratch
// may hold anything and is overwritten. It reads only the parts of a much
// longer list that may be in s, so it misses some damage that Decode detects.
func (s *Set) AndEncoded(value []byte, scratch *Set) error {
	if !s.dense && len(value) > 0 {
		switch value[0] {
		case tagGaps:
			return s.andGaps(value[1:])
		case tagRoaring:
			if n, runs, body, err := roaringCount(value[1:]); err == nil && !runs && n > arrayMax && len(body) == roaringBitmap {
				s.keep(func(x uint16) bool { return body[x>>3]&(1<<(x&7)) != 0 })
				return nil
			}
		}
	}
	if err := scratch.Decode(value); err != nil {
		return err
	}
	s.And(scratch)
	return nil
}

// manyInGaps is by how much longer a list is than candidates that are few.
const manyInGaps = 16

// andGaps keeps in s, an array, what is also in a list of gaps.
func (s *Set) andGaps(raw []byte) error {
	n, w := binary.Uvarint(raw)
	if w <= 0 || n > MaxBlocks || n > uint64(len(raw)-w) {
		return fmt.Errorf("%w: bad count", ErrCorrupt)
	}
	raw = raw[w:]
	if uint64(len(s.array))*manyInGaps < n {
		return s.andFew(raw, int(n))
	}
	kept, last := s.array[:0], -1
	for rest := s.array; len(rest) > 0 && len(raw) > 0; {
		if raw[0] < 0x80 {
			last += int(raw[0]) + 1
			raw = raw[1:]
		} else {
			g, after, ok := nextGap(raw)
			if !ok {
				return s.badGap()
			}
			last += g + 1
			raw = after
		}
		for len(rest) > 0 && int(rest[0]) < last {
			rest = rest[1:]
		}
		if len(rest) > 0 && int(rest[0]) == last {
			kept = append(kept, rest[0])
			rest = rest[1:]
		}
	}
	s.array, s.count = kept, len(kept)
	return nil
}

// andFew is andGaps for a list of n numbers, many more than s has: it passes over
// most of them eight at once.
func (s *Set) andFew(raw []byte, n int) error {
	// The distance that twelve numbers cover on average.
	skipFrom := 12 * MaxBlocks / n
	kept, last := s.array[:0], -1
next:
	for _, x := range s.array {
		if far := int(x) - last; far > skipFrom {
			skipped, sum := skipGaps(raw, far)
			raw, last = raw[skipped:], last+sum
		}
		for last < int(x) {
			if len(raw) == 0 {
				break next
			}
			if raw[0] < 0x80 {
				last += int(raw[0]) + 1
				raw = raw[1:]
				continue
			}
			g, after, ok := nextGap(raw)
			if !ok {
				return s.badGap()
			}
			last += g + 1
			raw = after
		}
		if last == int(x) {
			kept = append(kept, x)
		}
	}
	s.array, s.count = kept, len(kept)
	return nil
}

// skipGaps returns how many bytes of raw can be skipped, since their numbers
// are less than far from the previous one, and the sum of their gaps. raw is
// not empty, and at least one byte is left.
func skipGaps(raw []byte, far int) (skipped, sum int) {
	const high, even = 0x8080808080808080, 0x00ff00ff00ff00ff
	for len(raw)-skipped > 8 {
		x := binary.LittleEndian.Uint64(raw[skipped:])
		if x&high != 0 {
			break // a gap of several bytes
		}
		// The sum of eight bytes below 128 in the upper sixteen bits.
		n := int((x&even+x>>8&even)*0x0001000100010001>>48) + 8
		if sum+n >= far {
			break
		}
		sum += n
		skipped += 8
	}
	return skipped, sum
}

func (s *Set) decodeGaps(raw []byte) error {
	n, w := binary.Uvarint(raw)
	if w <= 0 || n > MaxBlocks || n > uint64(len(raw)-w) {
		return fmt.Errorf("%w: bad count", ErrCorrupt)
	}
	raw = raw[w:]
	if n > arrayMax {
		return s.decodeGapsDense(raw, int(n))
	}
	s.dense = false
	if cap(s.array) < int(n) {
		s.array = make([]uint16, 0, max(int(n), 64))
	}
	a := s.array[:n]
	last := -1
	for i := range a {
		// Nearly all gaps are a single byte.
		if len(raw) > 0 && raw[0] < 0x80 {
			last += int(raw[0]) + 1
			raw = raw[1:]
		} else {
			g, rest, ok := nextGap(raw)
			if !ok {
				return s.badGap()
			}
			last += g + 1
			raw = rest
		}
		if last >= MaxBlocks {
			return s.badGap()
		}
		a[i] = uint16(last)
	}
	if len(raw) > 0 {
		return fmt.Errorf("%w: %d bytes left over", ErrCorrupt, len(raw))
	}
	s.array, s.count = a, len(a)
	return nil
}

// badGap leaves s empty.
func (s *Set) badGap() error {
	s.array, s.count = s.array[:0], 0
	return fmt.Errorf("%w: bad gap", ErrCorrupt)
}

func (s *Set) decodeGapsDense(raw []byte, n int) error {
	words := s.makeDense()
	last := -1
	for range n {
		if len(raw) > 0 && raw[0] < 0x80 {
			last += int(raw[0]) + 1
			raw = raw[1:]
		} else {
			g, rest, ok := nextGap(raw)
			if !ok {
				return fmt.Errorf("%w: bad gap", ErrCorrupt)
			}
			last += g + 1
			raw = rest
		}
		if last >= MaxBlocks {
			return fmt.Errorf("%w: bad gap", ErrCorrupt)
		}
		words[last>>6] |= 1 << (last & 63)
	}
	if len(raw) > 0 {
		return fmt.Errorf("%w: %d bytes left over", ErrCorrupt, len(raw))
	}
	s.count = n
	return nil
}

// nextGap reads one gap, of which nearly all are a single byte.
func nextGap(raw []byte) (gap int, rest []byte, ok bool) {
	if len(raw) == 0 {
		return 0, nil, false
	}
	if raw[0] < 0x80 {
		return int(raw[0]), raw[1:], true
	}
	g, n := binary.Uvarint(raw)
	if n <= 0 || g >= MaxBlocks {
		return 0, nil, false
	}
	return int(g), raw[n:], true
}
