package postings

import (
	"encoding/binary"
	"slices"
	"unsafe"
)

// Builder collects the posting lists of one field of one shard. Blocks are
// added in ascending order; Walk then yields every list encoded, in trigram
// order. Not safe for concurrent use.
//
// Each list grows as gaps (codec.go) in a chain of small pieces, 8 bytes at
// first and doubling to 256, cut from slabs. A quarter of the Linux tree, 62
// thousand blocks, makes 60 million postings in about 80 MB; the table that
// finds a trigram's list is another 64 MB and is kept over Reset.
type Builder struct {
	// index holds, for each trigram, one more than its number in lists.
	index []uint32
	lists []growing
	slabs [][]byte
	// used is how much of the last slab is taken.
	used int
	// seen remembers trigrams of the current block, by hash; a lost entry only
	// costs a look at the list, whose last block tells the same.
	seen [seenEntries]uint64
	buf  []byte
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

func (l *growing) number() Trigram { return MakeTrigram(l.trigram[0], l.trigram[1], l.trigram[2]) }

const (
	slabBits    = 20
	seenEntries = 4096
	firstSize   = 3
	firstPiece  = 1 << firstSize
	largestSize = 8
	largestPart = 1 << largestSize
	// linkBytes at the end of a full piece hold the offset of the next.
	linkBytes = 4
)

// NewBuilder returns an empty builder.
func NewBuilder() *Builder { return &Builder{index: make([]uint32, NumTrigrams)} }

// AddDocument adds the blocks of one document, the first of which has number
// block, and returns how many there were.
func (b *Builder) AddDocument(block int, text []byte) int {
	n := BlockCount(len(text))
	for i := range n {
		lo := i * BlockBytes
		window := text[min(lo, len(text)):min(lo+BlockBytes+OverlapBytes, len(text))]
		b.addBlock(block+i, window, lo+len(window) == len(text))
	}
	return n
}

// AddWhole adds all of text to one block, however long it is.
func (b *Builder) AddWhole(block int, text []byte) { b.addBlock(block, text, true) }

// addBlock adds the trigrams of window to block; atEnd says that the document
// ends with it.
func (b *Builder) addBlock(block int, window []byte, atEnd bool) {
	if len(window) == 0 {
		return
	}
	t := uint32(foldTable[window[0]])
	if len(window) > 1 {
		t = t<<8 | uint32(foldTable[window[1]])
		mark := uint64(block+1) << 32
		for _, c := range window[2:] {
			t = (t<<8 | uint32(foldTable[c])) & (NumTrigrams - 1)
			e := &b.seen[t*0x9E3779B1>>20]
			if *e != mark|uint64(t) {
				*e = mark | uint64(t)
				b.add(Trigram(t), block)
			}
		}
	} else {
		t <<= 8
		b.add(Trigram(t<<8)&(NumTrigrams-1), block)
		return
	}
	if atEnd {
		b.add(Trigram(t<<8)&(NumTrigrams-1), block)
		b.add(Trigram(t<<16)&(NumTrigrams-1), block)
	}
}

// add puts block at the end of t's list unless it is there.
func (b *Builder) add(t Trigram, block int) {
	i := b.index[t]
	if i == 0 {
		at := b.piece(firstPiece)
		b.lists = append(b.lists, growing{trigram: t.Bytes(), size: firstSize, first: at, next: at, end: at + firstPiece, last: -1})
		i = uint32(len(b.lists))
		b.index[t] = i
	}
	l := &b.lists[i-1]
	if int(l.last) == block {
		return
	}
	gap := uint32(block - int(l.last) - 1)
	for ; gap >= 0x80; gap >>= 7 {
		b.put(l, byte(gap)|0x80)
	}
	b.put(l, byte(gap))
	l.last = int32(block)
	l.count++
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
		b.slabs = append(b.slabs, make([]byte, 1<<slabBits))
		b.used = 0
	}
	at := uint32(len(b.slabs)-1)<<slabBits + uint32(b.used)
	b.used += int(size)
	return at
}

// Bytes returns the memory that the lists take. It is about 80 MB for a full
// shard of source code; text of random bytes makes a gigabyte of it.
func (b *Builder) Bytes() int {
	return len(b.slabs)<<slabBits + cap(b.lists)*int(unsafe.Sizeof(growing{}))
}

// Walk yields each trigram with its encoded list, ascending. The value is
// borrowed until f returns.
func (b *Builder) Walk(f func(t Trigram, value []byte) error) error {
	order := make([]Trigram, len(b.lists))
	for i := range b.lists {
		order[i] = b.lists[i].number()
	}
	slices.Sort(order)
	var gaps []byte
	for _, t := range order {
		l := &b.lists[b.index[t]-1]
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

// Reset empties b for the next shard. It keeps the trigram table and gives
// back the rest.
func (b *Builder) Reset() {
	for i := range b.lists {
		b.index[b.lists[i].number()] = 0
	}
	b.lists, b.slabs, b.used = b.lists[:0], nil, 0
	clear(b.seen[:])
}
