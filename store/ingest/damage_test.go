package ingest_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
)

// shardKey is a key of a shard: a prefix, the shard's number, and the rest.
func shardKey(prefix byte, shard uint32, rest ...byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{prefix}, shard), rest...)
}

var zeroTime = time.Unix(0, 0)

// reopen closes the store of f, if there is one, and opens that in dir.
func reopen(t *testing.T, f *fixture, dir string) *fixture {
	t.Helper()
	if f != nil {
		f.close(t)
	}
	st, err := store.Open(dir, store.Options{CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{t, st, ingest.New(st, ingest.Options{MinFreeBytes: -1})}
}

func (f *fixture) close(t *testing.T) {
	t.Helper()
	if err := f.st.Close(); err != nil {
		t.Error(err)
	}
}

// alter changes the engine's keys behind the back of the store.
func (f *fixture) alter(t *testing.T, change func(*pebble.DB) error) *fixture {
	t.Helper()
	f.close(t)
	dir := f.st.Dir()
	if err := os.Remove(filepath.Join(dir, "index", "SEAL")); err != nil {
		t.Fatal(err)
	}
	db, err := pebble.Open(filepath.Join(dir, "index"), &pebble.Options{FormatMajorVersion: pebble.FormatNewest, Logger: silent{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(change(db), db.Close()); err != nil {
		t.Fatal(err)
	}
	return reopen(t, nil, dir)
}

func (f *fixture) repository(name string) *store.Repository {
	f.t.Helper()
	sn := f.st.Snapshot()
	defer sn.Close()
	r, err := sn.Repository(name)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

// wantSound checks that nothing is set aside and that the engine has the shards
// that are referred to and no other.
func (f *fixture) wantSound(t *testing.T) {
	t.Helper()
	if h := f.st.Health(); len(h.Aside) != 0 {
		t.Errorf("got %+v set aside, want nothing", h.Aside)
	}
	sn := f.st.Snapshot()
	defer sn.Close()
	for _, v := range sn.Shards() {
		if !slices.ContainsFunc(sn.Repositories(), func(r *store.Repository) bool {
			return slices.Contains(r.Shards, v.ID) || slices.Contains(r.History.Shards, v.ID)
		}) {
			t.Errorf("shard %d has no owner", v.ID)
		}
	}
}

// damages are ways in which a shard goes bad without the engine's notice.
var damages = []struct {
	name   string
	change func(db *pebble.DB, shard uint32) error
	// opening says that it is noticed when the store is opened.
	opening bool
}{
	{"no header", func(db *pebble.DB, shard uint32) error { return db.Delete(shardKey('h', shard), pebble.Sync) }, true},
	{"bad header", func(db *pebble.DB, shard uint32) error { return db.Set(shardKey('h', shard), []byte("{"), pebble.Sync) }, true},
	{"header of another", func(db *pebble.DB, shard uint32) error {
		return db.Set(shardKey('h', shard), fmt.Appendf(nil, `{"id":%d,"documents":1,"blocks":1}`, shard+1), pebble.Sync)
	}, true},
	{"bad dead documents", func(db *pebble.DB, shard uint32) error { return db.Set(shardKey('k', shard), []byte{9}, pebble.Sync) }, true},
	{"bad branches", func(db *pebble.DB, shard uint32) error {
		return db.Set(shardKey('b', shard, 0, 0, 0, 1), []byte{200}, pebble.Sync)
	}, true},
	{"no newlines", func(db *pebble.DB, shard uint32) error { return db.Delete(shardKey('s', shard, 3), pebble.Sync) }, false},
	{"bad documents", func(db *pebble.DB, shard uint32) error {
		return db.Set(shardKey('s', shard, 2, 0, 0), []byte{1, 2, 3}, pebble.Sync)
	}, false},
	{"no documents", func(db *pebble.DB, shard uint32) error { return db.Delete(shardKey('s', shard, 2, 0, 0), pebble.Sync) }, false},
}

// A damaged shard does not prevent syncing, merging and removing: its
// repositories are written anew, others stay where they are, and it is dropped.
func TestDamagedShard(t *testing.T) {
	mill := newRepo(t)
	mill.write(map[string]string{"a.txt": "grain\n"})
	mill.commit()
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			kiln := newRepo(t)
			kiln.write(map[string]string{"a.txt": "glaze\n", "b.txt": "fired\n"})
			kiln.commit()
			f := reopen(t, nil, filepath.Join(t.TempDir(), "data"))
			f.sync("kiln", kiln)
			f.sync("mill", mill)
			f.history()
			before := f.repository("mill")
			shard := f.repository("kiln").Shards[0]
			f = f.alter(t, func(db *pebble.DB) error { return d.change(db, shard) })
			if got := len(f.st.Health().Aside); (got != 0) != d.opening {
				t.Errorf("%d shards are set aside at the opening, want some: %v", got, d.opening)
			}
			// Whatever comes first.
			if _, err := f.ix.Merger.Merge(context.Background(), nil); err != nil {
				t.Errorf("merge: %v", err)
			}
			kiln.write(map[string]string{"c.txt": "clay\n"})
			kiln.commit()
			f.sync("kiln", kiln)
			f.sync("mill", mill)
			f.history()
			f.wantSound(t)
			f.want("kiln", map[string]string{"a.txt": "glaze\n", "b.txt": "fired\n", "c.txt": "clay\n"})
			if now := f.repository("mill"); !slices.Equal(now.Shards, before.Shards) || now.Generation != before.Generation {
				t.Errorf("shards of mill were %v in generation %d, are %v in %d; want no change", before.Shards, before.Generation, now.Shards, now.Generation)
			}
			if r := f.repository("kiln"); slices.Contains(r.Shards, shard) || r.Documents != 3 || r.TextBytes != 17 {
				t.Errorf("kiln has shards %v, %d documents, %d bytes; want a new shard, 3 and 17", r.Shards, r.Documents, r.TextBytes)
			}
			f.close(t)
		})
	}
}

// A damaged history shard is read again, and the log is in order.
func TestDamagedHistory(t *testing.T) {
	kiln := newRepo(t)
	for i := range 5 {
		kiln.write(map[string]string{"a.txt": fmt.Sprint(i)})
		kiln.commitAt(100, fmt.Sprint("change ", i))
	}
	dir := filepath.Join(t.TempDir(), "data")
	f := reopen(t, nil, dir)
	f.sync("kiln", kiln)
	f.history()
	shard := f.repository("kiln").History.Shards[0]
	f = f.alter(t, func(db *pebble.DB) error { return db.Delete(shardKey('s', shard, 9, 0, 0), pebble.Sync) })
	defer f.close(t)
	if first, err := f.st.SetAside(shard, store.ErrCorrupt, zeroTime); !first || err != nil {
		t.Fatalf("SetAside: %v, %v", first, err)
	}
	f.sync("kiln", kiln)
	f.history()
	f.checkHistory("kiln", kiln, ingest.AllHistory)
	f.wantSound(t)
}

// What is set aside stays so over a restart, and a repository can be removed.
func TestAsideOverRestart(t *testing.T) {
	kiln := newRepo(t)
	kiln.write(map[string]string{"a.txt": "glaze\n"})
	kiln.commit()
	dir := filepath.Join(t.TempDir(), "data")
	f := reopen(t, nil, dir)
	f.sync("kiln", kiln)
	shard := f.repository("kiln").Shards[0]
	if _, err := f.st.SetAside(shard, fmt.Errorf("chunk 0: %w", store.ErrCorrupt), zeroTime); err != nil {
		t.Fatal(err)
	}
	f = reopen(t, f, dir)
	h := f.st.Health()
	if len(h.Aside) != 1 || h.Aside[0].Shard != shard || h.Aside[0].Reason != "chunk 0: corrupt" || len(h.Aside[0].Repositories) != 1 {
		t.Errorf("got %+v, want the shard %d with its reason", h.Aside, shard)
	}
	if err := f.ix.Remove(context.Background(), "kiln"); err != nil {
		t.Fatal(err)
	}
	if h := f.st.Health(); len(h.Aside) != 0 {
		t.Errorf("got %+v after the removal, want nothing", h.Aside)
	}
	f.close(t)
	if shards := keyedShards(t, dir); len(shards) != 0 {
		t.Errorf("shards %v have data, want none", shards)
	}
}

// A lost mirror's source does not keep what was fetched from being indexed anew.
func TestRebuildFromMirror(t *testing.T) {
	kiln := newRepo(t)
	kiln.write(map[string]string{"a.txt": "glaze\n"})
	kiln.commit()
	dir := filepath.Join(t.TempDir(), "data")
	f := reopen(t, nil, dir)
	src, err := ingest.ParseSource("kiln=file://" + kiln.dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.ix.Add(context.Background(), src); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ix.Sync(context.Background(), "kiln", nil); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(kiln.dir); err != nil {
		t.Fatal(err)
	}
	old := f.repository("kiln")
	if _, err := f.st.SetAside(old.Shards[0], store.ErrCorrupt, zeroTime); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ix.Sync(context.Background(), "kiln", nil); err != nil {
		t.Fatal(err)
	}
	r := f.repository("kiln")
	if len(f.st.Health().Aside) != 0 || r.Documents != 1 || r.LastError == "" || !r.LastFetched.Equal(old.LastFetched) {
		t.Errorf("got %+v, want one document, the error of the fetch and the time of the one before", r)
	}
	f.close(t)
}
