package store_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/cluster/memorylog"
	"github.com/trawlsearch/trawl/store/cluster/runs"
	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/shard"
)

// site is what nodes share: a log, and runs in a folder.
type site struct {
	log    *memorylog.Log
	folder *gate
}

func newSite() site {
	return site{memorylog.New(1, false), &gate{Store: object.NewFolder(vfs.NewMem(), "shared")}}
}

func (w site) open(fs vfs.FS) (*store.Store, error) { return w.openAt(fs, "data") }

func (w site) openAt(fs vfs.FS, dir string) (*store.Store, error) {
	return store.Open(dir, store.Options{FS: fs, Log: w.log, Runs: runs.New(w.folder)}.WithShortPauses())
}

// gate is a store of objects that can be away.
type gate struct {
	object.Store
	away atomic.Bool

	mu sync.Mutex // guards all below
	// held, if set, keeps downloads waiting until it is closed. begun counts them since.
	held  chan struct{}
	begun int
}

// hold keeps downloads waiting from now on.
func (g *gate) hold() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held, g.begun = make(chan struct{}), 0
}

// letGo ends hold.
func (g *gate) letGo() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.held)
}

// downloads are those since hold.
func (g *gate) downloads() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.begun
}

var errAway = errors.New("no route to the bucket")

func (g *gate) check() error {
	if g.away.Load() {
		return errAway
	}
	return nil
}

func (g *gate) Put(ctx context.Context, name string, data []byte) error {
	return cmp.Or(g.check(), g.Store.Put(ctx, name, data))
}

func (g *gate) Get(ctx context.Context, name string, limit int64) ([]byte, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	return g.Store.Get(ctx, name, limit)
}

func (g *gate) Upload(ctx context.Context, name string, from io.ReaderAt, content object.Content) error {
	if err := g.check(); err != nil {
		return err
	}
	return g.Store.Upload(ctx, name, from, content)
}

func (g *gate) Download(ctx context.Context, name string, to io.Writer, content object.Content) error {
	if err := g.check(); err != nil {
		return err
	}
	g.mu.Lock()
	held := g.held
	g.begun++
	g.mu.Unlock()
	if held != nil {
		<-held
	}
	return g.Store.Download(ctx, name, to, content)
}

// node opens a new node.
func (w site) node(t *testing.T) *store.Store {
	t.Helper()
	s, err := w.open(vfs.NewMem())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// objects are the names of what is in the folder.
func (w site) objects(t *testing.T) (out []string) {
	t.Helper()
	err := w.folder.List(t.Context(), "shards", func(i object.Info) error {
		out = append(out, i.Name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// TestNodesShareShards has one node write shards of text, symbols and commits, and
// join them, and others read them: one that follows, and one that comes when the log
// was cut.
func TestNodesShareShards(t *testing.T) {
	w := newSite()
	writer, reader := w.node(t), w.node(t)
	defer closeStore(t, writer)
	defer closeStore(t, reader)
	docs, texts := documents(1, 20)
	moreDocs, moreTexts := documents(2, 30)
	history := commits(1, 12)
	h, gone, past := writeShard(t, writer, docs, texts), writeShard(t, writer, moreDocs, moreTexts), writeCommits(t, writer, history)
	r := &store.Repository{ID: 1, Name: "r", Shards: []uint32{h.ID, gone.ID}, History: store.History{Shards: []uint32{past.ID}}}
	if err := writer.Commit(store.Change{Add: []shard.Header{h, gone}, Repositories: []*store.Repository{r}}); err != nil {
		t.Fatal(err)
	}
	writeSymbols(t, writer, h.ID, map[int][]shard.Symbol{3: {{Name: "fire", Kind: "function", Line: 3}}}, shard.SymbolCounts{Documents: 3})
	same := func(s *store.Store, withGone bool) {
		t.Helper()
		sn := s.Snapshot()
		defer sn.Close()
		v, found := sn.Shard(h.ID)
		if !found {
			t.Fatal("the shard is not there")
		}
		check(t, v, docs, texts)
		if got := names(t, v, "fire"); !slices.Equal(got, []uint16{3}) {
			t.Errorf("documents with the symbol: %v, want 3", got)
		}
		if _, found := sn.Shard(past.ID); !found {
			t.Error("the shard of commits is not there")
		}
		if v, found := sn.Shard(gone.ID); found != withGone {
			t.Errorf("the other shard is there: %t, want %t", found, withGone)
		} else if found {
			check(t, v, moreDocs, moreTexts)
		}
		if got, want := s.SharedRecords(), w.log.All(); got != want {
			t.Errorf("a node has\n%s\nthe log has\n%s", got, want)
		}
	}
	follow(t, reader, w.log)
	same(writer, true)
	same(reader, true)
	next := *r
	next.Shards = []uint32{h.ID}
	if err := writer.Commit(store.Change{Drop: []uint32{gone.ID}, Repositories: []*store.Repository{&next}}); err != nil {
		t.Fatal(err)
	}
	follow(t, reader, w.log)
	same(reader, false)
	w.log.CutAll()
	late := w.node(t)
	defer closeStore(t, late)
	same(late, false)
	if got := w.objects(t); len(got) != 4 {
		t.Errorf("the folder has %v, want the text of three shards and the symbols of one", got)
	}
}

// TestRunsArriveOnce has many callers wait for the same runs, which are taken in once: a
// second time would take them away from those who read by then.
func TestRunsArriveOnce(t *testing.T) {
	w := newSite()
	writer, reader := w.node(t), w.node(t)
	defer closeStore(t, writer)
	defer closeStore(t, reader)
	docs, texts := documents(1, 20)
	for i := range 10 {
		w.folder.hold()
		h := writeShard(t, writer, docs, texts)
		if err := writer.Commit(store.Change{Add: []shard.Header{h}, Repositories: []*store.Repository{{ID: 1, Name: "r", Shards: []uint32{h.ID}}}}); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if err := reader.Follow(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		for end := time.Now().Add(time.Minute); w.folder.downloads() == 0 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		w.folder.letGo()
		all.Wait()
		if n := w.folder.downloads(); n != 1 {
			t.Errorf("shard %d was fetched %d times", i, n)
		}
		sn := reader.Snapshot()
		if v, found := sn.Shard(h.ID); !found {
			t.Error("the shard is not there")
		} else {
			check(t, v, docs, texts)
		}
		sn.Close()
	}
}

// TestRunIsGone has a node read in the log of a shard that is gone by then, object
// and all, and a new one miss an object that is needed.
func TestRunIsGone(t *testing.T) {
	w := newSite()
	writer := w.node(t)
	defer closeStore(t, writer)
	late := vfs.NewMem()
	s, err := w.open(late)
	if err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	docs, texts := documents(1, 20)
	gone, h := writeShard(t, writer, docs, texts), writeShard(t, writer, docs, texts)
	for _, c := range []store.Change{
		{Add: []shard.Header{gone, h}, Repositories: []*store.Repository{{ID: 1, Name: "r", Shards: []uint32{gone.ID, h.ID}}}},
		{Drop: []uint32{gone.ID}, Repositories: []*store.Repository{{ID: 1, Name: "r", Shards: []uint32{h.ID}}}},
	} {
		if err := writer.Commit(c); err != nil {
			t.Fatal(err)
		}
	}
	objects := w.objects(t)
	if err := w.folder.Delete(t.Context(), objects[0]); err != nil {
		t.Fatal(err)
	}
	if s, err = w.open(late); err != nil {
		t.Fatal(err)
	}
	sn := s.Snapshot()
	if v, found := sn.Shard(h.ID); !found {
		t.Error("the shard is not there")
	} else {
		check(t, v, docs, texts)
	}
	sn.Close()
	closeStore(t, s)
	if err := w.folder.Delete(t.Context(), objects[1]); err != nil {
		t.Fatal(err)
	}
	for _, fs := range []vfs.FS{late, vfs.NewMem()} {
		s, err := w.open(fs)
		if err != nil {
			t.Fatal(err)
		}
		if aside := s.Health().Aside; fs == late && len(aside) != 0 {
			t.Errorf("a node that has the run: %+v", aside)
		} else if fs != late && (len(aside) != 1 || aside[0].Shard != h.ID || !strings.Contains(aside[0].Reason, objects[1])) {
			t.Errorf("a node without the run of a shard: quarantined are %+v, want that shard and %s", aside, objects[1])
		}
		if at, ok := s.Node().Confirmed(); !ok || time.Since(at) > time.Minute {
			t.Errorf("confirmed at %v, %t, although all versions are applied", at, ok)
		}
		closeStore(t, s)
	}
}

// A node takes no folder for that of its cluster which is not: one that is not mounted,
// or that another cluster has. Nothing is fetched, quarantined or swept then.
func TestObjectsOfOthers(t *testing.T) {
	w, l := newSite(), &library{}
	shared := vfs.NewMem()
	w.folder = &gate{Store: object.NewFolder(shared, "shared")}
	move := func(from, to string) {
		t.Helper()
		if err := shared.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	fs := vfs.NewMem()
	a, err := w.open(fs)
	if err != nil {
		t.Fatal(err)
	}
	l.fill(t, a, 1)
	if _, _, err := a.Node().SweepObjects(t.Context()); err != nil {
		t.Error(err)
	}
	move("shared", "unmounted")
	if _, _, err := a.Node().SweepObjects(t.Context()); err == nil || !strings.Contains(err.Error(), "mount the folder") {
		t.Errorf("swept where nothing is mounted: %v", err)
	}
	closeStore(t, a)
	for name, fs := range map[string]vfs.FS{"old": fs, "new": vfs.NewMem()} {
		if s, err := w.open(fs); err == nil {
			closeStore(t, s)
			t.Errorf("%s node: opened where nothing is mounted", name)
		} else if !strings.Contains(err.Error(), "mount the folder") {
			t.Errorf("%s node: %v", name, err)
		}
	}
	move("unmounted", "shared")
	second := site{memorylog.New(2, false), w.folder}
	if s, err := second.open(vfs.NewMem()); err == nil {
		closeStore(t, s)
		t.Error("another cluster took the folder")
	} else if !strings.Contains(err.Error(), "another cluster") {
		t.Error(err)
	}
	w.folder.away.Store(true)
	a, err = w.open(fs)
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, a)
	l.whole(t, a, "away")
	w.folder.away.Store(false)
	if _, _, err := a.Node().SweepObjects(t.Context()); err != nil {
		t.Error(err)
	}
}
