package match

import (
	"bytes"

	"github.com/trawlsearch/trawl/postings"
)

// needle finds a literal in a byte slice, exactly or with ASCII letters
// folded.
//
// Exact search is bytes.Index. Folded search looks for the literal's rarest
// byte, in both cases, with bytes.IndexByte, which runs at the speed of
// memory, and compares around each hit.
type needle struct {
	text []byte
	fold bool
	// at is the offset of the rarest byte in text, lower and upper that byte.
	at           int
	lower, upper byte
}

func newNeedle(text string, fold bool) needle {
	n := needle{text: []byte(text), fold: fold}
	if !fold {
		return n
	}
	n.text = bytes.Clone(n.text)
	letters := false
	for i, c := range n.text {
		n.text[i] = lower(c)
		letters = letters || isLetter(lower(c))
	}
	if !letters {
		n.fold = false
		return n
	}
	best := 1 << 30
	for i, c := range n.text {
		// A letter costs two searches, so it has to be rarer by half.
		cost := 1 << (postings.ByteFrequency(c) / 10)
		if isLetter(c) {
			cost *= 2
		}
		if cost < best {
			best, n.at = cost, i
		}
	}
	n.lower = n.text[n.at]
	n.upper = n.lower
	if isLetter(n.lower) {
		n.upper -= 'a' - 'A'
	}
	return n
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' }

// each calls f with the offset of every occurrence in text, overlapping ones
// too, ascending; f returns where to go on, at least the offset plus 1, or a
// negative number to stop.
func (n *needle) each(text []byte, f func(at int) int) {
	if n.fold {
		n.eachFolded(text, f)
		return
	}
	for from := 0; from <= len(text)-len(n.text); {
		i := bytes.Index(text[from:], n.text)
		if i < 0 {
			return
		}
		if from = f(from + i); from < 0 {
			return
		}
	}
}

func (n *needle) eachFolded(text []byte, f func(at int) int) {
	// low and up are the next places of the two cases of the rare byte.
	low, up := -1, -1
	from := n.at
	last := len(text) - len(n.text) + n.at
	for from <= last {
		if low < from {
			low = nextByte(text, from, last, n.lower)
		}
		if up < from {
			if n.upper == n.lower {
				up = len(text)
			} else {
				up = nextByte(text, from, last, n.upper)
			}
		}
		hit := min(low, up)
		if hit > last {
			return
		}
		if equalFolded(text[hit-n.at:], n.text) {
			next := f(hit - n.at)
			if next < 0 {
				return
			}
			from = next + n.at
			continue
		}
		from = hit + 1
	}
}

// nextByte returns the first place of c in text from from to last, or
// len(text).
func nextByte(text []byte, from, last int, c byte) int {
	if i := bytes.IndexByte(text[from:last+1], c); i >= 0 {
		return from + i
	}
	return len(text)
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
