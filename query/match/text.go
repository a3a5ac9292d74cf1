package match

import (
	"bytes"

	"github.com/trawlsearch/trawl/postings"
)

// Source gives bytes of a shard's text; *shard.Text is one.
type Source interface {
	// Slice returns the bytes from lo up to hi, borrowed until the next call of
	// either method.
	Slice(lo, hi uint32) ([]byte, error)
	// Release ends the loan of the last slice.
	Release()
}

// wholeBytes is the largest document that is searched whole where only lines
// of it need be; small documents are nearly all documents.
const wholeBytes = 64 << 10

// Text is the text of one document. The zero value is an empty document. It is
// not safe for concurrent use.
type Text struct {
	src   Source
	base  uint32
	size  int
	whole []byte
	// read says that whole holds the document.
	read bool
	// newlines counts the newlines of each block of the document.
	newlines []uint16
	// plain says that no rune outside ASCII that folds to an ASCII letter is
	// there.
	plain bool
	// BytesRead counts the bytes looked at, for traces.
	BytesRead int
	// Budget ends the work on this document and those after it.
	Budget *Budget
}

// Reset makes t the document of size bytes at base of src, with the number of
// newlines in each of its blocks.
func (t *Text) Reset(src Source, base uint32, size int, newlines []uint16) {
	*t = Text{src: src, base: base, size: size, newlines: newlines, BytesRead: t.BytesRead, Budget: t.Budget}
}

// SetPlain declares that the document holds neither U+017F nor U+212A, which
// saves looking for them.
func (t *Text) SetPlain() { t.plain = true }

// ResetBytes makes t a document that is in memory.
func (t *Text) ResetBytes(text []byte, newlines []uint16) {
	*t = Text{whole: text, read: true, size: len(text), newlines: newlines, BytesRead: t.BytesRead, Budget: t.Budget}
}

// Release makes t an empty document and ends the loan of its text. The source
// counts the memory of a large text as free then, so t must not keep it.
func (t *Text) Release() {
	src := t.src
	*t = Text{BytesRead: t.BytesRead, Budget: t.Budget}
	if src != nil {
		src.Release()
	}
}

// Len returns the document's size in bytes.
func (t *Text) Len() int { return t.size }

// Bytes returns the bytes from lo up to hi, borrowed until the next call.
func (t *Text) Bytes(lo, hi int) ([]byte, error) {
	if lo == hi {
		return nil, nil
	}
	if t.read {
		return t.whole[lo:hi], nil
	}
	return t.src.Slice(t.base+uint32(lo), t.base+uint32(hi))
}

// All returns the whole text, borrowed until t is reset or released.
func (t *Text) All() ([]byte, error) {
	t.BytesRead += t.size
	if t.read || t.size == 0 {
		return t.whole, nil
	}
	b, err := t.src.Slice(t.base, t.base+uint32(t.size))
	if err != nil {
		return nil, err
	}
	t.whole, t.read = b, true
	return b, nil
}

// LineEnd returns where the line that holds offset at ends, which is where its
// newline stands or the end of the text.
func (t *Text) LineEnd(at int) (int, error) { return lineEnd(t, at) }

// Line returns where a line, counted from 1, starts and ends; both are the end of
// the text if there is none. The table of newlines per block saves reading what
// stands before.
func (t *Text) Line(number uint32) (start, end int, err error) {
	left := int(number) - 1
	for block := 0; left > 0; block++ {
		if block == len(t.newlines) {
			return t.size, t.size, nil
		}
		if n := int(t.newlines[block]); n < left {
			left -= n
			continue
		}
		lo := block * postings.BlockBytes
		text, err := t.Bytes(lo, min(lo+postings.BlockBytes, t.size))
		if err != nil {
			return 0, 0, err
		}
		for ; left > 0; left-- {
			i := bytes.IndexByte(text[start:], '\n')
			if i < 0 {
				return t.size, t.size, nil
			}
			start += i + 1
		}
		start += lo
	}
	end, err = lineEnd(t, start)
	return start, end, err
}

// mayFoldWide reports whether b, some bytes of the document, may hold a rune
// outside ASCII that folds to an ASCII letter.
func (t *Text) mayFoldWide(b []byte) bool { return !t.plain && hasWide(b) }
