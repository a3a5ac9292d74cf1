package store_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// heapInUse returns the bytes of the objects on the heap that are reachable.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // what the first left in pools goes with the second
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// writeLarge writes shards with some texts of several megabytes, and returns
// how many bytes of text there are.
func writeLarge(t *testing.T, fs vfs.FS) (textBytes int64) {
	s, err := store.Open("data", store.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	w := s.NewShardWriter()
	defer w.Close()
	var hs []shard.Header
	for n := range 3 {
		for i, size := range []int{5 << 20, 100, 70 << 10, 2 << 20} {
			text := []byte(strings.Repeat(fmt.Sprintf("%d %d is a line of it\n", n, i), size/20))
			if err := w.AddDocument(shard.Document{Repository: 1, Path: fmt.Sprint(n, i), OID: make([]byte, 20)}, text, len(text) < 1<<20); err != nil {
				t.Fatal(err)
			}
			textBytes += int64(len(text))
		}
		h, err := w.Finish(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		hs = append(hs, h)
	}
	if err := s.Commit(store.Change{Add: hs}); err != nil {
		t.Fatal(err)
	}
	return textBytes
}

// TestBudget reads a corpus several times as large as what a store may hold,
// whole and from many sides at once. What the caches and the readers have in
// hand stays within the options, and so does the heap, as far as it is not
// garbage.
func TestBudget(t *testing.T) {
	const caches, large, readers = 4 << 20, 6 << 20, 4
	fs := vfs.NewMem()
	textBytes := writeLarge(t, fs)
	before := heapInUse()
	s, err := store.Open("data", store.Options{FS: fs, CacheBytes: caches, LargeBytes: large})
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			if got := readWhole(t, s, large); got != textBytes {
				t.Errorf("bytes read: got %d, want %d", got, textBytes)
			}
		})
	}
	wg.Wait()
	m := s.Metrics()
	if m.LargeBytes != 0 {
		t.Errorf("room after all readers have ended: got %d taken, want 0", m.LargeBytes)
	}
	if m.CacheBytes > caches+(1<<20) {
		t.Errorf("caches of %d bytes hold %d", caches, m.CacheBytes)
	}
	// Beside the caches the engine has memory tables and readers of its files.
	const engine = 12 << 20
	if held := heapInUse() - before; held > caches+engine {
		t.Errorf("heap in use after %d MB were read: got %d more bytes than before, want at most %d", textBytes>>20, held, caches+engine)
	}
	s.Budget().Rest()
	if rested := s.Metrics().CacheBytes; rested > m.CacheBytes || rested > caches {
		t.Errorf("caches after a rest: got %d bytes, want at most the %d before", rested, m.CacheBytes)
	}
	if got := readWhole(t, s, large); got != textBytes {
		t.Errorf("bytes read after a rest: got %d, want %d", got, textBytes)
	}
}

// readWhole reads all documents in one piece each and returns their bytes.
func readWhole(t *testing.T, s *store.Store, large int64) (textBytes int64) {
	sn := s.Snapshot()
	defer sn.Close()
	for _, v := range sn.Shards() {
		docs, err := v.Documents()
		if err != nil {
			t.Error(err)
			return 0
		}
		text := v.Text()
		for i := range docs.Len() {
			b, err := text.Slice(docs.TextStart[i], docs.TextStart[i+1])
			if err != nil {
				t.Errorf("text of %q: %v", docs.Path(i), err)
			}
			if m := s.Metrics(); m.LargeBytes > large {
				t.Errorf("room of %d bytes: got %d taken", large, m.LargeBytes)
			}
			textBytes += int64(len(b))
			if len(b) > 0 && !bytes.HasSuffix(b, []byte("it\n")) {
				t.Errorf("text of %q: got %q at its end", docs.Path(i), b[len(b)-10:])
			}
			text.Release()
		}
		if err := text.Close(); err != nil {
			t.Error(err)
		}
	}
	return textBytes
}

// TestWritingBorrows: while a shard is written the caches are smaller by what its lists may
// take, or do take if the writer is to borrow no more, and afterwards they are as large as
// before.
func TestWritingBorrows(t *testing.T) {
	const caches = 32 << 20
	fs := vfs.NewMem()
	writeLarge(t, fs)
	s, err := store.Open("data", store.Options{FS: fs, CacheBytes: caches, ListBytes: caches * 3 / 4})
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	fill := func() int64 {
		for range 4 { // a full cache takes little at a time
			readWhole(t, s, 256<<20)
		}
		return s.Metrics().CacheBytes
	}
	full := fill()
	if full < caches/2 {
		t.Fatalf("caches of %d bytes, after more than that was read: got %d held", caches, full)
	}
	w := s.NewShardWriter()
	w.Loan = shard.LeastLoan
	if err := w.AddDocument(shard.Document{Repository: 1, Path: "p", OID: make([]byte, 20)}, []byte("text"), true); err != nil {
		t.Fatal(err)
	}
	if got := s.Metrics().CacheBytes; got < full-(4<<20) {
		t.Errorf("caches that held %d of %d while a file of four bytes is written: got %d", full, caches, got)
	}
	for i := 0; w.Fits(1 << 20); i++ {
		text := make([]byte, 1<<20)
		_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(text) // always succeeds
		if err := w.AddDocument(shard.Document{Repository: 1, Path: fmt.Sprint(i), OID: make([]byte, 20)}, text, true); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Metrics().CacheBytes; got > caches/4+(1<<20) {
		t.Errorf("caches of %d while three quarters are lent: got %d held", caches, got)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	fill()
	w = s.NewShardWriter()
	if err := w.AddDocument(shard.Document{Repository: 1, Path: "p", OID: make([]byte, 20)}, []byte("text"), true); err != nil {
		t.Fatal(err)
	}
	if got := s.Metrics().CacheBytes; got > caches/4+(1<<20) {
		t.Errorf("caches of %d while three quarters are lent from the start: got %d held", caches, got)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil { // gives back only once
		t.Fatal(err)
	}
	if again := fill(); again < full-(1<<20) || again > caches+(1<<20) {
		t.Errorf("caches after it was given back: got %d held, want about %d", again, full)
	}
}

// TestGiveUpWaiting: a reader whose search is over does not wait for memory.
func TestGiveUpWaiting(t *testing.T) {
	fs := vfs.NewMem()
	writeLarge(t, fs)
	s, err := store.Open("data", store.Options{FS: fs, LargeBytes: 6 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	sn := s.Snapshot()
	defer sn.Close()
	v := sn.Shards()[0]
	docs, err := v.Documents()
	if err != nil {
		t.Fatal(err)
	}
	first, second := v.Text(), v.Text()
	defer second.Close()
	if _, err := first.Slice(docs.TextStart[0], docs.TextStart[1]); err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	close(over)
	second.Done = over
	if b, err := second.Slice(docs.TextStart[3], docs.TextStart[4]); err == nil {
		t.Errorf("Slice without room, its search over: got %d bytes, want an error", len(b))
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Slice(docs.TextStart[3], docs.TextStart[4]); err != nil {
		t.Errorf("Slice after the room was given back: got %v", err)
	}
}
