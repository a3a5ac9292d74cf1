package backup_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/disk"
	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/shard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a data directory and a folder for backups, each on a file system of
// its own.
type world struct {
	testing.TB
	fs   disk.FS
	st   *store.Store
	disk *vfs.MemFS
	dest object.Store
	now  time.Time
	// records are what the store holds.
	records map[string]string
	// packs are the files of mirrors.
	packs map[string]string
}

func newWorld(t testing.TB) *world {
	w := &world{TB: t, fs: vfs.NewMem(), disk: vfs.NewCrashableMem(), now: time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC), records: map[string]string{}, packs: map[string]string{}}
	w.dest = object.NewFolder(w.disk, "backups")
	w.open()
	t.Cleanup(func() { w.close() })
	return w
}

func (w *world) open() {
	w.Helper()
	var err error
	if w.st, err = store.Open("data", store.Options{FS: w.fs, CacheBytes: 1 << 20}); err != nil {
		w.Fatal(err)
	}
}

func (w *world) close() {
	w.Helper()
	if err := w.st.Close(); err != nil {
		w.Error(err)
	}
}

func (w *world) put(id, value string) {
	w.Helper()
	w.records[id] = value
	var c store.Records
	c.Put(store.RecordSite, []byte(id), []byte(value))
	if err := w.st.CommitRecords(&c); err != nil {
		w.Fatal(err)
	}
}

// shard commits a repository with a shard of documents that do not compress,
// of a name that no other has.
func (w *world) shard(name string, bytes int) {
	w.Helper()
	text := make([]byte, bytes)
	_, _ = rand.Read(text) // never fails
	for i := range text {
		text[i] = "0123456789abcdef"[text[i]%16] // few trigrams are written fast
	}
	r, err := w.st.Repositories().New(store.Repository{Name: name})
	if err != nil {
		w.Fatal(err)
	}
	s := w.st.NewShardWriter()
	defer s.Close()
	d := shard.Document{Repository: r.ID, Path: name + ".txt", OID: []byte(fmt.Sprintf("%020d", r.ID)), Mode: 0o100644, FileBytes: uint32(bytes)}
	if err := s.AddDocument(d, text, true); err != nil {
		w.Fatal(err)
	}
	h, err := s.Finish(context.Background())
	if err != nil {
		w.Fatal(err)
	}
	next := *r
	next.Generation, next.Shards = 1, []uint32{h.ID}
	if err := w.st.Commit(store.Change{Repositories: []*store.Repository{&next}, Add: []shard.Header{h}}); err != nil {
		w.Fatal(err)
	}
	w.records["text of "+name] = string(text)
}

// pack puts a file that does not compress into the mirror of a repository.
func (w *world) pack(name string, bytes int) {
	w.Helper()
	dir := "data/mirrors/7.git/objects/pack"
	if err := w.fs.MkdirAll(dir, 0o755); err != nil {
		w.Fatal(err)
	}
	data := make([]byte, bytes)
	_, _ = rand.Read(data) // never fails
	w.packs["mirrors/7.git/objects/pack/"+name] = string(data)
	for file, content := range map[string]string{dir + "/" + name: string(data), "data/mirrors/7.git/HEAD": "ref: refs/heads/main\n"} {
		f, err := w.fs.Create(file, vfs.WriteCategoryUnspecified)
		if err != nil {
			w.Fatal(err)
		}
		_, err = f.Write([]byte(content))
		if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
			w.Fatal(err)
		}
	}
}

// create makes a backup an hour after the last.
func (w *world) create(o backup.Options) backup.Result {
	w.Helper()
	res, err := w.tryCreate(o)
	if err != nil {
		w.Fatal(err)
	}
	return res
}

func (w *world) tryCreate(o backup.Options) (backup.Result, error) {
	w.now = w.now.Add(time.Hour)
	at := w.now
	return backup.Create(context.Background(), w.st, w.dest, o.Quick(func() time.Time { return at }))
}

func (w *world) verify(keys backup.Keys) backup.Verified {
	w.Helper()
	v, err := backup.Verify(context.Background(), w.dest, backup.VerifyOptions{Keys: keys})
	if err != nil {
		w.Fatal(err)
	}
	return v
}

// sound verifies and fails about damage.
func (w *world) sound(keys backup.Keys) backup.Verified {
	w.Helper()
	v := w.verify(keys)
	if len(v.Damage) > 0 {
		w.Fatalf("verify found %+v", v.Damage)
	}
	return v
}

// restore restores a backup on a file system of its own and compares.
func (w *world) restore(keys backup.Keys, id string, records, packs map[string]string) {
	w.Helper()
	fs := vfs.NewMem()
	if _, err := backup.Restore(context.Background(), w.dest, fs, "new", backup.RestoreOptions{Keys: keys, Backup: id}); err != nil {
		w.Fatal(err)
	}
	same(w, fs, "new", records)
	for name, want := range packs {
		f, err := fs.Open("new/" + name)
		if err != nil {
			w.Fatal(err)
		}
		got, err := io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil || string(got) != want {
			w.Fatalf("%s: got %d bytes, %v; want %d others", name, len(got), err, len(want))
		}
	}
}

// same opens a data directory and compares what is in it.
func same(t testing.TB, fs disk.FS, dir string, records map[string]string) {
	t.Helper()
	st, err := store.Open(dir, store.Options{FS: fs, CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	sn := st.Snapshot()
	defer sn.Close()
	texts := map[string]string{}
	for _, v := range sn.Shards() {
		d, err := v.Documents()
		if err != nil {
			t.Fatal(err)
		}
		text := v.Text()
		whole, err := text.Slice(d.TextStart[0], d.TextStart[1])
		if err != nil {
			t.Fatal(err)
		}
		texts[sn.RepositoryByID(d.At(0).Repository).Name] = string(whole)
		text.Close()
	}
	for id, want := range records {
		got := ""
		if name, ok := strings.CutPrefix(id, "text of "); ok {
			got = texts[name]
		} else if value, err := st.Record(store.RecordSite, []byte(id)); err == nil {
			got = string(value)
		}
		if got != want {
			t.Fatalf("%s: got %.20q, want %.20q", id, got, want)
		}
	}
	if n := len(sn.Shards()); n != len(texts) {
		t.Errorf("%d shards have the text of %d repositories", n, len(texts))
	}
}

// stored reads all that is at a destination.
func stored(t testing.TB, dest object.Store) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := dest.List(context.Background(), ".", func(s object.Info) error {
		data, err := dest.Get(context.Background(), s.Name, 1<<30)
		out[s.Name] = data
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func exists(fs disk.FS, name string) bool {
	_, err := fs.Stat(name)
	return !errors.Is(err, os.ErrNotExist)
}
