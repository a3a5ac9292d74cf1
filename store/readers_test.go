package store_test

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store"
)

func TestReadersAllow(t *testing.T) {
	some := &store.Readers{Users: []uint32{2, 5}, Orgs: []uint32{7}}
	for _, c := range []struct {
		r    *store.Readers
		user uint32
		orgs []uint32
		want bool
	}{
		{nil, 0, nil, true},
		{nil, 9, nil, true},
		{some, 0, nil, false},
		{some, 2, nil, true},
		{some, 3, nil, false},
		{some, 7, nil, false}, // an organisation's ID is no user's
		{some, 3, []uint32{1, 7}, true},
		{some, 3, []uint32{2, 5}, false},
		{&store.Readers{}, 2, []uint32{7}, false},
		{&store.Readers{Users: []uint32{0}}, 0, nil, false},
	} {
		if got := c.r.Allow(c.user, c.orgs); got != c.want {
			t.Errorf("%+v.Allow(%d, %v): got %t, want %t", c.r, c.user, c.orgs, got, c.want)
		}
	}
}

// Readers last, whatever else happens to the record, and change together with
// the records given.
func TestSetReaders(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, fs)
	r, err := s.Repositories().New(store.Repository{Name: "kiln"})
	if err != nil {
		t.Fatal(err)
	}
	set := func(name string, readers *store.Readers) (r *store.Repository, err error) {
		err = s.Update(func(tx *store.Tx) error {
			tx.Records.Put(store.RecordAudit, []byte("1"), []byte("told"))
			r, err = tx.SetReaders(name, readers)
			return err
		})
		return r, err
	}
	if _, err := set("kiln", &store.Readers{Users: []uint32{5, 2, 5}}); err != nil {
		t.Fatal(err)
	}
	// A sync knows an older record.
	synced := *r
	synced.Generation = 1
	if err := s.Commit(store.Change{Repositories: []*store.Repository{&synced}}); err != nil {
		t.Fatal(err)
	}
	stars := 3
	if _, err := s.Repositories().ChangeFacts("kiln", store.FactsChange{Stars: &stars}); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	s = open(t, fs)
	defer closeStore(t, s)
	sn := s.Snapshot()
	defer sn.Close()
	got, err := sn.Repository("kiln")
	if err != nil || got.Generation != 1 || got.Stars != 3 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if got.Readers == nil || len(got.Readers.Users) != 2 || !got.Readers.Allow(2, nil) || !got.Readers.Allow(5, nil) || got.Readers.Allow(3, nil) {
		t.Errorf("readers: got %+v, want users 2 and 5", got.Readers)
	}
	if v, err := s.Record(store.RecordAudit, []byte("1")); string(v) != "told" || err != nil {
		t.Errorf("the record that came with it: got %q, %v", v, err)
	}
	if open, err := set("kiln", nil); err != nil || open.Readers != nil {
		t.Errorf("for everyone again: got %+v, %v", open, err)
	}
	if _, err := set("none", nil); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown repository: got %v, want ErrNotFound", err)
	}
}
