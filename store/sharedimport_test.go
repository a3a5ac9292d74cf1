package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/cluster/runs"
	"github.com/trawlsearch/trawl/store/shard"
)

// moved is a store of its own that has everything, and what is in it.
type moved struct {
	fs *vfs.MemFS
	// records are all but those that no other store can have.
	records string
	docs    []shard.Document
	texts   []string
	// text has documents and symbols, past has commits, aside is quarantined, and bare
	// has no run.
	text, past, aside shard.Header
	bare              uint32
}

// newMoved makes the store.
// optionsOf are those that a store in fs is imported with: in several entries, as its
// large records are.
func optionsOf(fs vfs.FS) store.Options {
	return store.Options{FS: fs}.WithImportBytes(race.Scaled(4<<20, 64<<10))
}

func (m *moved) options() store.Options { return optionsOf(m.fs) }

func newMoved(t *testing.T) *moved {
	t.Helper()
	m := &moved{fs: vfs.NewMem(), bare: 77}
	s := openAlone(t, m.fs)
	m.docs, m.texts = documents(1, 20)
	m.text, m.aside, m.past = writeShard(t, s, m.docs, m.texts), writeShard(t, s, m.docs, m.texts), writeCommits(t, s, commits(1, 12))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"r1", "r2", "r3"} {
		_, err := s.Repositories().New(store.Repository{Name: name})
		must(err)
	}
	must(s.Commit(store.Change{
		Add: []shard.Header{m.text, m.aside, {ID: m.bare, Documents: 1, Blocks: 1, TextBytes: 1, Index: shard.IndexNewest}},
		Repositories: []*store.Repository{
			{ID: 1, Name: "r1", Generation: 1, Shards: []uint32{m.text.ID, m.aside.ID}, History: store.History{Shards: []uint32{m.past.ID}}},
			{ID: 2, Name: "r2", Generation: 1, Shards: []uint32{m.text.ID, m.bare}, Readers: &store.Readers{}},
			{ID: 3, Name: "r3", Generation: 1, Shards: []uint32{51, m.aside.ID}},
		},
		Dead:   map[uint32]*postings.Set{m.text.ID: postings.NewSet(1, 4)},
		Away:   map[store.ShardRepository][]*postings.Set{{Shard: m.text.ID, Repository: 1}: {nil, postings.NewSet(2)}},
		People: map[uint32]store.People{1: {{Name: "a", Email: "b"}: {Name: "c", Email: "d"}}},
	}))
	writeSymbols(t, s, m.text.ID, map[int][]shard.Symbol{3: {{Name: "fire", Kind: "function", Line: 3}}}, shard.SymbolCounts{Documents: 3})
	_, err := s.SetAside(m.aside.ID, errors.New("a bit has flipped"), time.Unix(1, 0))
	must(err)
	var c store.Records
	for _, kind := range "uneprflomMthTsacPigxqjkJCYAGDU" {
		c.Put(store.RecordKind(kind), []byte("id"), []byte("value of "+string(kind)))
		c.Put(store.RecordKind(kind), []byte("empty"), nil)
	}
	for i := range 3 {
		c.Put(store.RecordJobResult, fmt.Append(nil, "large", i), bytes.Repeat([]byte{byte(i)}, race.Scaled(3<<20, 48<<10)))
	}
	must(s.CommitRecords(&c))
	must(s.PutRaw("r\x00\x00\x00\x09", []byte(`{"id":9,"name":"lost`)))
	m.records = s.SharedRecords()
	// Nodes have no header that cannot be read, which is the same as none.
	must(s.PutRaw("h\x00\x00\x00\x33", []byte("{")))
	closeStore(t, s)
	return m
}

func openAlone(t *testing.T, fs vfs.FS) *store.Store {
	t.Helper()
	s, err := store.Open("data", store.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// files are what headers say of objects.
var files = regexp.MustCompile(`,\\"(text|symbol)_file\\":\\"[0-9a-f:]+\\"`)

// same fails unless a store has all of it. Those of a node name objects and a cluster.
func (m *moved) same(t *testing.T, s *store.Store, node bool) {
	t.Helper()
	got := s.SharedRecords()
	if node {
		var kept []string
		for line := range strings.Lines(files.ReplaceAllString(got, "")) {
			if !strings.HasPrefix(line, `"mcluster"`) {
				kept = append(kept, line)
			}
		}
		if named := len(files.FindAllString(got, -1)); named != 3 || len(kept) != strings.Count(got, "\n")-1 {
			t.Errorf("headers name %d objects, want 3", named)
		}
		got = strings.Join(kept, "")
	}
	if got != m.records {
		t.Errorf("the records are\n%.9000s\nwant\n%.9000s", got, m.records)
	}
	sn := s.Snapshot()
	defer sn.Close()
	v, found := sn.Shard(m.text.ID)
	if !found {
		t.Fatal("the shard is not there")
	}
	check(t, v, m.docs, m.texts)
	if got := names(t, v, "fire"); !slices.Equal(got, []uint16{3}) {
		t.Errorf("documents with the symbol: %v, want 3", got)
	}
	if got := numbers(v.Dead); !slices.Equal(got, []uint16{1, 4}) {
		t.Errorf("dead documents: %v, want 1 and 4", got)
	}
	v, _ = sn.Shard(m.past.ID)
	if c, err := v.Commits(); err != nil || c.Len() != 12 {
		t.Errorf("commits: %v, %v, want 12", c, err)
	}
	h := sn.Health()
	var aside []uint32
	for _, a := range h.Aside {
		aside = append(aside, a.Shard)
	}
	if want := []uint32{m.aside.ID, 51, m.bare}; !slices.Equal(aside, want) || h.LostRepositories != 1 {
		t.Errorf("quarantined are shards %v, and %d repositories are lost; want %v and 1", aside, h.LostRepositories, want)
	}
}

// importTo imports a store to a site.
func importTo(fs vfs.FS, w site) (store.Imported, error) {
	return store.Import(context.Background(), "data", optionsOf(fs), store.ImportTarget{Log: w.log, Runs: runs.New(w.folder)})
}

// TestImportAndDetach imports a store, has two nodes filled, one of which writes, and
// makes the other one a store of its own again, which can be imported in turn.
func TestImportAndDetach(t *testing.T) {
	m, w := newMoved(t), newSite()
	var done, total int64
	out, err := store.Import(t.Context(), "data", m.options(), store.ImportTarget{
		Log: w.log, Runs: runs.New(w.folder), Report: func(d, t int64) { done, total = d, t },
	})
	if err != nil {
		t.Fatal(err)
	}
	if out.Shards != 2 || out.Runs != 3 || !slices.Equal(out.Damaged, []uint32{m.aside.ID, 51, m.bare}) || out.Already || out.Version < 4 {
		t.Errorf("Import returned %+v", out)
	}
	if done == 0 || done != total {
		t.Errorf("the last report is %d of %d", done, total)
	}
	if out, err := importTo(m.fs, w); err != nil || !out.Already || out.Runs > 0 {
		t.Errorf("import again: %+v, %v, want nothing done", out, err)
	}
	s := openAlone(t, m.fs)
	sn := s.Snapshot()
	if len(sn.Health().Aside) != 3 {
		t.Error("the store that was imported has changed")
	}
	sn.Close()
	closeStore(t, s)

	fs := vfs.NewMem()
	s, err = w.open(fs)
	if err != nil {
		t.Fatal(err)
	}
	other := w.node(t)
	m.same(t, s, true)
	m.same(t, other, true)
	closeStore(t, s)
	if _, err := w.open(m.fs); err == nil || !strings.Contains(err.Error(), "a store of its own") {
		t.Errorf("the store that was imported, as a node: %v", err)
	}
	if v, err := store.Detach("data", store.Options{FS: fs}); err != nil || cluster.Version(v) != out.Version {
		t.Errorf("detached at %d, %v, want %d", v, err, out.Version)
	}
	if v, err := store.Detach("data", store.Options{FS: fs}); err != nil || v != 0 {
		t.Errorf("detached again at %d, %v, want 0", v, err)
	}
	if _, err := w.open(fs); err == nil || !strings.Contains(err.Error(), "a store of its own") {
		t.Errorf("a detached store with the log: %v", err)
	}
	s = openAlone(t, fs)
	m.same(t, s, false)
	if r, err := s.Repositories().New(store.Repository{Name: "r4"}); err != nil || r.ID != 4 {
		t.Errorf("a new repository is %+v, %v", r, err)
	}
	closeStore(t, s)

	// Numbers go on behind those that were imported.
	if r, err := other.Repositories().New(store.Repository{Name: "r4"}); err != nil || r.ID != 4 {
		t.Errorf("a new repository is %+v, %v", r, err)
	}
	if h := writeShard(t, other, m.docs, m.texts); h.ID <= m.bare {
		t.Errorf("a new shard has number %d, and %d was imported", h.ID, m.bare)
	}
	closeStore(t, other)

	next := newSite()
	if out, err := importTo(fs, next); err != nil || out.Runs != 3 {
		t.Errorf("import of the detached store: %+v, %v", out, err)
	}
	closeStore(t, next.node(t))
}

// kill ends what uses a log and runs at the call number left, before it or behind it:
// then and from then on all calls fail.
type kill struct {
	behind bool

	mu   sync.Mutex // guards all below: an import stores several runs at once
	left int
	dead bool
	puts int
}

var errKilled = errors.New("killed")

// call makes a call.
func (k *kill) call(f func() error) error {
	k.mu.Lock()
	k.left--
	wasDead := k.dead
	k.dead = k.dead || k.left == 0
	isDead := k.dead
	k.mu.Unlock()
	switch {
	case !isDead:
		return f()
	case wasDead || !k.behind:
		return errKilled
	}
	return errors.Join(errKilled, f())
}

func (k *kill) hasPut() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.puts++
}

type killedLog struct {
	cluster.Log
	*kill
}

func (l killedLog) Head(ctx context.Context) (v cluster.Version, err error) {
	err = l.call(func() error { v, err = l.Log.Head(ctx); return err })
	return v, err
}

func (l killedLog) Append(ctx context.Context, base cluster.Version, id cluster.ID, writes []cluster.Write) error {
	return l.call(func() error {
		err := l.Log.Append(ctx, base, id, writes)
		if l.dead {
			err = errors.Join(err, cluster.ErrUnknown)
		}
		return err
	})
}

func (l killedLog) Records(ctx context.Context, each func(key, value []byte) error) (v cluster.Version, err error) {
	err = l.call(func() error { v, err = l.Log.Records(ctx, each); return err })
	return v, err
}

func (l killedLog) Reserve(ctx context.Context, n uint32) (first uint32, err error) {
	err = l.call(func() error { first, err = l.Log.Reserve(ctx, n); return err })
	return first, err
}

type killedRuns struct {
	*runs.Runs
	*kill
}

func (r killedRuns) Stored(ctx context.Context) (stored func(shard.File) bool, err error) {
	err = r.call(func() error { stored, err = r.Runs.Stored(ctx); return err })
	return stored, err
}

func (r killedRuns) Put(ctx context.Context, f shard.File, from io.ReaderAt) (name string, err error) {
	err = r.call(func() error { r.hasPut(); name, err = r.Runs.Put(ctx, f, from); return err })
	return name, err
}

// TestImportIsKilled ends imports before and behind each of their calls. Nodes refuse
// what is not whole, and the next import completes it without sending a run twice.
func TestImportIsKilled(t *testing.T) {
	m := newMoved(t)
	refused := 0
	for n := 1; ; n++ {
		for _, behind := range []bool{false, true} {
			w := newSite()
			k := &kill{left: n, behind: behind}
			target := store.ImportTarget{Log: killedLog{w.log, k}, Runs: killedRuns{runs.New(w.folder), k}}
			_, err := store.ImportOneByOne(t.Context(), "data", m.options(), target)
			if !k.dead {
				if err != nil {
					t.Fatal(err)
				}
				if t.Logf("%d calls, %d times a node was refused", n-1, refused); n < 12 || refused < 10 {
					t.Errorf("killed at %d calls, and a node was refused %d times; want more", n-1, refused)
				}
				return
			}
			if !errors.Is(err, errKilled) {
				t.Fatalf("call %d: %v, want that it was killed", n, err)
			}
			if head, _ := w.log.Head(t.Context()); head > 0 {
				s, err := w.open(vfs.NewMem())
				switch {
				case errors.Is(err, store.ErrImporting) && strings.Contains(err.Error(), "data"):
					refused++
				case err != nil:
					t.Fatal(err)
				default:
					m.same(t, s, true)
					closeStore(t, s)
				}
			}
			again := &kill{}
			target = store.ImportTarget{Log: w.log, Runs: killedRuns{runs.New(w.folder), again}}
			if _, err := store.Import(t.Context(), "data", m.options(), target); err != nil {
				t.Fatalf("call %d, imported again: %v", n, err)
			}
			if k.puts+again.puts != 3 {
				t.Errorf("call %d: stored %d and then %d runs, want 3 together", n, k.puts, again.puts)
			}
			s := w.node(t)
			m.same(t, s, true)
			if h := writeShard(t, s, m.docs, m.texts); h.ID <= m.bare {
				t.Errorf("call %d: a new shard has number %d", n, h.ID)
			}
			closeStore(t, s)
		}
	}
}

// TestImportGoesOnWithOthers has an import go on where one of another store was
// interrupted, and beat one that is at work.
func TestImportGoesOnWithOthers(t *testing.T) {
	m, w := newMoved(t), newSite()
	other := vfs.NewMem()
	s := openAlone(t, other)
	for i := range 4 {
		if _, err := s.Repositories().New(store.Repository{Name: fmt.Sprint("other", i)}); err != nil {
			t.Fatal(err)
		}
	}
	closeStore(t, s)
	slow := store.ImportTarget{Log: w.log, Runs: runs.New(w.folder), Report: func(int64, int64) {
		if _, err := importTo(other, w); err != nil {
			t.Error(err)
		}
	}}
	if _, err := store.ImportOneByOne(t.Context(), "data", m.options(), slow); !errors.Is(err, cluster.ErrBeaten) {
		t.Errorf("an import beside another: %v, want that it is beaten", err)
	}
	s = w.node(t)
	if sn := s.Snapshot(); sn.RepositoryCount() != 4 {
		t.Errorf("%d repositories, want those of the import that ended", sn.RepositoryCount())
	} else {
		sn.Close()
	}
	closeStore(t, s)

	w = newSite()
	k := &kill{left: 7, behind: true} // some entries are there
	if _, err := store.ImportOneByOne(t.Context(), "data", m.options(), store.ImportTarget{Log: killedLog{w.log, k}, Runs: runs.New(w.folder)}); !k.dead {
		t.Fatal(err)
	}
	if _, err := importTo(other, w); err != nil {
		t.Fatal(err)
	}
	s = w.node(t)
	defer closeStore(t, s)
	if got, want := strings.Count(s.SharedRecords(), "\n"), 4+2; got != want {
		t.Errorf("%d records, want those of the second import and the cluster's, %d:\n%s", got, want, s.SharedRecords())
	}
}

// TestImportRefuses imports what cannot be imported.
func TestImportRefuses(t *testing.T) {
	m, w := newMoved(t), newSite()
	node := vfs.NewMem()
	s, err := w.open(node)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := importTo(m.fs, w); !errors.Is(err, store.ErrOccupied) {
		t.Errorf("into a log that a node has begun: %v", err)
	}
	if _, err := s.Repositories().New(store.Repository{Name: "r"}); err != nil {
		t.Fatal(err)
	}
	before := s.SharedRecords()
	if _, err := importTo(m.fs, w); !errors.Is(err, store.ErrOccupied) {
		t.Errorf("into a log with a repository: %v", err)
	}
	follow(t, s, w.log)
	if after := s.SharedRecords(); after != before {
		t.Errorf("an import that was refused made\n%s\nof\n%s", after, before)
	}
	closeStore(t, s)
	old := vfs.NewMem()
	closeStore(t, openAlone(t, old))
	f, err := old.Create("data/FORMAT", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write([]byte("1\n"))
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	locked := openAlone(t, m.fs)
	defer closeStore(t, locked)
	for _, c := range []struct {
		name, want string
		fs         vfs.FS
	}{
		{"an older format", "run trawl migrate", old},
		{"no store", "there is no store", vfs.NewMem()},
		{"a node's", "one of several", node},
		{"an open store", "in use by another process", m.fs},
	} {
		empty := newSite()
		if _, err := importTo(c.fs, empty); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if head, _ := empty.log.Head(t.Context()); head > 0 {
			t.Errorf("%s: the log was claimed", c.name)
		}
		if _, err := store.Detach("data", store.Options{FS: c.fs}); c.name != "a node's" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("detach %s: %v, want %q", c.name, err, c.want)
		}
	}
}
