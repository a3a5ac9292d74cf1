package store_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// failing is a file system on which operations for which the function holds
// fail.
type failing struct {
	vfs.FS
	fails atomic.Pointer[func(op errorfs.Op) bool]
}

func newFailing() *failing {
	f := &failing{}
	f.FS = errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if fails := f.fails.Load(); fails != nil && (*fails)(op) {
			return syscall.ENOSPC
		}
		return nil
	}))
	return f
}

func (f *failing) set(fails func(op errorfs.Op) bool) { f.fails.Store(&fails) }

func isWrite(op errorfs.Op) bool {
	switch op.Kind {
	case errorfs.OpFileWrite, errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo, errorfs.OpCreate, errorfs.OpLink,
		errorfs.OpFilePreallocate, errorfs.OpReuseForWrite:
		return true
	}
	return false
}

// within fails when f takes two minutes. Seconds are counted one by one, since a
// machine that was asleep wakes up with all timers over.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	for range 120 {
		select {
		case <-done:
			return
		case <-time.After(time.Second):
		}
	}
	t.Fatalf("%s hangs", what)
}

// TestBrokenLog: when the log cannot be written the commit fails, and all that
// was committed before is served until the store is opened again.
func TestBrokenLog(t *testing.T) {
	fs := newFailing()
	s := open(t, fs)
	docs, texts := documents(5, 10)
	h := writeShard(t, s, docs, texts)
	if err := s.Commit(store.Change{Add: []shard.Header{h}}); err != nil {
		t.Fatal(err)
	}
	fs.set(func(op errorfs.Op) bool { return isWrite(op) && strings.HasSuffix(op.Path, ".log") })
	within(t, "Commit", func() {
		for range 2 {
			if err := s.Commit(store.Change{Drop: []uint32{h.ID}}); !errors.Is(err, store.ErrBroken) {
				t.Errorf("Commit without a log: %v, want ErrBroken", err)
			}
		}
		if _, err := s.Repositories().New(store.Repository{Name: "a"}); !errors.Is(err, store.ErrBroken) {
			t.Errorf("NewRepository: %v, want ErrBroken", err)
		}
		w := s.NewShardWriter()
		defer w.Close()
		if err := w.AddDocument(docs[0], []byte(texts[0]), true); err != nil {
			t.Error(err)
		}
		if _, err := w.Finish(context.Background()); !errors.Is(err, store.ErrBroken) {
			t.Errorf("Finish: %v, want ErrBroken", err)
		}
	})
	sn := s.Snapshot()
	if len(sn.Shards()) != 1 {
		t.Fatalf("%d shards, want the one that was committed", len(sn.Shards()))
	}
	check(t, sn.Shards()[0], docs, texts)
	sn.Close()
	within(t, "Close", func() { _ = s.Close() })
}

// TestBrokenManifest: likewise when a shard cannot be taken in because the
// engine cannot write down that it did.
func TestBrokenManifest(t *testing.T) {
	fs := newFailing()
	s := open(t, fs)
	docs, texts := documents(5, 10)
	h := writeShard(t, s, docs, texts)
	if err := s.Commit(store.Change{Add: []shard.Header{h}}); err != nil {
		t.Fatal(err)
	}
	fs.set(func(op errorfs.Op) bool { return isWrite(op) && strings.Contains(op.Path, "MANIFEST") })
	within(t, "Finish", func() {
		w := s.NewShardWriter()
		defer w.Close()
		if err := w.AddDocument(docs[0], []byte(texts[0]), true); err != nil {
			t.Error(err)
		}
		if _, err := w.Finish(context.Background()); !errors.Is(err, store.ErrBroken) {
			t.Errorf("Finish without a manifest: %v, want ErrBroken", err)
		}
	})
	within(t, "reading", func() {
		if err := s.Commit(store.Change{Drop: []uint32{h.ID}}); !errors.Is(err, store.ErrBroken) {
			t.Errorf("Commit: %v, want ErrBroken", err)
		}
		sn := s.Snapshot()
		defer sn.Close()
		check(t, sn.Shards()[0], docs, texts)
	})
	within(t, "Close", func() { _ = s.Close() })
}

// TestDiskFullWhileWriting: whatever operation of writing a shard is the first
// to fail, there is one error of one line, nothing is seen of the shard, and
// with room again the same store takes it.
func TestDiskFullWhileWriting(t *testing.T) {
	docs, texts := documents(6, 40)
	for n := range 40 {
		fs := newFailing()
		s := open(t, fs)
		var left atomic.Int32
		left.Store(int32(n))
		fs.set(func(op errorfs.Op) bool {
			return isWrite(op) && strings.Contains(op.Path, "shard-") && left.Add(-1) < 0
		})
		failed := false
		within(t, "writing", func() {
			w := s.NewShardWriter()
			defer w.Close()
			var err error
			for i := range docs {
				if err = w.AddDocument(docs[i], []byte(texts[i]), true); err != nil {
					if again := w.AddDocument(docs[i], []byte(texts[i]), true); again == nil {
						t.Errorf("write %d fails: AddDocument goes on after its error", n)
					}
					break
				}
			}
			h, finishErr := w.Finish(context.Background())
			if failed = finishErr != nil; !failed {
				return
			}
			if (err != nil) != (err == finishErr) && err != nil || strings.Contains(finishErr.Error(), "\n") {
				t.Errorf("write %d fails: AddDocument says %v, Finish %v; want the same of one line", n, err, finishErr)
			}
			if h.ID != 0 {
				t.Errorf("write %d fails: Finish returns a header", n)
			}
		})
		fs.set(func(errorfs.Op) bool { return false })
		if names, err := fs.List("data/index"); err != nil || strings.Contains(strings.Join(names, " "), "shard-") {
			t.Errorf("write %d fails: files left are %v, %v", n, names, err)
		}
		h := writeShard(t, s, docs, texts)
		if err := s.Commit(store.Change{Add: []shard.Header{h}}); err != nil {
			t.Fatal(err)
		}
		sn := s.Snapshot()
		check(t, sn.Shards()[0], docs, texts)
		sn.Close()
		closeStore(t, s)
		if !failed {
			return
		}
	}
	t.Error("writing never succeeds")
}

// TestCheckpointOnBadDisk: a checkpoint that cannot be made durable fails, and
// the store goes on.
func TestCheckpointOnBadDisk(t *testing.T) {
	fs := newFailing()
	s := open(t, fs)
	put(t, s, store.RecordUser, "a")
	fs.set(func(op errorfs.Op) bool {
		return op.Kind == errorfs.OpFileSync && strings.HasSuffix(op.Path, "checkpoint/index")
	})
	if c, err := s.Checkpoint(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Checkpoint: got %v, %v, want %v", c, err, syscall.ENOSPC)
	}
	fs.set(func(errorfs.Op) bool { return false })
	put(t, s, store.RecordUser, "b")
	c, err := s.Checkpoint()
	if err != nil {
		t.Fatalf("Checkpoint with a good disk: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	closeStore(t, s)
}

// TestOpenWithoutList: whichever listing of the engine's directory fails while a
// store is opened, that is the error, and the next Open works.
func TestOpenWithoutList(t *testing.T) {
	fs := newFailing()
	s := open(t, fs)
	put(t, s, store.RecordUser, "a")
	closeStore(t, s)
	failed := 0
	for n := int32(1); ; n++ {
		var left atomic.Int32
		left.Store(n)
		fs.set(func(op errorfs.Op) bool { return op.Kind == errorfs.OpList && left.Add(-1) == 0 })
		s, err := store.Open("data", store.Options{FS: fs})
		fs.set(func(errorfs.Op) bool { return false })
		if err == nil && left.Load() > 0 {
			closeStore(t, s)
			break
		}
		if failed++; !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("listing %d fails: got %v, want %v", n, err, syscall.ENOSPC)
		}
		s = open(t, fs)
		if got := idsOf(t, s, store.RecordRange{Kind: store.RecordUser}, 9); got != "a" {
			t.Errorf("after listing %d failed: got %q, want a", n, got)
		}
		closeStore(t, s)
	}
	if failed < 3 {
		t.Errorf("%d listings failed, want 3 or more", failed)
	}
}
