package postgres_test

import (
	"bytes"
	"testing"

	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/cluster/postgres"
)

// Damaged entries cause neither a panic nor a large allocation, and what is decoded
// is encoded to the same.
func FuzzWrites(f *testing.F) {
	f.Add(postgres.EncodeWrites([]cluster.Write{set("a", "1"), remove("b"), set("c", "")}))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f, 1})
	f.Fuzz(func(t *testing.T, text []byte) {
		writes, err := postgres.DecodeWrites(text)
		if err != nil {
			return
		}
		encoded := postgres.EncodeWrites(writes)
		if len(encoded) == len(text) && !bytes.Equal(encoded, text) { // varints may be longer than they need to be
			t.Errorf("%x is decoded to %v, which is encoded to %x", text, writes, encoded)
		}
		again, err := postgres.DecodeWrites(encoded)
		if err != nil || len(again) != len(writes) {
			t.Fatalf("%x: decoded again to %v, %v, want %v", text, again, err, writes)
		}
		for i, w := range again {
			if !bytes.Equal(w.Key, writes[i].Key) || !bytes.Equal(w.Value, writes[i].Value) || (w.Value == nil) != (writes[i].Value == nil) {
				t.Errorf("%x: write %d is %v, want %v", text, i, w, writes[i])
			}
		}
	})
}
