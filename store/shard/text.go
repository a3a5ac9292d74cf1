package shard

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/trawlsearch/trawl/store/engine"
)

// Text reads the text of one shard. It keeps the chunks it read last, so that
// going to and fro in a document costs one look-up a chunk. It is not safe for
// concurrent use; the caller closes it.
type Text struct {
	v View
	// BytesRead counts the chunks' bytes, for traces.
	BytesRead int
	// Done, if set, ends the wait for a reservation when it is closed.
	Done <-chan struct{}
	// Idle, if set, is given the function that waits for a reservation, and calls it: what
	// others could use meanwhile is given back before, and taken again behind it.
	Idle func(wait func())

	// chunks are used in turn, last is the one used last.
	chunks [textPlaces]chunkRef
	last   int
	// joined is text that spans chunks, in pair if that is large enough.
	joined []byte
	pair   *[pairBytes]byte
	// reserved is what is reserved for joined, 0 if it is small.
	reserved int64
	// it is nil until a chunk is read that is not kept.
	it  *pebble.Iterator
	key []byte
}

// textPlaces is how many chunks a Text keeps: a document that is looked at in
// two passes usually has no more.
const textPlaces = 4

// pairBytes is the text that spans chunks of most documents.
const pairBytes = 2 * chunkBytes

// LargeTextBytes is the largest buffer for text that spans chunks that a Text
// has of its own; larger ones are reserved of the budget.
const LargeTextBytes = 1 << 20

// ErrNotReserved says that a reader gave up its wait for a reservation.
var ErrNotReserved = errors.New("gave up waiting for memory")

// chunkRef is a chunk at hand.
type chunkRef struct {
	// data is the chunk's text, nil for none: a kept one or in buffer.
	data   []byte
	chunk  int
	buffer *[chunkBytes]byte
}

// Text returns a reader of the shard's text. Documents must have succeeded
// before.
func (v View) Text() *Text { return &Text{v: v} }

// Slice returns the bytes from lo up to hi of the shard's text, borrowed until
// the next call, Release or Close. More than a megabyte may have to wait until
// others release theirs; a reader with such a slice waits for no other.
func (t *Text) Slice(lo, hi uint32) ([]byte, error) {
	if lo >= hi {
		return nil, nil
	}
	if t.v.InMemory() {
		return t.inMemory(lo, hi)
	}
	first, last := int(lo)/chunkBytes, int(hi-1)/chunkBytes
	if first == last {
		base := uint32(first * chunkBytes)
		return t.cut(first, lo-base, hi-base)
	}
	if err := t.ready(int(hi - lo)); err != nil {
		return nil, err
	}
	for c := first; c <= last; c++ {
		base := uint32(c * chunkBytes)
		part, err := t.cut(c, max(lo, base)-base, min(hi-base, chunkBytes))
		if err != nil {
			return nil, err
		}
		t.joined = append(t.joined, part...)
	}
	return t.joined, nil
}

// ready empties joined and makes it large enough.
func (t *Text) ready(size int) error {
	t.Release()
	t.joined = t.joined[:0]
	if cap(t.joined) >= size {
		return nil
	}
	if size > LargeTextBytes {
		if !t.v.src.large.reserve(int64(size), t.Done, t.Idle) {
			return fmt.Errorf("shard %d: %w", t.v.ID, ErrNotReserved)
		}
		t.reserved = int64(size)
	}
	if size > pairBytes {
		t.joined = make([]byte, 0, size)
		return nil
	}
	if t.pair == nil {
		t.pair = t.v.src.pairs.get()
	}
	t.joined = t.pair[:0]
	return nil
}

// Shrink is Release, and drops a buffer that is larger than most documents need.
func (t *Text) Shrink() {
	t.Release()
	if cap(t.joined) > pairBytes {
		t.joined = nil
	}
}

// Release ends the loan of the last slice and its reservation if it is
// large. The caller keeps no reference to the slice. Readers that go on after a
// large slice call Release, so that others need not wait for their next.
func (t *Text) Release() {
	if t.reserved == 0 {
		return
	}
	reserved := t.reserved
	t.joined, t.reserved = nil, 0
	t.v.src.large.release(reserved)
}

func (t *Text) inMemory(lo, hi uint32) ([]byte, error) {
	if int(hi) > len(t.v.memory) {
		return nil, fmt.Errorf("text in memory: %w: %d bytes, want %d", engine.ErrCorrupt, len(t.v.memory), hi)
	}
	t.BytesRead += int(hi - lo)
	return t.v.memory[lo:hi:hi], nil
}

// cut returns a part of chunk c.
func (t *Text) cut(c int, lo, hi uint32) ([]byte, error) {
	p := &t.chunks[t.last]
	if p.data == nil || p.chunk != c {
		var err error
		if p, err = t.seek(c); err != nil {
			return nil, inShard(t.v.ID, fmt.Errorf("chunk %d: %w", c, err))
		}
	}
	if int(hi) > len(p.data) {
		return nil, inShard(t.v.ID, fmt.Errorf("chunk %d: %w: %d bytes, want %d", c, engine.ErrCorrupt, len(p.data), hi))
	}
	return p.data[lo:hi], nil
}

// seek returns a reference to chunk c.
func (t *Text) seek(c int) (*chunkRef, error) {
	for i := range t.chunks {
		if p := &t.chunks[i]; p.data != nil && p.chunk == c {
			t.last = i
			return p, nil
		}
	}
	t.last = (t.last + 1) % textPlaces
	p := &t.chunks[t.last]
	p.data = nil
	tables := t.v.tables()
	if kept := tables.chunks[c].Load(); kept != nil {
		kept.touch()
		p.data, p.chunk = kept.text, c
		return p, nil
	}
	value, err := t.find(c)
	if err != nil {
		if t.it != nil {
			_ = t.it.Close() // it says the same again
			t.it = nil
		}
		return nil, err
	}
	if p.buffer == nil {
		p.buffer = t.v.src.chunks.get()
	}
	bit := &tables.checked[c/64]
	known := bit.Load()&(1<<(c%64)) != 0
	data, err := openChunk(p.buffer[:], value, tables.chunkSize(c), known)
	if err != nil {
		return nil, err
	}
	if known {
		tables.keepChunk(t.v.src.cache, c, data)
	} else {
		bit.Or(1 << (c % 64))
	}
	t.BytesRead += len(data)
	p.data, p.chunk = data, c
	return p, nil
}

// find returns what is stored of chunk c, borrowed until the next call. An iterator
// that mostly goes forwards finds a chunk in the engine's cache in a third of the
// time of a look-up of its own.
func (t *Text) find(c int) ([]byte, error) {
	if t.it == nil {
		it, err := t.v.src.Reader.NewIter(engine.Prefix(appendShardPart(nil, t.v.ID, partChunk)))
		if err != nil {
			return nil, err
		}
		t.it = it
	}
	t.key = appendKeyChunk(t.key[:0], t.v.ID, uint32(c))
	ok := t.it.SeekGE(t.key)
	if err := t.it.Error(); err != nil {
		return nil, err
	}
	if !ok || !bytes.Equal(t.it.Key(), t.key) {
		return nil, fmt.Errorf("%w: chunk is missing", engine.ErrCorrupt)
	}
	return t.it.ValueAndErr()
}

// Close releases what was borrowed. The reader may be used again.
func (t *Text) Close() error {
	t.Release()
	for i := range t.chunks {
		if b := t.chunks[i].buffer; b != nil {
			t.v.src.chunks.put(b)
		}
	}
	t.chunks = [textPlaces]chunkRef{}
	if t.pair != nil {
		t.v.src.pairs.put(t.pair)
	}
	t.joined, t.pair = nil, nil
	if t.it == nil {
		return nil
	}
	it := t.it
	t.it = nil
	return it.Close()
}
