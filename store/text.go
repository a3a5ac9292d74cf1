package store

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Text reads the text of one shard. It keeps the chunks it read last, so that
// going to and fro in a document costs one look-up a chunk. Not safe for
// concurrent use; the caller closes it.
type Text struct {
	v View
	// BytesRead counts the chunks' bytes, for traces.
	BytesRead int

	// places are used in turn, last is the one used last.
	places [textPlaces]place
	last   int
	joined []byte
	key    []byte
}

// textPlaces is how many chunks a Text keeps: a document that is looked at in
// two passes usually has no more.
const textPlaces = 4

// maxJoinedBytes is the largest buffer kept for text that spans chunks once
// less is asked for.
const maxJoinedBytes = 1 << 20

// place is a chunk at hand.
type place struct {
	// data is the chunk's text, nil for none: a kept one or borrowed from it.
	data  []byte
	chunk int
	it    *pebble.Iterator
}

// Text returns a reader of the shard's text. Documents must have succeeded
// before.
func (v View) Text() *Text { return &Text{v: v} }

// Slice returns the bytes from lo up to hi of the shard's text, borrowed until
// the next call or Close.
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
	if size := int(hi - lo); cap(t.joined) < size || cap(t.joined) > maxJoinedBytes && size <= maxJoinedBytes {
		t.joined = make([]byte, 0, size)
	}
	t.joined = t.joined[:0]
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

func (t *Text) inMemory(lo, hi uint32) ([]byte, error) {
	if int(hi) > len(t.v.memory) {
		return nil, fmt.Errorf("text in memory: %w: %d bytes, want %d", ErrCorrupt, len(t.v.memory), hi)
	}
	t.BytesRead += int(hi - lo)
	return t.v.memory[lo:hi:hi], nil
}

// cut returns a part of chunk c.
func (t *Text) cut(c int, lo, hi uint32) ([]byte, error) {
	p := &t.places[t.last]
	if p.data == nil || p.chunk != c {
		var err error
		if p, err = t.seek(c); err != nil {
			return nil, fmt.Errorf("shard %d chunk %d: %w", t.v.ID, c, err)
		}
	}
	if int(hi) > len(p.data) {
		return nil, fmt.Errorf("shard %d chunk %d: %w: %d bytes, want %d", t.v.ID, c, ErrCorrupt, len(p.data), hi)
	}
	return p.data[lo:hi], nil
}

// seek returns a place with chunk c.
func (t *Text) seek(c int) (*place, error) {
	for i := range t.places {
		if p := &t.places[i]; p.data != nil && p.chunk == c {
			t.last = i
			return p, nil
		}
	}
	t.last = (t.last + 1) % textPlaces
	p := &t.places[t.last]
	p.data = nil
	tables := t.v.tables()
	if kept := tables.chunks[c].Load(); kept != nil {
		kept.touch()
		p.data, p.chunk = kept.text, c
		return p, nil
	}
	value, err := t.move(p, c)
	if err != nil {
		if p.it != nil {
			_ = p.it.Close() // it says the same again
			p.it = nil
		}
		return nil, err
	}
	bit := &tables.checked[c/64]
	known := bit.Load()&(1<<(c%64)) != 0
	data, err := openChunk(value, known)
	if err != nil {
		return nil, err
	}
	if known {
		tables.keepChunk(t.v.sn.s.cache, c, data)
	} else {
		bit.Or(1 << (c % 64))
	}
	t.BytesRead += len(data)
	p.data, p.chunk = data, c
	return p, nil
}

// move moves a place to chunk c and returns what is stored there. An iterator
// that mostly goes forwards finds a cached chunk in a third of the time of a
// look-up of its own.
func (t *Text) move(p *place, c int) ([]byte, error) {
	if p.it == nil {
		lower := appendShardPart(nil, t.v.ID, partChunk)
		it, err := t.v.sn.snap.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: keyAfter(lower)})
		if err != nil {
			return nil, err
		}
		p.it = it
	}
	t.key = appendKeyChunk(t.key[:0], t.v.ID, uint32(c))
	ok := p.it.SeekGE(t.key)
	if err := p.it.Error(); err != nil {
		return nil, err
	}
	if !ok || !bytes.Equal(p.it.Key(), t.key) {
		return nil, fmt.Errorf("%w: chunk is missing", ErrCorrupt)
	}
	return p.it.ValueAndErr()
}

// Close releases what was borrowed. The reader may be used again.
func (t *Text) Close() error {
	var errs []error
	for i := range t.places {
		if p := &t.places[i]; p.it != nil {
			errs = append(errs, p.it.Close())
			*p = place{}
		}
	}
	return errors.Join(errs...)
}
