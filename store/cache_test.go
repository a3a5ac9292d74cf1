package store_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// TestCaches: with room for everything, for some of it and for nothing at all,
// readers at the same time find what was written, and what is held stays within
// bounds.
func TestCaches(t *testing.T) {
	const shards, documents = 5, 40
	fs := vfs.NewMem()
	texts := map[string][]byte{}
	write := func() {
		s, err := store.Open("data", store.Options{FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		w := s.NewShardWriter()
		rng := rand.New(rand.NewPCG(1, 2))
		for n := range shards {
			for i := range documents {
				path := fmt.Sprintf("%d/%d", n, i)
				text := bytes.Repeat([]byte(path+" "), 1+rng.IntN(9000))
				texts[path] = text
				if err := w.AddDocument(shard.Document{Repository: 1, Path: path, OID: make([]byte, 20)}, text, true); err != nil {
					t.Fatal(err)
				}
			}
			h, err := w.Finish(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Commit(store.Change{Add: []shard.Header{h}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write()
	for _, cacheBytes := range []int64{64 << 20, 1 << 20, 64 << 10, 1} {
		t.Run(fmt.Sprintf("bytes=%d", cacheBytes), func(t *testing.T) {
			s, err := store.Open("data", store.Options{FS: fs, CacheBytes: cacheBytes})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for range 3 {
						readAll(t, s, texts)
					}
				})
			}
			wg.Wait()
			// The engine's own cache needs some room whatever it is given.
			if held := s.Metrics().CacheBytes; held > cacheBytes+(1<<20) {
				t.Errorf("caches of %d bytes hold %d", cacheBytes, held)
			}
		})
	}
}

func readAll(t *testing.T, s *store.Store, texts map[string][]byte) {
	sn := s.Snapshot()
	defer sn.Close()
	for _, v := range sn.Shards() {
		docs, err := v.Documents()
		if err != nil {
			t.Error(err)
			return
		}
		text := v.Text()
		for i := range docs.Len() {
			got, err := text.Slice(docs.TextStart[i], docs.TextStart[i+1])
			if want := texts[docs.Path(i)]; err != nil || !bytes.Equal(got, want) {
				t.Errorf("text of %s: got %.40q, %v, want %.40q", docs.Path(i), got, err, want)
			}
		}
		if err := text.Close(); err != nil {
			t.Error(err)
		}
		if n := len(v.DocOf()); n != v.Header.Blocks {
			t.Errorf("shard %d: %d blocks, want %d", v.ID, n, v.Header.Blocks)
		}
	}
}
