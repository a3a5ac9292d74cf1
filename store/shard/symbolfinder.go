package shard

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/decode"
	"github.com/trawlsearch/trawl/store/engine"
)

// SymbolFinder finds symbols by their names in groups. It is not safe for
// concurrent use.
type SymbolFinder struct {
	needles []nameNeedle
	words   []groupWord
}

// groupWord is a word of a group, which is made a string when it is first asked
// for.
type groupWord struct {
	raw  []byte
	text string
}

// NewSymbolFinder finds the symbols whose names are one of whole, or hold part if
// that is not empty. Both are folded as posting lists are; the names of symbols
// need not be.
func NewSymbolFinder(whole []string, part string) *SymbolFinder {
	f := &SymbolFinder{}
	for _, w := range whole {
		f.add(w, binary.AppendUvarint(nil, uint64(len(w))))
	}
	f.add(part, nil)
	return f
}

func (f *SymbolFinder) add(folded string, length []byte) {
	if folded == "" {
		return
	}
	n := nameNeedle{folded: folded, length: length}
	if len(length) == 1 {
		// Rarer than letters in what is mostly names.
		n.rare, n.cases = -1, length
		f.needles = append(f.needles, n)
		return
	}
	for i := range len(folded) {
		if postings.ByteFrequency(folded[i]) < postings.ByteFrequency(folded[n.rare]) {
			n.rare = i
		}
	}
	c := folded[n.rare]
	n.cases = []byte{c}
	if 'a' <= c && c <= 'z' {
		n.cases = append(n.cases, c-'a'+'A')
	}
	f.needles = append(f.needles, n)
}

// find appends the symbols in the encoded group value that are wanted, and keeps
// nothing of it. It reads no further than to the last that may be, and so does
// not notice all damage.
func (f *SymbolFinder) find(dst []Symbol, value []byte) ([]Symbol, error) {
	r := decode.Reader{Rest: value}
	f.words = append(f.words[:0], groupWord{})
	for range r.Count() {
		if r.Bad {
			break
		}
		f.words = append(f.words, groupWord{raw: r.Bytes(r.Count())})
	}
	text, line, at, bad := r.Rest, uint32(0), f.first(r.Rest), r.Bad
	for i := 0; at != notThere && !bad && i < len(text); {
		var delta, column, kind, container, language, size uint64
		delta, i = uvarintAt(text, i)
		column, i = uvarintAt(text, i)
		kind, i = uvarintAt(text, i)
		container, i = uvarintAt(text, i)
		language, i = uvarintAt(text, i)
		size, i = uvarintAt(text, i)
		if i > len(text) || size > uint64(len(text)-i) {
			bad = true
			break
		}
		line += uint32(delta)
		lo, hi := i, i+int(size)
		if i = hi; hi <= at {
			continue
		}
		var wanted bool
		if wanted, at = f.takes(text, lo, hi); !wanted {
			continue
		}
		if n := uint64(len(f.words)); kind >= n || container >= n || language >= n || column > math.MaxUint32 {
			bad = true
			break
		}
		dst = append(dst, Symbol{
			Name: string(text[lo:hi]), Kind: f.word(kind), Container: f.word(container), Language: f.word(language), Line: line, Column: uint32(column),
		})
	}
	if bad {
		return dst, fmt.Errorf("symbols: %w", engine.ErrCorrupt)
	}
	return dst, nil
}

func (f *SymbolFinder) word(n uint64) string {
	w := &f.words[n]
	if w.text == "" && len(w.raw) > 0 {
		w.text = string(w.raw)
	}
	return w.text
}

// first begins with a text and returns where the first needle stands in it.
func (f *SymbolFinder) first(text []byte) int {
	at := notThere
	for i := range f.needles {
		n := &f.needles[i]
		n.next = [2]int{-1, -1}
		n.at = n.find(text, 0)
		at = min(at, n.at)
	}
	return at
}

// takes reports whether the name from lo to hi is wanted, and where a needle
// stands next.
func (f *SymbolFinder) takes(text []byte, lo, hi int) (wanted bool, next int) {
	next = notThere
	for i := range f.needles {
		n := &f.needles[i]
		if n.at < lo {
			n.at = n.find(text, lo)
		}
		if n.length == nil {
			wanted = wanted || n.at <= hi-len(n.folded)
		} else {
			wanted = wanted || n.at == lo && len(n.folded) == hi-lo
		}
		if n.at < hi {
			n.at = n.find(text, hi)
		}
		next = min(next, n.at)
	}
	return wanted, next
}

// notThere is where a word stands that does not.
const notThere = math.MaxInt

// nameNeedle is a word that is looked for in groups, in either case.
type nameNeedle struct {
	folded string
	// length is what stands before a whole name, nil for a part of one.
	length []byte
	// rare is the place of its rarest byte, -1 if that is its length, and cases are
	// that byte's spellings; next is where each was found last.
	rare  int
	cases []byte
	next  [2]int
	// at is where the word was found last.
	at int
}

// find returns where n stands in text, from an offset on that is no less than
// those it was asked for in this text before.
func (n *nameNeedle) find(text []byte, from int) int {
	for from = max(from+n.rare, 0); ; from++ {
		at := notThere
		for k, c := range n.cases {
			if n.next[k] < from {
				n.next[k] = notThere
				if i := bytes.IndexByte(text[min(from, len(text)):], c); i >= 0 {
					n.next[k] = from + i
				}
			}
			at = min(at, n.next[k])
		}
		if at == notThere {
			return notThere
		}
		if start := at - n.rare; beginsFolded(text[start:], n.folded) && bytes.HasSuffix(text[:start], n.length) {
			return start
		}
		from = at
	}
}

// uvarintAt returns the number that stands at i and where it ends, beyond the end
// of text if none does.
func uvarintAt(text []byte, i int) (v uint64, end int) {
	if uint(i) < uint(len(text)) && text[i] < 0x80 { // as most are
		return uint64(text[i]), i + 1
	}
	return longUvarintAt(text, i)
}

func longUvarintAt(text []byte, i int) (v uint64, end int) {
	if i < len(text) {
		if v, n := binary.Uvarint(text[i:]); n > 0 {
			return v, i + n
		}
	}
	return 0, len(text) + 1
}

// beginsFolded reports whether text, folded, begins with folded.
func beginsFolded(text []byte, folded string) bool {
	if len(text) < len(folded) {
		return false
	}
	for i := range len(folded) {
		if postings.Fold(text[i]) != folded[i] {
			return false
		}
	}
	return true
}

// IndexFolded returns where folded begins in text, once that is folded, or -1.
func IndexFolded(text []byte, folded string) int {
	for i := 0; i+len(folded) <= len(text); i++ {
		if beginsFolded(text[i:], folded) {
			return i
		}
	}
	return -1
}
