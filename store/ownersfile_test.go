package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/store"
)

func TestOwnersFiles(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, fs)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	put := func(id uint32, f *store.OwnersFile) {
		t.Helper()
		must(s.Update(func(tx *store.Tx) error { return tx.PutOwnersFile(id, f) }))
	}
	get := func(id uint32) (string, error) {
		sn := s.Snapshot()
		defer sn.Close()
		f, err := sn.OwnersFile(id)
		if err != nil {
			return "", err
		}
		return f.Text, nil
	}
	var ids []uint32
	for _, name := range []string{"a", "b"} {
		r, err := s.Repositories().New(store.Repository{Name: name})
		must(err)
		ids = append(ids, r.ID)
		put(r.ID, &store.OwnersFile{Text: "* @" + name, Created: time.Unix(1, 0).UTC()})
	}
	put(ids[0], &store.OwnersFile{Text: "", Created: time.Unix(1, 0).UTC()})
	for i, want := range []string{"", "* @b"} {
		if got, err := get(ids[i]); got != want || err != nil {
			t.Errorf("repository %d: got %q, %v, want %q", ids[i], got, err, want)
		}
	}
	if _, err := get(77); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no repository: %v", err)
	}
	put(ids[0], nil)
	if _, err := get(ids[0]); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("taken away: %v", err)
	}

	// The file goes with its repository.
	must(s.Commit(store.Change{Remove: ids[1:]}))
	sn := s.Snapshot()
	must(sn.EachOwnersFile(func(id uint32, _ func() (*store.OwnersFile, error)) error {
		t.Errorf("repository %d still has one", id)
		return nil
	}))
	must(sn.Close())

	// What is damaged is found, and what belongs to nothing is stray.
	var c store.Records
	c.Put(store.RecordOwners, []byte{0, 0, 0, byte(ids[0])}, []byte(`{"text":`))
	c.Put(store.RecordOwners, []byte{0, 0, 0, 99}, []byte(`{"text":"* @c"}`))
	c.Put(store.RecordOwners, []byte("short"), []byte(`{}`))
	must(s.CommitRecords(&c))
	if _, err := get(ids[0]); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("damaged: %v", err)
	}
	var strays, damaged []store.FaultyRecord
	sn = s.Snapshot()
	must(sn.VerifyRecords(t.Context(), func(f store.FaultyRecord) {
		if f.Stray {
			strays = append(strays, f)
		} else {
			damaged = append(damaged, f)
		}
	}))
	must(sn.Close())
	if len(strays) != 2 || len(damaged) != 1 {
		t.Errorf("got %d stray and %d damaged, want 2 and 1: %v %v", len(strays), len(damaged), strays, damaged)
	}
	must(s.Update(func(tx *store.Tx) error {
		for _, f := range strays {
			tx.RemoveStray(f)
		}
		return nil
	}))
	closeStore(t, s)
}
