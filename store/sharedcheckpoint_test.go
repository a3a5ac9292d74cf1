package store_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// TestCheckpointOfNode makes checkpoints of one node while another writes shards. Each
// is one version with its shards; the last one is a node's directory again, which
// catches up, and a store of its own once it is detached.
func TestCheckpointOfNode(t *testing.T) {
	const versions = 40
	w := newSite()
	writer, fs := w.node(t), vfs.NewMem()
	defer closeStore(t, writer)
	reader, err := w.open(fs)
	if err != nil {
		t.Fatal(err)
	}
	docs, texts := documents(1, 5)
	if _, err := writer.Repositories().New(store.Repository{Name: "r0"}); err != nil {
		t.Fatal(err)
	}
	// As many are written as it takes to see some of them.
	var enough atomic.Bool
	wrote := 0 // read once written has told
	// Version by version r0 and the counter grow by one, and so do the shards.
	written := make(chan error, 1)
	go func() {
		var shards []uint32
		for len(shards) < versions || !enough.Load() && len(shards) < 10*versions {
			h := writeShard(t, writer, docs, texts)
			shards = append(shards, h.ID)
			err := writer.Update(func(tx *store.Tx) error {
				tx.Records.Put(store.RecordCounter, []byte{0}, fmt.Append(nil, len(shards)))
				tx.Change.Add = []shard.Header{h}
				tx.Change.Repositories = []*store.Repository{{ID: 1, Name: "r0", Generation: uint64(len(shards)), Shards: shards}}
				return nil
			})
			if err != nil {
				written <- err
				return
			}
		}
		wrote = len(shards)
		written <- nil
	}()
	whole := func(s *store.Store) int {
		t.Helper()
		sn := s.Snapshot()
		defer sn.Close()
		r := sn.RepositoryByID(1)
		if r == nil {
			return 0
		}
		value, _ := s.Record(store.RecordCounter, []byte{0})
		if n := len(r.Shards); int(r.Generation) != n || n > 0 && string(value) != fmt.Sprint(n) {
			t.Errorf("generation %d, the counter is %s, with %d shards", r.Generation, value, n)
		}
		for _, id := range r.Shards {
			v, found := sn.Shard(id)
			if !found {
				t.Fatalf("shard %d is not there", id)
			}
			check(t, v, docs, texts)
		}
		if n := len(sn.Shards()); n != len(r.Shards) {
			t.Errorf("there are %d shards, and the repository has %d", n, len(r.Shards))
		}
		return len(r.Shards)
	}
	seen := map[int]bool{}
	var last *store.Checkpoint
	for done := false; !done; {
		if last != nil {
			if err := last.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if last, err = reader.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		copied, err := store.Open(last.Dir(), store.Options{FS: fs, ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		n := whole(copied)
		seen[n] = true
		enough.Store(len(seen) >= 3)
		closeStore(t, copied)
		select {
		case err := <-written:
			if err != nil {
				t.Fatal(err)
			}
			done = true
		default:
		}
	}
	if t.Logf("checkpoints of %d versions", len(seen)); len(seen) < 3 {
		t.Error("the checkpoints were made beside no commit")
	}
	if _, err := writer.Repositories().New(store.Repository{Name: "later"}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(last.Dir(), store.Options{FS: fs}); err == nil {
		t.Error("a checkpoint of a node was opened without its log")
	}
	node, err := w.openAt(fs, last.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := node.SharedRecords(), w.log.All(); got != want {
		t.Errorf("the node made of a checkpoint has\n%s\nthe log has\n%s", got, want)
	}
	if n := whole(node); n != wrote {
		t.Errorf("the node made of a checkpoint has %d shards, want %d", n, wrote)
	}
	closeStore(t, node)
	if _, err := store.Detach(last.Dir(), store.Options{FS: fs}); err != nil {
		t.Fatal(err)
	}
	alone, err := store.Open(last.Dir(), store.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	if n := whole(alone); n != wrote {
		t.Errorf("the detached checkpoint has %d shards, want %d", n, wrote)
	}
	closeStore(t, alone)
	if err := last.Close(); err != nil {
		t.Fatal(err)
	}
	closeStore(t, reader)
}
