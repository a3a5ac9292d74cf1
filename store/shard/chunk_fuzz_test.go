package shard

import (
	"errors"
	"testing"

	"github.com/trawlsearch/trawl/store/engine"
)

// FuzzChunk: text comes out of its chunk as it went in, packed or not, and no other text
// when a bit of the chunk was flipped.
func FuzzChunk(f *testing.F) {
	f.Add([]byte("kiln"), uint32(70), true)
	f.Add([]byte("kiln kiln kiln kiln kiln kiln kiln kiln kiln"), uint32(97), true)
	f.Add([]byte("kiln"), uint32(70), false)
	f.Add([]byte{}, uint32(3), true)
	f.Fuzz(func(t *testing.T, text []byte, bit uint32, packed bool) {
		buf := make([]byte, chunkBytes)
		if len(text) > chunkBytes {
			return
		}
		if got, err := openChunk(buf, text, len(text), false); err == nil && len(text) > 0 {
			t.Errorf("%q is taken for a chunk of %q", text, got)
		}
		chunk, err := sealChunk(nil, text, packed)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := openChunk(buf, chunk, len(text), false); err != nil || string(got) != string(text) {
			t.Fatalf("%q comes back as %q, %v", text, got, err)
		}
		bit %= uint32(8 * len(chunk))
		chunk[bit/8] ^= 1 << (bit % 8)
		if got, err := openChunk(buf, chunk, len(text), false); !errors.Is(err, engine.ErrCorrupt) && (!packed || string(got) != string(text)) {
			t.Errorf("%q with bit %d of its chunk flipped is %q, %v", text, bit, got, err)
		}
	})
}
