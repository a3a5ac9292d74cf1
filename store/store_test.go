package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

func open(t testing.TB, fs vfs.FS) *store.Store {
	t.Helper()
	s, err := store.Open("data", store.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeStore(t testing.TB, s *store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// documents makes n documents of very different sizes with their texts.
func documents(seed uint64, n int) ([]shard.Document, []string) {
	rng := rand.New(rand.NewPCG(seed, 0))
	docs, texts := make([]shard.Document, n), make([]string, n)
	for i := range docs {
		size := []int{0, 1, 50, 4096, 5000, 32768, 40000, 70000}[rng.IntN(8)]
		var b strings.Builder
		for b.Len() < size {
			fmt.Fprintf(&b, "line %d of %d\n", rng.IntN(1000), i)
		}
		texts[i] = b.String()[:size]
		docs[i] = shard.Document{
			Repository: uint32(1 + rng.IntN(3)), Path: fmt.Sprintf("dir%d/f%d.go", i%3, i), OID: []byte(fmt.Sprintf("%020d", i)),
			Mode: 0o100644, FileBytes: uint32(size), Language: []string{"", "Go", "C"}[rng.IntN(3)],
		}
	}
	return docs, texts
}

func writeShard(t testing.TB, s *store.Store, docs []shard.Document, texts []string) shard.Header {
	t.Helper()
	w := s.NewShardWriter()
	defer w.Close()
	for i := range docs {
		if err := w.AddDocument(docs[i], []byte(texts[i]), true); err != nil {
			t.Fatal(err)
		}
	}
	h, err := w.Finish(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// check compares all that a view tells with what was written.
func check(t testing.TB, v shard.View, docs []shard.Document, texts []string) {
	t.Helper()
	d, err := v.Documents()
	if err != nil {
		t.Fatal(err)
	}
	if d.Len() != len(docs) {
		t.Fatalf("%d documents, want %d", d.Len(), len(docs))
	}
	text := v.Text()
	defer text.Close()
	var whole strings.Builder
	for i := range docs {
		want := docs[i]
		want.TextBytes = uint32(len(texts[i]))
		if got := d.At(i); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("document %d is %v, want %v", i, got, want)
		}
		got, err := text.Slice(d.TextStart[i], d.TextStart[i+1])
		if err != nil || string(got) != texts[i] {
			t.Errorf("text of document %d: %d bytes, %v; want %d bytes", i, len(got), err, len(texts[i]))
		}
		whole.WriteString(texts[i])
		n := 0
		for b := d.FirstBlock[i]; b < d.FirstBlock[i+1]; b++ {
			n += int(v.Newlines()[b])
			if int(v.DocOf()[b]) != i {
				t.Errorf("block %d belongs to %d, want %d", b, v.DocOf()[b], i)
			}
		}
		if want := strings.Count(texts[i], "\n"); n != want {
			t.Errorf("document %d has %d newlines in its blocks, want %d", i, n, want)
		}
	}
	// Any slice of the shard's text, across documents and chunks.
	rng := rand.New(rand.NewPCG(7, 7))
	for range 50 {
		lo := rng.IntN(whole.Len())
		hi := lo + rng.IntN(whole.Len()-lo+1)
		if got, err := text.Slice(uint32(lo), uint32(hi)); err != nil || string(got) != whole.String()[lo:hi] {
			t.Fatalf("Slice(%d, %d): %d bytes, %v", lo, hi, len(got), err)
		}
	}
}

func TestShardRoundTrip(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, fs)
	docs, texts := documents(1, 40)
	h := writeShard(t, s, docs, texts)
	r, err := s.Repositories().New(store.Repository{Name: "one"})
	if err != nil {
		t.Fatal(err)
	}
	before := s.Snapshot()
	r2 := *r
	r2.Generation, r2.Shards = 1, []uint32{h.ID}
	dead := postings.NewSet(3, 5)
	if err := s.Commit(store.Change{Repositories: []*store.Repository{&r2}, Add: []shard.Header{h},
		Dead: map[uint32]*postings.Set{h.ID: dead}}); err != nil {
		t.Fatal(err)
	}
	if n := len(before.Shards()); n != 0 {
		t.Errorf("an older snapshot sees %d shards, want none", n)
	}
	before.Close()
	for range 2 {
		sn := s.Snapshot()
		views := sn.Shards()
		if len(views) != 1 || !slices.Equal(views[0].Dead.Append(nil), []uint16{3, 5}) {
			t.Fatalf("%d shards", len(views))
		}
		check(t, views[0], docs, texts)
		if r, err := sn.Repository("one"); err != nil || r.Generation != 1 || r.ID != 1 {
			t.Errorf("repository is %+v, %v", r, err)
		}
		lists := views[0].ListReader()
		list, err := views[0].Lists(shard.FieldPath, lists).List(nil, postings.MakeTrigram('F', '7', '.'))
		if err != nil {
			t.Fatal(err)
		}
		var set postings.Set
		if err := set.Decode(list); err != nil || !set.Contains(7) {
			t.Errorf("path list of f7. is %v, %v; want document 7", set.Append(nil), err)
		}
		if err := lists.Close(); err != nil {
			t.Error(err)
		}
		sn.Close()
		closeStore(t, s)
		s = open(t, fs)
	}
	closeStore(t, s)
}

func TestDroppedShardStaysForSnapshot(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer closeStore(t, s)
	docs, texts := documents(2, 10)
	h := writeShard(t, s, docs, texts)
	if err := s.Commit(store.Change{Add: []shard.Header{h}}); err != nil {
		t.Fatal(err)
	}
	sn := s.Snapshot()
	defer sn.Close()
	if err := s.Commit(store.Change{Drop: []uint32{h.ID}}); err != nil {
		t.Fatal(err)
	}
	check(t, sn.Shards()[0], docs, texts)
	after := s.Snapshot()
	defer after.Close()
	if len(after.Shards()) != 0 {
		t.Error("dropped shard is still seen")
	}
}

// TestCrashBeforeCommit: a shard that was ingested but not committed is gone
// after the crash, and its number is not given out while its keys are there.
func TestCrashBeforeCommit(t *testing.T) {
	fs := vfs.NewCrashableMem()
	s := open(t, fs)
	kept, keptTexts := documents(3, 10)
	h := writeShard(t, s, kept, keptTexts)
	if err := s.Commit(store.Change{Add: []shard.Header{h}}); err != nil {
		t.Fatal(err)
	}
	docs, texts := documents(4, 10)
	writeShard(t, s, docs, texts)
	for _, unsynced := range []int{0, 50, 100} {
		crash := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced, RNG: rand.New(rand.NewPCG(1, uint64(unsynced)))})
		s2 := open(t, crash)
		sn := s2.Snapshot()
		if len(sn.Shards()) != 1 {
			t.Fatalf("%d%% of unsynced data: %d shards, want 1", unsynced, len(sn.Shards()))
		}
		check(t, sn.Shards()[0], kept, keptTexts)
		sn.Close()
		h2 := writeShard(t, s2, docs, texts)
		if err := s2.Commit(store.Change{Add: []shard.Header{h2}}); err != nil {
			t.Fatal(err)
		}
		sn = s2.Snapshot()
		v, ok := sn.Shard(h2.ID)
		if !ok {
			t.Fatal("the new shard is not there")
		}
		check(t, v, docs, texts)
		sn.Close()
		closeStore(t, s2)
	}
	closeStore(t, s)
}

// TestShardNumbersStay: opening again and again neither uses numbers up nor
// writes.
func TestShardNumbersStay(t *testing.T) {
	fs := vfs.NewMem()
	var ids []uint32
	for range 6 {
		s := open(t, fs)
		docs, texts := documents(5, 3)
		h := writeShard(t, s, docs, texts)
		ids = append(ids, h.ID)
		c := store.Change{Add: []shard.Header{h}}
		if n := len(ids); n > 1 {
			c.Drop = []uint32{ids[n-2]}
		}
		if err := s.Commit(c); err != nil {
			t.Fatal(err)
		}
		closeStore(t, s)
		for range 3 {
			closeStore(t, open(t, fs))
		}
	}
	if want := []uint32{1, 2, 3, 4, 5, 6}; !slices.Equal(ids, want) {
		t.Errorf("shards were numbered %v, want %v", ids, want)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Run("locked", func(t *testing.T) {
		dir := t.TempDir()
		s, err := store.Open(dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := store.Open(dir, store.Options{}); !errors.Is(err, store.ErrLocked) {
			t.Errorf("opening twice: %v, want ErrLocked", err)
		}
	})
	t.Run("not locked, but no use", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.MkdirAll(dir+"/index/LOCK", 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open(dir, store.Options{}); err == nil || errors.Is(err, store.ErrLocked) {
			t.Errorf("opening with a folder for a lock: %v, want an error other than ErrLocked", err)
		}
	})
	t.Run("read only and not there", func(t *testing.T) {
		dir := t.TempDir() + "/none"
		_, err := store.Open(dir, store.Options{ReadOnly: true})
		if _, statErr := os.Stat(dir); err == nil || !os.IsNotExist(statErr) {
			t.Errorf("opening: %v, and the directory is %v; want an error and none", err, statErr)
		}
	})
	t.Run("newer format", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(dir+"/FORMAT", []byte("7\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := store.Open(dir, store.Options{})
		var fe *store.FormatError
		if !errors.As(err, &fe) || fe.Found != 7 || fe.Known != store.FormatNewest {
			t.Errorf("opening format 7: %v, want a FormatError with both numbers", err)
		}
	})
	t.Run("garbage format", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(dir+"/FORMAT", []byte("seven"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open(dir, store.Options{}); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("opening a garbage format: %v, want ErrCorrupt", err)
		}
	})
}

func TestRepositoryIDsAreNotReused(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer closeStore(t, s)
	a, err := s.Repositories().New(store.Repository{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Repositories().New(store.Repository{Name: "a"}); !errors.Is(err, store.ErrExists) {
		t.Errorf("second a: %v, want ErrExists", err)
	}
	if err := s.Commit(store.Change{Remove: []uint32{a.ID}}); err != nil {
		t.Fatal(err)
	}
	b, err := s.Repositories().New(store.Repository{Name: "a"})
	if err != nil || b.ID == a.ID {
		t.Errorf("repository made after removal has ID %d, %v; the removed had %d", b.ID, err, a.ID)
	}
}
