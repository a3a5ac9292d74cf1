package shard

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"
	"github.com/trawlsearch/trawl/store/engine"
)

// The text of a shard is the text of its documents one behind the other, cut
// every chunkBytes whatever stands there, so that the chunk of any offset is a
// division away. A chunk's value is the XXH64 of the text, 8 bytes
// little-endian, and the text. The engine compresses it, one chunk a block.
//
// 32 KiB is where compression stops paying much and a verified block does not
// drag a whole file in.
const chunkBytes = 32 << 10

const chunkHeaderBytes = 8

func sealChunk(dst, text []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, xxhash.Sum64(text))
	return append(dst, text...)
}

// openChunk returns the text in value. The engine checks what it reads from
// disk against checksums of its own each time; ours is checked on first use
// only (known is false), at some 3 µs a chunk.
func openChunk(value []byte, known bool) ([]byte, error) {
	if len(value) < chunkHeaderBytes || len(value) > chunkHeaderBytes+chunkBytes {
		return nil, fmt.Errorf("%w: %d bytes", engine.ErrCorrupt, len(value))
	}
	text := value[chunkHeaderBytes:]
	if !known && xxhash.Sum64(text) != binary.LittleEndian.Uint64(value) {
		return nil, fmt.Errorf("%w: checksum differs", engine.ErrCorrupt)
	}
	return text, nil
}

// cachedChunk is the text of a chunk that is kept.
type cachedChunk struct {
	cached
	text []byte
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
