package shard

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/minio/minlz"
	"github.com/trawlsearch/trawl/store/engine"
)

// The text of a shard is the text of its documents one behind the other, cut
// every chunkBytes whatever stands there, so that the chunk of any offset is a
// division away. A chunk's value is the XXH64 of the text, 8 bytes
// little-endian, and the text, packed as one block of MinLZ or, where that is
// not shorter, as it stands. The document table says how long the text is, so
// the length of the value tells the two apart: "kiln" is h h h h h h h h k i l n,
// and a chunk of 32,768 spaces has some twenty bytes. Up to IndexExactLists no
// chunk is packed, and the engine compressed its blocks with zstd.
//
// Readers unpack a chunk into a buffer of their own, which takes a third of the
// time and leaves no garbage, and the engine's cache holds three to four times
// the text. The engine tries to compress packed text further and stores it as it
// is, since that gains two percent.
//
// 32 KiB is where compression stops paying much and a verified block does not
// drag a whole file in.
const chunkBytes = 32 << 10

const chunkHeaderBytes = 8

// packLevel is the level of MinLZ that takes about as long as zstd did. The next
// takes twenty times as long for a tenth less.
const packLevel = minlz.LevelBalanced

// sealChunk appends the value of a chunk to dst.
func sealChunk(dst, text []byte, pack bool) ([]byte, error) {
	dst = binary.LittleEndian.AppendUint64(dst, xxhash.Sum64(text))
	if !pack {
		return append(dst, text...), nil
	}
	sealed, err := minlz.AppendEncoded(dst, text, packLevel)
	if err != nil {
		return nil, fmt.Errorf("pack a chunk: %w", err)
	}
	if len(sealed)-len(dst) >= len(text) {
		sealed = append(sealed[:len(dst)], text...)
	}
	return sealed, nil
}

// openChunk puts the text in value, of size bytes, into buf, which has room for
// chunkBytes. The engine checks what it reads from disk against checksums of its
// own each time; ours is checked on first use only (known is false), at some 3 µs
// a chunk.
func openChunk(buf, value []byte, size int, known bool) ([]byte, error) {
	if size < 0 || size > chunkBytes || len(value) < chunkHeaderBytes || len(value) > chunkHeaderBytes+size {
		return nil, fmt.Errorf("%w: %d bytes for %d of text", engine.ErrCorrupt, len(value), size)
	}
	text, stored := buf[:size], value[chunkHeaderBytes:]
	if len(stored) == size {
		copy(text, stored)
	} else if err := unpack(text, stored); err != nil {
		return nil, fmt.Errorf("%w: %w", engine.ErrCorrupt, err)
	}
	if !known && xxhash.Sum64(text) != binary.LittleEndian.Uint64(value) {
		return nil, fmt.Errorf("%w: checksum differs", engine.ErrCorrupt)
	}
	return text, nil
}

// unpack fills text from a block of MinLZ.
func unpack(text, block []byte) error {
	n, err := minlz.DecodedLen(block)
	if err != nil {
		return err
	}
	if n != len(text) {
		return fmt.Errorf("%w: %d bytes of text, want %d", minlz.ErrCorrupt, n, len(text))
	}
	_, err = minlz.Decode(text, block)
	return err
}

// buffers are memory that readers no longer use.
type buffers[B any] struct{ pool sync.Pool }

func (p *buffers[B]) get() *B {
	if b, ok := p.pool.Get().(*B); ok {
		return b
	}
	return new(B)
}

func (p *buffers[B]) put(b *B) { p.pool.Put(b) }

// cachedChunk is the text of a chunk that is kept.
type cachedChunk struct {
	cached
	text []byte
}

// chunkSize returns how many bytes of text chunk c has, none or less behind the last.
func (t *shardTables) chunkSize(c int) int {
	return min(chunkBytes, int(t.docs.TextStart[t.docs.Len()])-c*chunkBytes)
}

// keepChunk offers the text of chunk c to the cache, which copies what it takes.
func (t *shardTables) keepChunk(k *cache, c int, text []byte) {
	k.offer(int64(len(text)), &t.offered[c], func() *cached {
		at := &t.chunks[c]
		kept := &cachedChunk{text: bytes.Clone(text)}
		kept.bytes, kept.spare, kept.drop = int64(len(text)), true, func() { at.CompareAndSwap(kept, nil) }
		at.Store(kept)
		return &kept.cached
	})
}
