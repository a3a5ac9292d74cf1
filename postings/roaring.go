package postings

import (
	"encoding/binary"
	"fmt"
)

// A block number has 16 bits, so a roaring bitmap of them is one container.
// Reading one takes no more, straight from the encoded bytes and checked in one
// pass. The library's own validation of a container of runs is quadratic in
// their number and took 20 ms for the lists of one shard.
//
// Without runs:
//
//	u32 12346, u32 containers = 1, u16 key = 0, u16 numbers-1, u32 offset = 16
//	up to 4,096 numbers: each as u16; more: a bitmap of 8,192 bytes
//
// With runs:
//
//	u32 12347 (containers-1 above), u8 1, u16 key = 0, u16 numbers-1
//	u16 runs, each u16 first and u16 numbers-1
//
// All little-endian.
const (
	roaringPlain      = 12346
	roaringRuns       = 12347
	roaringPlainBytes = 16
	roaringRunsBytes  = 11
	roaringBitmap     = 8192
)

// roaringCount returns how many numbers an encoded bitmap says it has.
func roaringCount(raw []byte) (n int, runs bool, body []byte, err error) {
	if len(raw) < roaringRunsBytes {
		return 0, false, nil, fmt.Errorf("%w: roaring bitmap of %d bytes", ErrCorrupt, len(raw))
	}
	le := binary.LittleEndian
	switch cookie := le.Uint32(raw); {
	case cookie == roaringPlain && len(raw) >= roaringPlainBytes && le.Uint32(raw[4:]) == 1 &&
		le.Uint16(raw[8:]) == 0 && le.Uint32(raw[12:]) == roaringPlainBytes:
		return int(le.Uint16(raw[10:])) + 1, false, raw[roaringPlainBytes:], nil
	case cookie == roaringRuns && raw[4] == 1 && le.Uint16(raw[5:]) == 0:
		return int(le.Uint16(raw[7:])) + 1, true, raw[roaringRunsBytes-2:], nil
	}
	return 0, false, nil, fmt.Errorf("%w: not a roaring bitmap of one container", ErrCorrupt)
}

// decodeRoaring replaces s by the bitmap.
func (s *Set) decodeRoaring(raw []byte) error {
	n, runs, body, err := roaringCount(raw)
	if err != nil {
		return err
	}
	words := s.makeDense()
	switch {
	case runs:
		err = fillRuns(words, body)
	case n <= arrayMax:
		err = fillArray(words, body, n)
	case len(body) == roaringBitmap:
		for i := range words {
			words[i] = binary.LittleEndian.Uint64(body[8*i:])
		}
	default:
		err = fmt.Errorf("%w: roaring bitmap of %d bytes", ErrCorrupt, len(body))
	}
	if err != nil {
		return err
	}
	s.recount()
	if s.count != n {
		return fmt.Errorf("%w: roaring bitmap has %d numbers, says %d", ErrCorrupt, s.count, n)
	}
	s.shrink()
	return nil
}

func fillArray(words []uint64, body []byte, n int) error {
	if len(body) != 2*n {
		return fmt.Errorf("%w: roaring array of %d bytes for %d numbers", ErrCorrupt, len(body), n)
	}
	for i := range n {
		x := binary.LittleEndian.Uint16(body[2*i:])
		words[x>>6] |= 1 << (x & 63)
	}
	return nil
}

func fillRuns(words []uint64, body []byte) error {
	if len(body) < 2 || len(body) != 2+4*int(binary.LittleEndian.Uint16(body)) {
		return fmt.Errorf("%w: roaring runs of %d bytes", ErrCorrupt, len(body))
	}
	for body = body[2:]; len(body) > 0; body = body[4:] {
		lo := int(binary.LittleEndian.Uint16(body))
		hi := lo + int(binary.LittleEndian.Uint16(body[2:])) + 1
		if hi > MaxBlocks {
			return fmt.Errorf("%w: roaring run %d to %d", ErrCorrupt, lo, hi)
		}
		fillRange(words, lo, hi)
	}
	return nil
}

// fillRange sets the bits from lo up to but not including hi, which is larger.
func fillRange(words []uint64, lo, hi int) {
	first, last := lo>>6, (hi-1)>>6
	head, tail := ^uint64(0)<<(lo&63), ^uint64(0)>>(63-(hi-1)&63)
	if first == last {
		words[first] |= head & tail
		return
	}
	words[first] |= head
	for i := first + 1; i < last; i++ {
		words[i] = ^uint64(0)
	}
	words[last] |= tail
}
