package backup_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/cluster/memorylog"
	"github.com/trawlsearch/trawl/store/cluster/runs"
	"github.com/trawlsearch/trawl/store/disk"
	"github.com/trawlsearch/trawl/store/object"
)

// TestBackupOfNode backs up a node while another one writes. What is restored is a node's
// directory, which catches up, or a store of its own once it is detached. It is no
// directory of another cluster.
func TestBackupOfNode(t *testing.T) {
	const rounds = 12
	log, folder := memorylog.New(1, false), object.NewFolder(vfs.NewMem(), "shared")
	open := func(fs disk.FS, dir string, log *memorylog.Log) (*store.Store, error) {
		return store.Open(dir, store.Options{FS: fs, CacheBytes: 1 << 20, Log: log, Runs: runs.New(folder)})
	}
	node := func(fs disk.FS, dir string) *store.Store {
		t.Helper()
		st, err := open(fs, dir, log)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	writer := &world{TB: t, fs: vfs.NewMem(), records: map[string]string{}}
	writer.st = node(writer.fs, "data")
	defer writer.close()
	fs := vfs.NewMem()
	reader := node(fs, "data")
	dest := object.NewFolder(vfs.NewMem(), "backups")
	begun, written := make(chan bool), make(chan bool)
	go func() {
		defer close(written)
		for i := range rounds {
			writer.shard(fmt.Sprint("r", i), 20_000)
			writer.put("round", fmt.Sprint(i))
			if i == 1 {
				close(begun)
			}
		}
	}()
	<-begun
	for done, n := false, 0; !done || n < 2; n++ {
		if _, err := backup.Create(t.Context(), reader, dest, backup.Options{}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-written:
			done = true
		default:
		}
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := backup.List(t.Context(), dest)
	if err != nil || len(all) < 2 {
		t.Fatalf("%d backups, %v", len(all), err)
	}
	other := memorylog.New(2, false)
	for i, b := range all {
		restored, dir := vfs.NewMem(), "data"
		if _, err := backup.Restore(context.Background(), dest, restored, dir, backup.RestoreOptions{Backup: b.ID}); err != nil {
			t.Fatal(err)
		}
		if _, err := open(restored, dir, other); err == nil || !strings.Contains(err.Error(), "is not the one that this directory was made of") {
			t.Errorf("backup %d with another log: %v", i, err)
		}
		if i%2 == 0 {
			st := node(restored, dir)
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := store.Open(dir, store.Options{FS: restored}); err == nil || !strings.Contains(err.Error(), "one of several") {
			t.Errorf("backup %d without the log: %v", i, err)
		}
		if _, err := store.Detach(dir, store.Options{FS: restored}); err != nil {
			t.Fatal(err)
		}
		records := maps.Clone(writer.records)
		if i%2 > 0 { // it is as it was when the backup was made
			keepRound(t, restored, dir, records)
		}
		same(t, restored, dir, records)
	}
}

// keepRound leaves of records those that a store had when it had written a round.
func keepRound(t *testing.T, fs disk.FS, dir string, records map[string]string) {
	t.Helper()
	st, err := store.Open(dir, store.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	value, err := st.Record(store.RecordSite, []byte("round"))
	if err != nil {
		value = []byte("-1")
	}
	last := 0
	if _, err := fmt.Sscan(string(value), &last); err != nil {
		t.Fatal(err)
	}
	records["round"] = string(value)
	if last < 0 {
		delete(records, "round")
	}
	for i := last + 1; records[fmt.Sprint("text of r", i)] != ""; i++ {
		delete(records, fmt.Sprint("text of r", i))
	}
}
