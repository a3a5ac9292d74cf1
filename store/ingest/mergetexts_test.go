package ingest

import (
	"bytes"
	"runtime"
	"testing"
	"weak"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// TestOpenTextsHoldOneSlice: of the texts of many shards, all up to a megabyte, a merge
// holds the one that it writes.
func TestOpenTextsHoldOneSlice(t *testing.T) {
	st, err := store.Open("data", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	w := st.NewShardWriter()
	var add []shard.Header
	const size = 200_000
	for range 3 {
		if err := w.AddDocument(shard.Document{Path: "f", OID: make([]byte, 20)}, bytes.Repeat([]byte("x"), size), true); err != nil {
			t.Fatal(err)
		}
		h, err := w.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		add = append(add, h)
	}
	w.Close()
	if err := st.Commit(store.Change{Add: add}); err != nil {
		t.Fatal(err)
	}
	sn := st.Snapshot()
	defer sn.Close()
	var texts openTexts
	defer texts.close()
	var held []weak.Pointer[byte]
	for _, v := range sn.Shards() {
		if _, err := v.Documents(); err != nil {
			t.Fatal(err)
		}
		b, err := texts.slice(v.Text(), 0, size)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, weak.Make(&b[0]))
	}
	runtime.GC()
	if held[0].Value() != nil || held[1].Value() != nil || held[2].Value() == nil {
		t.Errorf("held: %v %v %v, want the last alone", held[0].Value() != nil, held[1].Value() != nil, held[2].Value() != nil)
	}
	runtime.KeepAlive(&texts)
}
