package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// TestShardLimits fills a shard to the last block, and with the text a whole
// number of chunks.
func TestShardLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 256 MiB")
	}
	s := open(t, vfs.NewMem())
	defer closeStore(t, s)
	for _, tt := range []struct {
		name      string
		documents int
		size      int
	}{
		{"as many documents as blocks", 1 << 16, 1},
		{"documents without text", 1 << 16, 0},
		{"two documents", 2, 1 << 27},
	} {
		text := bytes.Repeat([]byte("\n"), tt.size)
		w := s.NewShardWriter()
		for i := range tt.documents {
			if !w.Fits(tt.size) {
				t.Fatalf("%s: document %d does not fit", tt.name, i)
			}
			if err := w.AddDocument(shard.Document{Path: fmt.Sprint(i)}, text, true); err != nil {
				t.Fatal(err)
			}
		}
		if w.Fits(0) {
			t.Errorf("%s: one more fits", tt.name)
		}
		h, err := w.Finish(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Commit(store.Change{Add: []shard.Header{h}}); err != nil {
			t.Fatal(err)
		}
		sn := s.Snapshot()
		v, _ := sn.Shard(h.ID)
		docs, err := v.Documents()
		if err != nil {
			t.Fatal(err)
		}
		last := tt.documents - 1
		if docs.Len() != tt.documents || docs.Path(last) != fmt.Sprint(last) || len(v.DocOf()) != 1<<16 || int(v.DocOf()[1<<16-1]) != last {
			t.Errorf("%s: %d documents, the last is %q", tt.name, docs.Len(), docs.Path(last))
		}
		lists := v.ListReader()
		ev := postings.Evaluator{Reader: v.Lists(shard.FieldContent, lists)}
		if c, err := ev.Eval(&postings.Literal{Runs: []string{"\n\x00\x00"}}); err != nil || (c.Docs.Len() == tt.documents) != (tt.size > 0) {
			t.Errorf("%s: %d documents end with a newline, %v", tt.name, c.Docs.Len(), err)
		}
		if err := lists.Close(); err != nil {
			t.Error(err)
		}
		if tt.size > 1 {
			if n := v.Newlines()[1<<16-1]; n != postings.BlockBytes {
				t.Errorf("%s: %d newlines in the last block, want all", tt.name, n)
			}
			reader := v.Text()
			if b, err := reader.Slice(docs.TextStart[2]-10, docs.TextStart[2]); err != nil || string(b) != strings.Repeat("\n", 10) {
				t.Errorf("%s: text ends with %q, %v", tt.name, b, err)
			}
			reader.Close()
		}
		sn.Close()
		w.Close()
	}
}

// TestShardRefuses: what cannot be stored is an error, and Close is all that is
// needed after it.
func TestShardRefuses(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer closeStore(t, s)
	w := s.NewShardWriter()
	defer w.Close()
	if err := w.AddDocument(shard.Document{Path: strings.Repeat("p", shard.MaxPathBytes+1)}, nil, true); err == nil {
		t.Error("a path beyond the limit was taken")
	}
	if err := w.AddDocument(shard.Document{Path: "p"}, nil, true); err == nil {
		t.Error("a document was taken after an error")
	}
	if _, err := w.Finish(context.Background()); err == nil {
		t.Error("the shard was finished after an error")
	}
	docs, texts := documents(8, 10)
	h := writeShard(t, s, docs, texts)
	if h.Documents != len(docs) {
		t.Errorf("the next shard has %d documents, want %d", h.Documents, len(docs))
	}
}

// TestTextOfEachVersion: text that packs well, text that does not, and chunks cut
// anywhere come back as they were written, whatever the version of the shard.
func TestTextOfEachVersion(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 100<<10)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	texts := [][]byte{nil, []byte("k"), bytes.Repeat([]byte("kiln "), 40<<10), noise, bytes.Repeat([]byte{0}, 32<<10), []byte("the end")}
	for _, about := range shard.IndexFormats() {
		t.Run(about.Name, func(t *testing.T) {
			s := open(t, vfs.NewMem())
			defer closeStore(t, s)
			w := s.NewShardWriter()
			w.Index = about.Version
			for i, text := range texts {
				if err := w.AddDocument(shard.Document{Path: fmt.Sprint(i), OID: make([]byte, 20)}, text, true); err != nil {
					t.Fatal(err)
				}
			}
			h, err := w.Finish(context.Background())
			if err == nil {
				err = s.Commit(store.Change{Add: []shard.Header{h}})
			}
			if err != nil {
				t.Fatal(err)
			}
			for range 3 { // read, offered to the cache, found there
				sn := s.Snapshot()
				v, _ := sn.Shard(h.ID)
				docs, err := v.Documents()
				if err != nil {
					t.Fatal(err)
				}
				text := v.Text()
				for i, want := range texts {
					if got, err := text.Slice(docs.TextStart[i], docs.TextStart[i+1]); err != nil || !bytes.Equal(got, want) {
						t.Errorf("document %d: got %d bytes, %v; want %d", i, len(got), err, len(want))
					}
				}
				if err := errors.Join(text.Close(), sn.Close()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestExactLists: a shard tells whether it has lists of upper-case letters, and
// literals that do not ignore case are found by them or by folded ones.
func TestExactLists(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer closeStore(t, s)
	texts := []string{"spin_lock", "Spin_Lock", "SPIN_LOCK", "Q", "q"}
	for _, tt := range []struct {
		index        shard.IndexVersion
		mixed, short []uint16
	}{
		{shard.IndexExactLists, []uint16{1}, []uint16{3}},
		{shard.IndexFoldedLists, []uint16{0, 1, 2}, []uint16{3, 4}},
	} {
		w := s.NewShardWriter()
		w.Index = tt.index
		for i, text := range texts {
			if err := w.AddDocument(shard.Document{Path: fmt.Sprint("Dir/", i), OID: make([]byte, 20)}, []byte(text), true); err != nil {
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
		sn := s.Snapshot()
		v, _ := sn.Shard(h.ID)
		if _, err := v.Documents(); err != nil {
			t.Fatal(err)
		}
		if v.Header.Index != tt.index || v.Header.Outdated() != (tt.index < shard.IndexNewest) {
			t.Errorf("index version %d: the header says %d, outdated %t", tt.index, v.Header.Index, v.Header.Outdated())
		}
		for _, c := range []struct {
			field        shard.Field
			folded, text string
			want         []uint16
		}{
			{shard.FieldContent, "spin_lock", "Spin_Lock", tt.mixed},
			{shard.FieldContent, "spin_lock", "", []uint16{0, 1, 2}},
			{shard.FieldContent, "lo", "lo", []uint16{0, 1, 2}},
			{shard.FieldContent, "q", "Q", tt.short},
			// paths are folded
			{shard.FieldPath, "dir/", "DIR/", []uint16{0, 1, 2, 3, 4}},
		} {
			lists := v.ListReader()
			ev := postings.Evaluator{Reader: v.Lists(c.field, lists)}
			got, err := ev.Eval(&postings.Literal{Runs: []string{c.folded}, Exact: c.text})
			if err != nil || got.All || !slices.Equal(got.Docs.Append(nil), c.want) {
				t.Errorf("folded %v: field %d, %q as %q: got %+v, %v; want %v", tt.index, c.field, c.folded, c.text, got, err, c.want)
			}
			if err := lists.Close(); err != nil {
				t.Error(err)
			}
		}
		sn.Close()
		w.Close()
	}
}

// TestShardOfManyTrigrams: text with uncommonly many trigrams ends a shard early, and
// the header says so.
func TestShardOfManyTrigrams(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer closeStore(t, s)
	rng := rand.New(rand.NewPCG(1, 1))
	text := make([]byte, 1<<17)
	for i := range text {
		text[i] = byte(' ' + rng.IntN(200))
	}
	for _, tt := range []struct {
		limit int
		full  bool
	}{{2 << 20, true}, {1 << 30, false}} {
		w := s.NewShardWriter()
		w.MaxListBytes = tt.limit
		if err := w.AddDocument(shard.Document{Path: "p"}, text, true); err != nil {
			t.Fatal(err)
		}
		fits := w.Fits(1)
		if h, err := w.Finish(context.Background()); err != nil || h.Full != tt.full || fits == tt.full {
			t.Errorf("limit of %d: full is %v, another document fits %v, %v; want full %v", tt.limit, h.Full, fits, err, tt.full)
		}
		w.Close()
	}
}

// TestTablesAreReadAgain: an error of the disk when a shard is first read
// passes with its cause.
func TestTablesAreReadAgain(t *testing.T) {
	fs := newFailing()
	s := open(t, fs)
	docs, texts := documents(9, 10)
	h := writeShard(t, s, docs, texts)
	if err := s.Commit(store.Change{Add: []shard.Header{h}}); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	s = open(t, fs)
	defer closeStore(t, s)
	sn := s.Snapshot()
	defer sn.Close()
	fs.set(func(op errorfs.Op) bool { return op.Kind == errorfs.OpFileReadAt || op.Kind == errorfs.OpOpen })
	if _, err := sn.Shards()[0].Documents(); err == nil {
		t.Fatal("documents were read from a broken disk")
	}
	fs.set(func(errorfs.Op) bool { return false })
	// The engine, which opens tables beside readers too, tells all who wait for one opening
	// of its error.
	for {
		_, err := sn.Shards()[0].Documents()
		if err == nil {
			break
		}
		if !strings.Contains(err.Error(), syscall.ENOSPC.Error()) {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	check(t, sn.Shards()[0], docs, texts)
}

// TestNewRepositoryTwice: of many who want a name one gets it.
func TestNewRepositoryTwice(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer closeStore(t, s)
	var made atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			switch _, err := s.Repositories().New(store.Repository{Name: "a"}); {
			case err == nil:
				made.Add(1)
			case !errors.Is(err, store.ErrExists):
				t.Errorf("NewRepository: %v, want ErrExists", err)
			}
		})
	}
	wg.Wait()
	if n := made.Load(); n != 1 {
		t.Errorf("%d repositories got the same name", n)
	}
}

// TestDiskFull: with next to no disk left nothing is written, and with room
// again all goes on.
func TestDiskFull(t *testing.T) {
	mem := vfs.NewMem()
	s := open(t, mem)
	defer closeStore(t, s)
	docs, texts := documents(10, 10)
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 20, TotalBytes: 1 << 30})
	if _, err := s.Repositories().New(store.Repository{Name: "a"}); !errors.Is(err, store.ErrDiskFull) {
		t.Errorf("NewRepository on a full disk: %v, want ErrDiskFull", err)
	}
	w := s.NewShardWriter()
	defer w.Close()
	if err := w.AddDocument(docs[0], []byte(texts[0]), true); err != nil {
		t.Error(err)
	}
	if _, err := w.Finish(context.Background()); !errors.Is(err, store.ErrDiskFull) {
		t.Errorf("Finish on a full disk: %v, want ErrDiskFull", err)
	}
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 29, TotalBytes: 1 << 30})
	if r, err := s.Repositories().New(store.Repository{Name: "a"}); err != nil || r.ID != 1 {
		t.Errorf("NewRepository with room again: %+v, %v; want ID 1", r, err)
	}
	writeShard(t, s, docs, texts)
}

// TestCommitLoadsShards: the first search of a shard finds its tables in memory.
func TestCommitLoadsShards(t *testing.T) {
	s, err := store.Open("data", store.Options{FS: vfs.NewMem(), CacheBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	before, _ := s.Budget().Used()
	w := s.NewShardWriter()
	if err := w.AddDocument(shard.Document{Path: "a"}, []byte("text\n"), true); err != nil {
		t.Fatal(err)
	}
	h, err := w.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil { // returns what it borrowed of the cache
		t.Fatal(err)
	}
	if err := s.Commit(store.Change{Add: []shard.Header{h}}); err != nil {
		t.Fatal(err)
	}
	after, _ := s.Budget().Used()
	if after <= before {
		t.Errorf("the cache has %d bytes after the commit of a shard, as before: want its tables", after)
	}
	sn := s.Snapshot()
	defer sn.Close()
	v, _ := sn.Shard(h.ID)
	if docs, err := v.Documents(); err != nil || docs.Len() != 1 {
		t.Errorf("%v, error %v, want one document", docs, err)
	}
	if again, _ := s.Budget().Used(); again != after {
		t.Errorf("the cache has %d bytes after its documents were read, want %d still", again, after)
	}
}

// TestShardIsNotThere: lists of which nothing is there are no lists that have nothing.
func TestShardIsNotThere(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, fs)
	h := writeShard(t, s, []shard.Document{{Path: "kiln", OID: make([]byte, 20)}}, []string{"fire\n"})
	if err := s.Commit(store.Change{Add: []shard.Header{h}}); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	for _, cleared := range []bool{false, true} {
		s = open(t, fs) // which has nothing of the shard in memory
		if cleared {
			if err := s.ClearShard(t.Context(), h.ID); err != nil {
				t.Fatal(err)
			}
		}
		sn := s.Snapshot()
		v, _ := sn.Shard(h.ID)
		if err := v.Ready(); shard.IsDamage(err) != cleared {
			t.Errorf("cleared %v: got %v", cleared, err)
		}
		sn.Close()
		closeStore(t, s)
	}
}
