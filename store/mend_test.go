package store_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// TestMend: once the disk takes writes again, so does the same store. What was
// prepared before is refused, since the commit that failed may be there; those
// who read meanwhile go on.
func TestMend(t *testing.T) {
	for _, file := range []string{".log", "MANIFEST", ".sst"} {
		fs := newFailing()
		s, err := store.Open("data", withShortPauses(fs))
		if err != nil {
			t.Fatal(err)
		}
		docs, texts := documents(5, 10)
		h := writeShard(t, s, docs, texts)
		if err := s.Commit(store.Change{Add: []shard.Header{h}}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Repositories().New(store.Repository{Name: "kiln"}); err != nil {
			t.Fatal(err)
		}
		var reopened []store.Applied
		s.Subscribe(func(a store.Applied) {
			if a.Everything {
				reopened = append(reopened, a)
			}
		})
		before := s.Snapshot()
		fs.set(func(op errorfs.Op) bool { return isWrite(op) && strings.Contains(op.Path, file) })
		within(t, "a change", func() {
			for s.CommitRecords(user("lost")) == nil {
				fill(t, s) // manifest and tables are written when the engine's memory is full
			}
			for range 2 {
				if err := s.Mend(); !errors.Is(err, store.ErrBroken) {
					t.Errorf("%s: Mend on a bad disk: %v, want ErrBroken", file, err)
				}
			}
		})
		fs.set(func(errorfs.Op) bool { return false })
		mend := s.Mend
		if file == "MANIFEST" { // a backup may be the first that needs the store
			mend = func() error {
				c, err := s.Checkpoint()
				for end := time.Now().Add(time.Minute); errors.Is(err, store.ErrBroken) && time.Now().Before(end); c, err = s.Checkpoint() {
					time.Sleep(50 * time.Millisecond) // the engine is not opened again at each call
				}
				if err != nil {
					return err
				}
				return c.Close()
			}
		}
		if err := mend(); err != nil {
			t.Fatalf("%s: mend: %v", file, err)
		}
		if len(reopened) != 1 || len(reopened[0].Repositories) != 1 || reopened[0].Repositories[0].After == nil || !reopened[0].Has(store.RecordUser) {
			t.Errorf("%s: subscribers heard %+v, want one version in which anything may have changed", file, reopened)
		}
		if err := before.Commit(store.Change{Drop: []uint32{h.ID}}); !errors.Is(err, store.ErrBroken) {
			t.Errorf("%s: a change prepared before: %v, want ErrBroken", file, err)
		}
		if err := s.CommitRecords(user("new")); err != nil {
			t.Errorf("%s: records after Mend: %v", file, err)
		}
		more := writeShard(t, s, docs, texts)
		if err := s.Commit(store.Change{Add: []shard.Header{more}}); err != nil {
			t.Errorf("%s: Commit after Mend: %v", file, err)
		}
		check(t, before.Shards()[0], docs, texts)
		if err := before.Close(); err != nil {
			t.Error(err)
		}
		closeStore(t, s)
		s = open(t, fs)
		sn := s.Snapshot()
		if len(sn.Shards()) != 2 {
			t.Errorf("%s: %d shards, want 2", file, len(sn.Shards()))
		}
		for _, v := range sn.Shards() {
			check(t, v, docs, texts)
		}
		sn.Close()
		if _, err := s.Record(store.RecordUser, []byte("new")); err != nil {
			t.Errorf("%s: the record of after Mend: %v", file, err)
		}
		closeStore(t, s)
	}
}

func user(name string) *store.Records {
	var c store.Records
	c.Put(store.RecordUser, []byte(name), []byte("="+name))
	return &c
}

// fill commits more than the engine keeps in memory.
func fill(t *testing.T, s *store.Store) {
	for i := range 5 {
		var c store.Records
		c.Put(store.RecordJobResult, fmt.Append(nil, i), make([]byte, 1<<20))
		if err := s.CommitRecords(&c); err != nil && !errors.Is(err, store.ErrBroken) {
			t.Errorf("CommitRecords: %v", err)
		}
	}
}

// stuck is a file system on which, once it is armed, the log cannot be synced
// until it may.
type stuck struct {
	vfs.FS
	armed      atomic.Bool
	began, may chan struct{}
}

func (f *stuck) MaybeError(op errorfs.Op) error {
	if (op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData || op.Kind == errorfs.OpFileSyncTo) && strings.HasSuffix(op.Path, ".log") && f.armed.Swap(false) {
		close(f.began)
		<-f.may
	}
	return nil
}

func (*stuck) String() string { return "stuck" }

// TestReadWhileCommitting: who reads waits for no commit, and sees nothing of it
// before it is on disk.
func TestReadWhileCommitting(t *testing.T) {
	fs := &stuck{began: make(chan struct{}), may: make(chan struct{})}
	fs.FS = errorfs.Wrap(vfs.NewMem(), fs)
	s := open(t, fs)
	put(t, s, store.RecordUser, "a")
	fs.armed.Store(true)
	done := make(chan error)
	go func() {
		c := user("b")
		c.Delete(store.RecordUser, []byte("a"))
		done <- s.CommitRecords(c)
	}()
	<-fs.began
	within(t, "reading", func() {
		sn := s.Snapshot()
		if err := sn.Close(); err != nil {
			t.Error(err)
		}
		if got := idsOf(t, s, store.RecordRange{Kind: store.RecordUser}, 9); got != "a" {
			t.Errorf("while b takes the place of a: got %q, want a", got)
		}
	})
	close(fs.may)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := idsOf(t, s, store.RecordRange{Kind: store.RecordUser}, 9); got != "b" {
		t.Errorf("when b has taken the place of a: got %q, want b", got)
	}
	closeStore(t, s)
}
