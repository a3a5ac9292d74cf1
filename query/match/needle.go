package match

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/trawlsearch/trawl/postings"
)

// needle finds a literal in a byte slice, exactly or with ASCII letters
// folded.
//
// If one of its bytes is rare, it looks for that one, in both cases, with
// bytes.IndexByte, which runs at the speed of memory, and compares around each
// hit.
//
// Otherwise it looks for two rare bytes of the literal at once, at the distance
// they have there: eight places at a time, in the eight bytes that stand at one
// of them and the eight at the other. Both words are compared with the byte they
// should have everywhere by exclusive or, so that a place where both stand is a
// zero byte in the or of the two. That finds a candidate every few hundred
// bytes where a single byte stops every thirty.
type needle struct {
	text []byte
	fold bool
	// at and by are the offsets of the two rarest bytes in text; at is by if
	// there is only one.
	at, by int
	// atByte and byByte are those bytes, atMask and byMask the bit that differs
	// between the cases of a letter, eight times each.
	atByte, byByte, atMask, byMask uint64
	// single says that the byte at is rare enough to look for it alone: it is
	// lower or upper.
	single       bool
	lower, upper byte
}

// cursor remembers what was seen ahead when a text is searched from place to
// place. It begins as newCursor.
type cursor struct {
	// lower and upper are the next places of the two cases of the rare byte,
	// where they are not behind.
	lower, upper int
}

func newCursor() cursor { return cursor{-1, -1} }

// Frequencies, as postings.ByteFrequency has them, up to which a byte is looked
// for alone, which is faster below them. A letter costs two passes. Measured on
// the kernel's drivers/net, one core of an AMD EPYC: looking for two bytes runs at
// 6.8 GB/s whatever they are, for one at 18 (z, frequency 105), 6.7 (y, 124), 4.7
// (w, 126) and 2.3 (c, 146).
const (
	rareLetter = 120
	rareOther  = 130
)

const everyByte = 0x0101010101010101

func newNeedle(text string, fold bool) needle {
	n := needle{text: []byte(text), fold: fold}
	if fold {
		for i, c := range n.text {
			n.text[i] = lower(c)
		}
	}
	n.at = n.rarest(-1)
	n.lower = n.text[n.at]
	n.upper = n.lower
	rare := rareOther
	if fold && isLetter(n.lower) {
		n.upper -= 'a' - 'A'
		rare = rareLetter
	}
	if n.single = int(postings.ByteFrequency(n.lower)) <= rare; n.single {
		return n
	}
	n.by = n.rarest(n.at)
	if n.by < n.at {
		n.at, n.by = n.by, n.at
	}
	n.atByte, n.atMask = n.pattern(n.at)
	n.byByte, n.byMask = n.pattern(n.by)
	return n
}

// same reports whether both find the same.
func (n needle) same(other *needle) bool {
	return n.fold == other.fold && bytes.Equal(n.text, other.text)
}

// rarest returns the offset of the rarest byte of text, not counting the one
// at but, which it returns if there is no other.
func (n *needle) rarest(but int) int {
	best, cost := max(but, 0), 1<<30
	for i, c := range n.text {
		if f := int(postings.ByteFrequency(c)); i != but && f < cost {
			best, cost = i, f
		}
	}
	return best
}

// pattern returns what the byte at offset i is compared with.
func (n *needle) pattern(i int) (pattern, mask uint64) {
	c := n.text[i]
	if n.fold && isLetter(c) {
		mask = everyByte * ('a' - 'A')
	}
	return everyByte * uint64(c), mask
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' }

// next returns the first offset, at least from, at which the literal stands in
// text, or -1. From is no lower than in the call before with that cursor.
func (n *needle) next(text []byte, from int, c *cursor) int {
	if n.single {
		return n.nextSingle(text, from, c)
	}
	return n.nextPair(text, from)
}

// appendAll appends where the literal stands in text, overlapping places left
// out.
func (n *needle) appendAll(dst []Span, text []byte) []Span {
	size, c := len(n.text), newCursor()
	for at := n.next(text, 0, &c); at >= 0; at = n.next(text, at+size, &c) {
		dst = append(dst, Span{uint32(at), uint32(at + size)})
	}
	return dst
}

func (n *needle) nextSingle(text []byte, from int, c *cursor) int {
	last := len(text) - len(n.text) + n.at
	for i := from + n.at; i <= last; {
		if c.lower < i {
			c.lower = indexFrom(text, i, n.lower)
		}
		if c.upper < i {
			c.upper = c.lower
			if n.upper != n.lower {
				c.upper = indexFrom(text, i, n.upper)
			}
		}
		hit := min(c.lower, c.upper)
		if hit > last {
			break
		}
		if n.stands(text[hit-n.at:]) {
			return hit - n.at
		}
		i = hit + 1
	}
	return -1
}

// indexFrom returns the first place of c in text from i on, or len(text).
func indexFrom(text []byte, i int, c byte) int {
	if k := bytes.IndexByte(text[i:], c); k >= 0 {
		return i + k
	}
	return len(text)
}

func (n *needle) nextPair(text []byte, from int) int {
	// Places at which both words can be read and a literal fits.
	places := len(text) - max(n.by+7, len(n.text)-1) - from
	if places > 0 {
		x, y := text[from+n.at:][:places+7], text[from+n.by:][:places+7]
		for i := 0; ; i += 8 {
			var found uint64
			if i, found = n.pairs(x, y, i); found == 0 {
				from += i
				break
			}
			for ; found != 0; found &= found - 1 {
				if at := from + i + bits.TrailingZeros64(found)/8; n.stands(text[at:]) {
					return at
				}
			}
		}
	}
	for ; from <= len(text)-len(n.text); from++ {
		if n.stands(text[from:]) {
			return from
		}
	}
	return -1
}

// pairs returns the first i from i on in steps of eight for which among the
// eight places from i on the rare bytes stand in x and in y, and a word with
// the highest bit of a byte set for each such place; no bit when there are less
// than eight places left. Above the lowest bit others may be set for nothing.
func (n *needle) pairs(x, y []byte, i int) (int, uint64) {
	atByte, atMask, byByte, byMask := n.atByte, n.atMask, n.byByte, n.byMask
	y = y[:len(x)]
	for ; i <= len(x)-23; i += 16 {
		a, b := x[i:i+16], y[i:i+16]
		v := ((binary.LittleEndian.Uint64(a) | atMask) ^ atByte) | ((binary.LittleEndian.Uint64(b) | byMask) ^ byByte)
		w := ((binary.LittleEndian.Uint64(a[8:]) | atMask) ^ atByte) | ((binary.LittleEndian.Uint64(b[8:]) | byMask) ^ byByte)
		v = (v - everyByte) &^ v & (everyByte << 7)
		w = (w - everyByte) &^ w & (everyByte << 7)
		if v != 0 {
			return i, v
		}
		if w != 0 {
			return i + 8, w
		}
	}
	for ; i <= len(x)-15; i += 8 {
		w := (binary.LittleEndian.Uint64(x[i:i+8]) | atMask) ^ atByte
		w |= (binary.LittleEndian.Uint64(y[i:i+8]) | byMask) ^ byByte
		if z := (w - everyByte) & ^w & (everyByte << 7); z != 0 {
			return i, z
		}
	}
	return i, 0
}

// stands reports whether text, which is long enough, begins with the literal.
func (n *needle) stands(text []byte) bool {
	if !n.fold {
		return string(text[:len(n.text)]) == string(n.text)
	}
	return equalFolded(text, n.text)
}

// equalFolded reports whether text begins with folded under ASCII folding.
func equalFolded(text, folded []byte) bool {
	text = text[:len(folded)]
	for i, c := range folded {
		if lower(text[i]) != c {
			return false
		}
	}
	return true
}
