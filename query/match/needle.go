package match

import (
	"encoding/binary"
	"math/bits"

	"github.com/trawlsearch/trawl/postings"
)

// needle finds a literal in a byte slice, exactly or with ASCII letters
// folded.
//
// It looks for two rare bytes of the literal at once, at the distance they
// have there: eight places at a time, in the eight bytes that stand at one of
// them and the eight at the other. Both words are compared with the byte they
// should have everywhere by exclusive or, so that a place where both stand is a
// zero byte in the or of the two. That finds a candidate every few hundred
// bytes where a single byte, searched in both cases by bytes.IndexByte, stops
// every thirty.
type needle struct {
	text []byte
	fold bool
	// at and by are the offsets of the two rarest bytes in text; at is by if
	// there is only one.
	at, by int
	// atByte and byByte are those bytes, atMask and byMask the bit that differs
	// between the cases of a letter, eight times each.
	atByte, byByte, atMask, byMask uint64
}

const everyByte = 0x0101010101010101

func newNeedle(text string, fold bool) needle {
	n := needle{text: []byte(text), fold: fold}
	if fold {
		for i, c := range n.text {
			n.text[i] = lower(c)
		}
	}
	n.at = n.rarest(-1)
	n.by = n.rarest(n.at)
	if n.by < n.at {
		n.at, n.by = n.by, n.at
	}
	n.atByte, n.atMask = n.pattern(n.at)
	n.byByte, n.byMask = n.pattern(n.by)
	return n
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
// text, or -1.
func (n *needle) next(text []byte, from int) int {
	// i runs over the offsets; the words are those of the two rare bytes.
	i := from
	for last := len(text) - max(n.by+8, len(n.text)+7); i <= last; i += 8 {
		x := (binary.LittleEndian.Uint64(text[i+n.at:]) | n.atMask) ^ n.atByte
		x |= (binary.LittleEndian.Uint64(text[i+n.by:]) | n.byMask) ^ n.byByte
		// The lowest bit set stands for a zero byte; above it others may be set
		// without one, which only costs a comparison.
		for z := (x - everyByte) & ^x & (everyByte << 7); z != 0; z &= z - 1 {
			if at := i + bits.TrailingZeros64(z)/8; n.stands(text[at:]) {
				return at
			}
		}
	}
	for ; i <= len(text)-len(n.text); i++ {
		if n.stands(text[i:]) {
			return i
		}
	}
	return -1
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
