package match

import "github.com/trawlsearch/trawl/postings"

// Blocks are those of a document in which a match may begin, according to the
// posting lists. The zero value is all of them.
type Blocks struct {
	// numbers are ascending, from the document's first block; nil is all blocks.
	numbers []uint16
	// alternatives has, for each of them, a bit for every alternative of the
	// anchor that may begin there; nil is all alternatives.
	alternatives []uint8
}

// maxAlternatives is how many alternatives of an anchor Blocks can distinguish.
const (
	maxAlternatives  = 8
	everyAlternative = 1<<maxAlternatives - 1
)

// Of returns the blocks that c leaves of a document, whose blocks are first up
// to but not including last. They lie in b's memory.
func (b *Blocks) Of(c *postings.Candidates, first, last int) Blocks {
	if c.Blocks == nil {
		return Blocks{}
	}
	b.numbers = c.Blocks.AppendRange(append(b.numbers[:0], 0)[:0], first, last)
	out := Blocks{numbers: b.numbers}
	if n := len(c.Parts); n > 0 && n <= maxAlternatives {
		b.alternatives = b.alternatives[:0]
		for _, number := range b.numbers {
			b.alternatives = append(b.alternatives, alternativesIn(c.Parts, number))
		}
		out.alternatives = b.alternatives
	}
	for i := range b.numbers {
		b.numbers[i] -= uint16(first)
	}
	return out
}

func alternativesIn(parts []*postings.Set, block uint16) (may uint8) {
	for n, part := range parts {
		if part.Contains(block) {
			may |= 1 << n
		}
	}
	return may
}

// windowBlocks is the most blocks looked at in one go, so that what a large
// document costs in memory is the length of its lines and not its own.
const windowBlocks = 64

// windows calls f for runs of neighbouring blocks, ascending, with the interval
// of bytes they cover.
func (b Blocks) windows(t *Text, f func(lo, hi int) error) error {
	b.alternatives = nil
	return b.windowsByAlternatives(t, func(lo, hi int, _ uint8) error { return f(lo, hi) })
}

// windowsByAlternatives is windows for runs of blocks in which the same
// alternatives may begin.
func (b Blocks) windowsByAlternatives(t *Text, f func(lo, hi int, alternatives uint8) error) error {
	if b.numbers == nil {
		const size = windowBlocks * postings.BlockBytes
		for lo := 0; lo < t.Len(); lo += size {
			if err := f(lo, min(lo+size, t.Len()), everyAlternative); err != nil {
				return err
			}
		}
		return nil
	}
	for i := 0; i < len(b.numbers); {
		j := i + 1
		for j < len(b.numbers) && j-i < windowBlocks && b.numbers[j] == b.numbers[j-1]+1 && b.at(j) == b.at(i) {
			j++
		}
		lo := int(b.numbers[i]) * postings.BlockBytes
		if err := f(lo, min(int(b.numbers[j-1]+1)*postings.BlockBytes, t.Len()), b.at(i)); err != nil {
			return err
		}
		i = j
	}
	return nil
}

// at returns the alternatives of the i-th block.
func (b Blocks) at(i int) uint8 {
	if b.alternatives == nil {
		return everyAlternative
	}
	return b.alternatives[i]
}
