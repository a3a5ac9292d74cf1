package store_test

import (
	"errors"
	"os"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/store"
)

// A checkpoint is a data directory of its own, of the moment it was made.
func TestCheckpoint(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, fs)
	put := func(id, value string) {
		t.Helper()
		var c store.Records
		c.Put(store.RecordSite, []byte(id), []byte(value))
		if err := s.CommitRecords(&c); err != nil {
			t.Fatal(err)
		}
	}
	docs, texts := documents(3, 20)
	put("before", "1")
	writeShard(t, s, docs, texts)
	c, err := s.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	put("after", "2")
	if _, err := s.Checkpoint(); !errors.Is(err, store.ErrCheckpoint) {
		t.Errorf("a second checkpoint: got %v, want ErrCheckpoint", err)
	}
	other, err := store.Open(c.Dir(), store.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := other.Record(store.RecordSite, []byte("before")); string(got) != "1" || err != nil {
		t.Errorf("record of before the checkpoint: got %q, %v", got, err)
	}
	if got, err := other.Record(store.RecordSite, []byte("after")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("record of after the checkpoint: got %q, %v, want ErrNotFound", got, err)
	}
	closeStore(t, other)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := fs.Stat(c.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Close: %v, want that the directory is gone", err)
	}
	// There can be another one now, and a crash leaves it to the next Open.
	if c, err = s.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	s = open(t, fs)
	if _, err := fs.Stat(c.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Open: %v, want that what the crash left is gone", err)
	}
	closeStore(t, s)
}

func TestFormatOf(t *testing.T) {
	fs := vfs.NewMem()
	if v, err := store.Format(fs, "data"); v != 0 || err != nil {
		t.Errorf("of nothing: got %d, %v, want 0", v, err)
	}
	closeStore(t, open(t, fs))
	if v, err := store.Format(fs, "data"); v != store.FormatNewest || err != nil {
		t.Errorf("got %d, %v, want %d", v, err, store.FormatNewest)
	}
}
