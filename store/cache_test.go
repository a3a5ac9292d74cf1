package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"weak"

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

// TestTextGivesBackItsBuffer: a reader that stays does not hold the text of its last
// slice, of which a merge of hundreds of shards has as many.
func TestTextGivesBackItsBuffer(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer closeStore(t, s)
	for _, size := range []int{130_000, shard.LargeTextBytes, shard.LargeTextBytes + 1} {
		h := writeShard(t, s, []shard.Document{{Path: "source", OID: make([]byte, 20)}}, []string{strings.Repeat("x", size)})
		if err := s.Commit(store.Change{Add: []shard.Header{h}}); err != nil {
			t.Fatal(err)
		}
		sn := s.Snapshot()
		defer sn.Close()
		v, _ := sn.Shard(h.ID)
		if _, err := v.Documents(); err != nil {
			t.Fatal(err)
		}
		reader := v.Text()
		for _, by := range []struct {
			name     string
			giveBack func()
		}{
			{"Shrink", reader.Shrink},
			{"Close", func() { _ = reader.Close() }},
		} {
			b, err := reader.Slice(0, uint32(size))
			if err != nil || len(b) != size {
				t.Fatalf("%d bytes of %d, %v", len(b), size, err)
			}
			held := weak.Make(&b[0])
			b = nil
			by.giveBack()
			runtime.GC()
			if held.Value() != nil {
				t.Errorf("%s of a reader of %d bytes keeps them", by.name, size)
			}
			runtime.KeepAlive(reader)
		}
	}
}

// BenchmarkReadText reads chunks of trawl's own source here and there, of shards of
// each version, with caches that hold a part of them.
func BenchmarkReadText(b *testing.B) {
	var source []byte
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		file, err := os.ReadFile(path)
		source = append(source, file...)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, about := range shard.IndexFormats() {
		b.Run(about.Name, func(b *testing.B) {
			s, err := store.Open(b.TempDir(), store.Options{FS: vfs.Default, CacheBytes: 1 << 20})
			if err != nil {
				b.Fatal(err)
			}
			defer closeStore(b, s)
			w := s.NewShardWriter()
			w.Index = about.Version
			err = w.AddDocument(shard.Document{Path: "source", OID: make([]byte, 20)}, source, false)
			h, finished := w.Finish(context.Background())
			if err := errors.Join(err, finished, s.Commit(store.Change{Add: []shard.Header{h}})); err != nil {
				b.Fatal(err)
			}
			sn := s.Snapshot()
			defer sn.Close()
			v, _ := sn.Shard(h.ID)
			if _, err := v.Documents(); err != nil {
				b.Fatal(err)
			}
			text := v.Text()
			defer text.Close()
			random := rand.New(rand.NewPCG(1, 2))
			b.SetBytes(32 << 10)
			b.ReportAllocs()
			for b.Loop() {
				at := uint32(random.IntN(len(source)/(32<<10))) * (32 << 10)
				if _, err := text.Slice(at, at+4<<10); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(s.Metrics().DiskBytes)/float64(len(source)), "disk/text")
		})
	}
}
