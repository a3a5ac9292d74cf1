package postings

import (
	"encoding/binary"
	"slices"
	"unsafe"
)

// Builder collects the posting lists of one field of one shard. Blocks are
// added in ascending order; Walk and WalkExact then yield every list encoded,
// in trigram order. It is not safe for concurrent use.
//
// Each list grows as gaps (codec.go) in a chain of small pieces, 8 bytes at
// first and doubling to 256, cut from slabs. A quarter of the Linux tree, 62
// thousand blocks, makes 75 million postings in about 95 MB. The table that
// finds a trigram's list is another 64 MB, or less (see Tables), taken with the first
// text and kept until Release.
type Builder struct {
	tables *Tables
	// index, or rows if there was no table, holds for each trigram one more than its
	// number in lists.
	index *table
	rows  *rows
	lists []growing
	slabs [][]byte
	// used is how much of the last slab is taken.
	used int
	// seen remembers trigrams of the current block, by hash. The byte above
	// each is mark, which no block before had. A lost entry only costs a look
	// at the list, whose last block says the same.
	seen [seenEntries]uint32
	mark uint32
	// fresh are the trigrams collected, numbers is where their lists are found.
	fresh, numbers [freshEntries]uint32
	collected      int
	buf            []byte
}

// growing is a list under construction. Offsets are slab<<slabBits + byte.
type growing struct {
	trigram [3]byte
	// size is the binary logarithm of the size of the piece being filled.
	size  uint8
	first uint32
	// next is where the next byte goes, end the end of that piece.
	next, end uint32
	count     uint32
	last      int32
}

func (l *growing) number() Trigram { return pack(l.trigram[0], l.trigram[1], l.trigram[2]) }

const (
	slabBits    = 20
	seenEntries = 4096
	// freshEntries is twice what a block of source code takes; freshMargin is
	// what one byte and the end of a document take.
	freshEntries = 2048
	freshMargin  = 6
	firstSize    = 3
	firstPiece   = 1 << firstSize
	largestSize  = 8
	largestPart  = 1 << largestSize
	// linkBytes at the end of a full piece hold the offset of the next.
	linkBytes = 4
)

// NewBuilder returns an empty builder, which has its table to itself.
func NewBuilder() *Builder { return new(Tables).NewBuilder() }

// AddDocument adds the blocks of one document, the first of which has number
// block, and returns how many there were.
func (b *Builder) AddDocument(block int, text []byte) int {
	n := BlockCount(len(text))
	for i := range n {
		lo := i * BlockBytes
		window := text[min(lo, len(text)):min(lo+BlockBytes+OverlapBytes, len(text))]
		b.addBlock(block+i, window, lo+len(window) == len(text), true)
	}
	return n
}

// AddWhole adds all of text to one block, however long it is, folded only.
func (b *Builder) AddWhole(block int, text []byte) { b.addBlock(block, text, true, false) }

// addBlock adds the trigrams of window to block, and with exact also those that
// have an upper-case letter as they stand; atEnd says that the document ends with
// window.
func (b *Builder) addBlock(block int, window []byte, atEnd, exact bool) {
	if len(window) == 0 {
		return
	}
	if b.index == nil && b.rows == nil {
		if b.index = b.tables.take(); b.index == nil {
			b.rows = newRows()
		}
		b.lists = b.tables.takeLists()
	}
	b.nextMark()
	// t is folded, x as it stands.
	t, x := uint32(foldTable[window[0]]), uint32(window[0])
	if len(window) > 1 {
		t, x = t<<8|uint32(foldTable[window[1]]), x<<8|uint32(window[1])
		t, x = b.collect(block, window[2:], t, x, exact)
		if atEnd {
			b.collectLast(t<<8, x<<8, exact)
		}
	}
	if atEnd {
		b.collectLast(t<<16, x<<16, exact)
	}
	b.flush(block)
}

// nextMark makes seen forget.
func (b *Builder) nextMark() {
	b.mark += NumTrigrams
	if b.mark == 0 {
		clear(b.seen[:])
		b.mark = NumTrigrams
	}
}

// collect collects the trigrams that end in text, the first of which begins with
// the two bytes before it, the last ones of t and x. It returns the last
// trigram, folded and as it stands.
func (b *Builder) collect(block int, text []byte, t, x uint32, exact bool) (lastFolded, last uint32) {
	n := b.collected
	for _, c := range text {
		t = (t<<8 | uint32(foldTable[c])) & (NumTrigrams - 1)
		x = (x<<8 | uint32(c)) & (NumTrigrams - 1)
		// A trigram seen as written was also seen folded.
		e := &b.seen[x*0x9E3779B1>>20]
		if *e == b.mark|x {
			continue
		}
		*e = b.mark | x
		if n > freshEntries-freshMargin {
			b.collected = n
			b.flush(block)
			n = 0
		}
		if x != t {
			if exact {
				b.fresh[n%freshEntries] = x
				n++
			}
			e := &b.seen[t*0x9E3779B1>>20]
			if *e == b.mark|t {
				continue
			}
			*e = b.mark | t
		}
		b.fresh[n%freshEntries] = t
		n++
	}
	b.collected = n
	return t, x
}

// collectLast collects a trigram of the end of a document.
func (b *Builder) collectLast(t, x uint32, exact bool) {
	t, x = t&(NumTrigrams-1), x&(NumTrigrams-1)
	b.fresh[b.collected] = t
	b.collected++
	if exact && x != t {
		b.fresh[b.collected] = x
		b.collected++
	}
}

// flush puts block at the end of the lists of the trigrams collected, unless it
// is there. Lists are looked up in a loop of their own, so that the waits for
// memory of many of them overlap.
func (b *Builder) flush(block int) {
	fresh := b.fresh[:b.collected]
	numbers := b.numbers[:b.collected]
	b.collected = 0
	if b.index != nil {
		for i, t := range fresh {
			numbers[i] = b.index[t]
		}
	} else {
		for i, t := range fresh {
			numbers[i] = b.rows.get(t)
		}
	}
	for i, t := range fresh {
		n := numbers[i]
		if n == 0 {
			n = b.list(Trigram(t))
		}
		l := &b.lists[n-1]
		gap := uint32(block - int(l.last) - 1)
		switch {
		case gap < 0x80 && l.next+linkBytes != l.end:
			b.slabs[l.next>>slabBits][l.next&(1<<slabBits-1)] = byte(gap)
			l.next++
		case int(l.last) == block:
			continue
		default:
			for ; gap >= 0x80; gap >>= 7 {
				b.put(l, byte(gap)|0x80)
			}
			b.put(l, byte(gap))
		}
		l.last = int32(block)
		l.count++
	}
}

// list returns one more than the number of t's list, which it begins if there
// is none.
func (b *Builder) list(t Trigram) uint32 {
	if n := b.numberOf(t); n != 0 {
		return n
	}
	at := b.piece(firstPiece)
	b.lists = append(b.lists, growing{trigram: t.Bytes(), size: firstSize, first: at, next: at, end: at + firstPiece, last: -1})
	n := uint32(len(b.lists))
	b.number(t, n)
	return n
}

// numberOf returns one more than the number of t's list, 0 if there is none.
func (b *Builder) numberOf(t Trigram) uint32 {
	if b.index != nil {
		return b.index[t]
	}
	return b.rows.get(uint32(t))
}

// number sets what numberOf returns.
func (b *Builder) number(t Trigram, n uint32) {
	if b.index != nil {
		b.index[t] = n
	} else {
		b.rows.set(uint32(t), n)
	}
}

func (b *Builder) put(l *growing, c byte) {
	if l.next+linkBytes == l.end {
		l.size = min(l.size+1, largestSize)
		at := b.piece(1 << l.size)
		binary.LittleEndian.PutUint32(b.at(l.next), at)
		l.next, l.end = at, at+1<<l.size
	}
	b.slabs[l.next>>slabBits][l.next&(1<<slabBits-1)] = c
	l.next++
}

func (b *Builder) at(offset uint32) []byte {
	return b.slabs[offset>>slabBits][offset&(1<<slabBits-1):]
}

// piece cuts size bytes from the slabs.
func (b *Builder) piece(size uint32) uint32 {
	if len(b.slabs) == 0 || b.used+int(size) > 1<<slabBits {
		b.slabs = append(b.slabs, b.tables.takeSlab())
		b.used = 0
	}
	at := uint32(len(b.slabs)-1)<<slabBits + uint32(b.used)
	b.used += int(size)
	return at
}

// Bytes returns the memory that the lists take. It is about 95 MB for a full
// shard of source code; text of random bytes makes a gigabyte of it.
func (b *Builder) Bytes() int {
	return len(b.slabs)<<slabBits + cap(b.lists)*int(unsafe.Sizeof(growing{}))
}

// Walk yields each folded trigram with its encoded list, ascending. The value is
// borrowed until f returns.
func (b *Builder) Walk(f func(t Trigram, value []byte) error) error { return b.walk(false, f) }

// WalkExact yields the trigrams with an upper-case letter as Walk does the
// folded ones.
func (b *Builder) WalkExact(f func(t Trigram, value []byte) error) error { return b.walk(true, f) }

func (b *Builder) walk(exact bool, f func(t Trigram, value []byte) error) error {
	var order []Trigram
	for i := range b.lists {
		if t := b.lists[i].number(); t.Exact() == exact {
			order = append(order, t)
		}
	}
	slices.Sort(order)
	var gaps []byte
	for _, t := range order {
		l := &b.lists[b.numberOf(t)-1]
		gaps = b.gather(gaps[:0], l)
		b.buf = appendEncoded(b.buf[:0], int(l.count), gaps)
		if err := f(t, b.buf); err != nil {
			return err
		}
	}
	return nil
}

// gather appends the bytes of l's pieces to dst.
func (b *Builder) gather(dst []byte, l *growing) []byte {
	at, size := l.first, uint32(firstPiece)
	for {
		piece := b.at(at)
		if l.end == at+size {
			return append(dst, piece[:l.next-at]...)
		}
		dst = append(dst, piece[:size-linkBytes]...)
		at = binary.LittleEndian.Uint32(piece[size-linkBytes:])
		size = min(2*size, largestPart)
	}
}

// Reset empties b for the next shard. It keeps the trigram table and the array of lists,
// and gives back the rest.
func (b *Builder) Reset() {
	for i := range b.lists {
		b.number(b.lists[i].number(), 0)
	}
	b.tables.giveSlabs(b.slabs)
	b.lists, b.slabs, b.used = b.lists[:0], nil, 0
	clear(b.seen[:])
	b.mark = 0
}

// Release is Reset that gives back the trigram table, too, for the next Builder of
// its Tables that needs one.
func (b *Builder) Release() {
	b.Reset()
	if b.index != nil {
		b.tables.give(b.index)
	}
	b.tables.giveLists(b.lists)
	b.index, b.rows, b.lists = nil, nil, nil
}
