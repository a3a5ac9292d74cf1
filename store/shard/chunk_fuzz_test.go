package shard

import (
	"errors"
	"testing"

	"github.com/trawlsearch/trawl/store/engine"
)

// FuzzChunk: text comes out of its chunk as it went in, and not when any bit of
// the chunk was flipped.
func FuzzChunk(f *testing.F) {
	f.Add([]byte("kiln"), uint32(70))
	f.Add([]byte{}, uint32(3))
	f.Fuzz(func(t *testing.T, text []byte, bit uint32) {
		if _, err := openChunk(text, false); err == nil && len(text) > chunkHeaderBytes {
			t.Errorf("%q is taken for a chunk", text)
		}
		if len(text) > chunkBytes {
			return
		}
		chunk := sealChunk(nil, text)
		if got, err := openChunk(chunk, false); err != nil || string(got) != string(text) {
			t.Fatalf("%q comes back as %q, %v", text, got, err)
		}
		bit %= uint32(8 * len(chunk))
		chunk[bit/8] ^= 1 << (bit % 8)
		if got, err := openChunk(chunk, false); !errors.Is(err, engine.ErrCorrupt) {
			t.Errorf("%q with bit %d of its chunk flipped is %q, %v", text, bit, got, err)
		}
	})
}
