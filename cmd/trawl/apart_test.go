// The resident size of a process is read from /proc; the store is slow to make with the
// race detector.
//go:build linux && !race

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// apartShards is how many shards the store of TestServerJoinsShardsWithinMemory
// has. Each has a text that spans chunks.
const (
	apartShards    = 700
	apartTextBytes = 130_000
)

// A server that opens a store with a shard for each repository, as older programs
// made it, joins them within its memory while it is searched.
func TestServerJoinsShardsWithinMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("joins a thousand shards")
	}
	s := &servedPages{T: t, data: filepath.Join(t.TempDir(), "data")}
	writeApart(t, s.data)
	s.serve("--memory", "256MiB", "--sync-interval", "24h", "--symbols=false")
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	// Tables of shards that were joined are removed.
	joined := func() bool {
		_, events := s.get(client, "/search/stream?q=common+count:1")
		if !bytes.Contains(events, []byte(`"matchCount":1`)) {
			t.Fatalf("no match in %.2000s", events)
		}
		status, body := s.get(client, "/search/stream?q=absent_from_all")
		if status != http.StatusOK || !bytes.Contains(body, []byte(`"matchCount":0`)) {
			t.Fatalf("an absent word: %d: %.2000s", status, body)
		}
		return apartTables(t, s.data) < apartShards/2
	}
	for deadline := time.Now().Add(patience); !joined(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d tables after %v", apartTables(t, s.data), patience)
		}
	}
	const most = 256 << 20
	got := s.mostResident()
	t.Logf("%d MiB resident at most", got>>20)
	if got > most {
		t.Errorf("the server took %d MiB, want %d at most", got>>20, int64(most)>>20)
	}
}

// apartTables counts the tables of the engine.
func apartTables(t *testing.T, data string) int {
	names, err := filepath.Glob(filepath.Join(data, "index", "*.sst"))
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// writeApart writes a store whose repositories have a shard each.
func writeApart(t *testing.T, data string) {
	t.Helper()
	st, err := store.Open(data, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	w := st.NewShardWriter()
	defer w.Close()
	var change store.Change
	text := bytes.Repeat([]byte("a common line of text\n"), apartTextBytes/22)
	for i := range uint32(apartShards) {
		d := shard.Document{Repository: i + 1, Path: "main.txt", OID: make([]byte, 20), Mode: 0o100644, FileBytes: uint32(len(text))}
		if err := w.AddDocument(d, text, true); err != nil {
			t.Fatal(err)
		}
		h, err := w.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		change.Add = append(change.Add, h)
		change.Repositories = append(change.Repositories, &store.Repository{
			ID: i + 1, Name: fmt.Sprintf("group/r%d", i), Source: filepath.Join(data, "nowhere"), Generation: 1, Documents: 1, Shards: []uint32{h.ID},
			Branches: []store.Branch{{Name: "main", Commit: fmt.Sprintf("%040x", i+1)}},
		})
	}
	if err := st.Commit(change); err != nil {
		t.Fatal(err)
	}
}
