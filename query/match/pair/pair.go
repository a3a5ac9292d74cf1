package pair

import "encoding/binary"

// Pair are two bytes to look for: First in one text, and Second at the same
// position of another, each after the bits of its mask were set in the text.
// The mask 0x20 lets a lower-case letter stand for both cases, 0 is for exact
// bytes.
type Pair struct {
	First, FirstMask, Second, SecondMask byte
}

// Wide reports whether this processor looks at 32 places at a time.
func Wide() bool { return wide }

// Hits are places at which both bytes stand: bit k says so of the place Base+k.
// Only the lowest bit is certain; others may be set for nothing.
type Hits struct {
	Base int
	Bits uint32
	// Next is the first place that was not looked at.
	Next int
}

// Find returns the first hits in x and y, which are of one length, at places
// from i on. No bits are set when there are none; Next is then len(x).
func (p Pair) Find(x, y []byte, i int) Hits {
	y = y[:len(x)]
	if wide && len(x)-i >= 32 {
		return p.findWide(x, y, i)
	}
	return p.find(x, y, i)
}

const (
	everyByte = 0x0101010101010101
	highBits  = everyByte << 7
)

// find looks at eight places at a time: both words are compared with the byte
// they should have everywhere by exclusive or, so that a place where both stand
// is a zero byte in the or of the two.
func (p Pair) find(x, y []byte, i int) Hits {
	first, firstMask := everyByte*uint64(p.First), everyByte*uint64(p.FirstMask)
	second, secondMask := everyByte*uint64(p.Second), everyByte*uint64(p.SecondMask)
	for ; i <= len(x)-16; i += 16 {
		a, b := x[i:i+16], y[i:i+16]
		v := ((binary.LittleEndian.Uint64(a) | firstMask) ^ first) | ((binary.LittleEndian.Uint64(b) | secondMask) ^ second)
		w := ((binary.LittleEndian.Uint64(a[8:]) | firstMask) ^ first) | ((binary.LittleEndian.Uint64(b[8:]) | secondMask) ^ second)
		v = (v - everyByte) &^ v & highBits
		w = (w - everyByte) &^ w & highBits
		if v|w != 0 {
			return Hits{i, gather(v) | gather(w)<<8, i + 16}
		}
	}
	for ; i < len(x); i++ {
		if p.stands(x[i], y[i]) {
			return Hits{i, 1, i + 1}
		}
	}
	return Hits{len(x), 0, len(x)}
}

func (p Pair) stands(x, y byte) bool { return x|p.FirstMask == p.First && y|p.SecondMask == p.Second }

// gather returns the highest bits of the bytes of v, that of the first as the
// lowest. The borrow of the subtraction that set them may have reached above the
// lowest that is.
func gather(v uint64) uint32 {
	return uint32((v >> 7) * 0x0102040810204080 >> 56)
}
