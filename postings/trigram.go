package postings

// Trigram is three bytes, the first in bits 16 to 23. It is folded and stands for
// all its spellings, or has an upper-case letter and stands for itself.
type Trigram uint32

// NumTrigrams is one more than the largest Trigram.
const NumTrigrams = 1 << 24

// Block geometry; package documentation explains it. 4 KiB blocks against
// whole documents cut the text to verify for a rare literal on the Linux 6.1
// tree from 34.1 to 2.65 MB; 2 KiB halves it again but costs 27 % more
// postings.
const (
	BlockBytes   = 4096
	OverlapBytes = 64
	// MaxLiteralBytes is the longest text whose trigrams are all in the lists
	// of the block it begins in.
	MaxLiteralBytes = OverlapBytes + 1
	// MaxBlocks is the most blocks a shard holds.
	MaxBlocks = 1 << 16
)

// foldTable maps A-Z to a-z and every other byte to itself.
var foldTable = makeFoldTable()

func makeFoldTable() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			t[i] = byte(i) + 'a' - 'A'
		}
	}
	return t
}

// Fold returns b folded as the index folds it.
func Fold(b byte) byte { return foldTable[b] }

// MakeTrigram folds three bytes and packs them.
func MakeTrigram(a, b, c byte) Trigram {
	return Trigram(foldTable[a])<<16 | Trigram(foldTable[b])<<8 | Trigram(foldTable[c])
}

// pack is three bytes as they are.
func pack(a, b, c byte) Trigram { return Trigram(a)<<16 | Trigram(b)<<8 | Trigram(c) }

// Exact reports whether t has an upper-case letter.
func (t Trigram) Exact() bool {
	b := t.Bytes()
	return MakeTrigram(b[0], b[1], b[2]) != t
}

// Bytes returns the three bytes of t.
func (t Trigram) Bytes() [3]byte { return [3]byte{byte(t >> 16), byte(t >> 8), byte(t)} }

// AppendTrigrams appends the trigrams of text as they stand to dst, in order,
// repeats left in.
func AppendTrigrams(dst []Trigram, text string) []Trigram {
	for i := 0; i+3 <= len(text); i++ {
		dst = append(dst, pack(text[i], text[i+1], text[i+2]))
	}
	return dst
}

// BlockCount returns how many blocks a document of n bytes owns.
func BlockCount(n int) int { return max(1, (n+BlockBytes-1)/BlockBytes) }
