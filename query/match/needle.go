package match

import (
	"bytes"
	"math/bits"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/match/pair"
)

// needle finds a literal in a byte slice, exactly or with ASCII letters
// folded.
//
// It looks for two rare bytes of the literal at once, at the distance they have
// there, which finds a candidate every few hundred bytes where a single byte
// stops every thirty, and compares there.
//
// Where that is slow and one of the bytes is rare enough, it looks for this one
// alone, in both cases, with bytes.IndexByte.
type needle struct {
	text []byte
	fold bool
	// at and by are the offsets of the two rarest bytes in text; at is by if
	// there is only one.
	at, by int
	// pair are these two.
	pair pair.Pair
	// single says that the byte at is looked for alone: it is lower or upper.
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
// for alone where pairs are looked for in words of eight bytes: that runs at 6.8
// GB/s whatever the two bytes are, and looking for one at 18 (z, frequency 105),
// 6.7 (y, 124), 4.7 (w, 126) and 2.3 (c, 146), measured on the kernel's
// drivers/net, one core of an AMD EPYC. A letter costs two passes. Where 32 places
// are compared at once a pair is never slower.
const (
	rareLetter = 120
	rareOther  = 130
)

func newNeedle(text string, fold bool) needle { return newNeedleOn(text, fold, pair.Wide()) }

// newNeedleOn is newNeedle on a processor that compares many places at once, or
// does not.
func newNeedleOn(text string, fold, wide bool) needle {
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
	if n.single = !wide && int(postings.ByteFrequency(n.lower)) <= rare; n.single {
		return n
	}
	n.by = n.rarest(n.at)
	if n.by < n.at {
		n.at, n.by = n.by, n.at
	}
	n.pair.First, n.pair.FirstMask = n.pattern(n.at)
	n.pair.Second, n.pair.SecondMask = n.pattern(n.by)
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

// pattern returns what the byte at offset i is compared with, and the bit that
// differs between the cases of a letter.
func (n *needle) pattern(i int) (pattern, mask byte) {
	c := n.text[i]
	if n.fold && isLetter(c) {
		mask = 'a' - 'A'
	}
	return c, mask
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
	places := len(text) - len(n.text) + 1 - from
	if places <= 0 {
		return -1
	}
	x, y := text[from+n.at:][:places], text[from+n.by:][:places]
	for i := 0; i < places; {
		h := n.pair.Find(x, y, i)
		for ; h.Bits != 0; h.Bits &= h.Bits - 1 {
			if at := from + h.Base + bits.TrailingZeros32(h.Bits); n.stands(text[at:]) {
				return at
			}
		}
		i = h.Next
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
