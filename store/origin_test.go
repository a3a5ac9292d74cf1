package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store"
)

// A repository gets the name, source and facts of its host and keeps its ID, also when
// a sync commits a record that is older, and after a restart.
func TestFollowHost(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, fs)
	add := func(name string) *store.Repository {
		t.Helper()
		r, err := s.Repositories().New(store.Repository{Name: name, Source: "https://host/" + name})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	oven, other := add("lab/oven"), add("lab/other")
	gone := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	change := store.HostChange{
		Name: "lab/kiln", Source: "https://host/lab/kiln", Origin: &store.Origin{Service: 3, Kind: "github", URL: "https://host/", ID: "7", Parent: "up/kiln"},
		Gone: &gone, Facts: store.FactsChange{Stars: to(5)},
	}
	if _, err := s.Repositories().FollowHost(oven.ID, change); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Repositories().FollowHost(other.ID, store.HostChange{Name: "lab/kiln"}); !errors.Is(err, store.ErrExists) {
		t.Errorf("a name that another has: %v, want ErrExists", err)
	}
	if _, err := s.Repositories().FollowHost(99, change); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no repository: %v, want ErrNotFound", err)
	}
	synced := *oven // as it was before
	synced.Documents = 7
	if err := s.Commit(store.Change{Repositories: []*store.Repository{&synced}}); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"now", "after a restart"} {
		sn := s.Snapshot()
		r, err := sn.Repository("lab/kiln")
		if err != nil {
			t.Fatal(err)
		}
		if r.ID != oven.ID || r.Source != change.Source || *r.Origin != *change.Origin || !r.Gone.Equal(gone) || r.Stars != 5 || r.Documents != 7 {
			t.Errorf("%s: %+v", when, r)
		}
		if _, err := sn.Repository("lab/oven"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: the former name: %v, want ErrNotFound", when, err)
		}
		if ids := sn.MarkedIDs(store.MarkGone); !ids.Has(oven.ID) || ids.Has(other.ID) {
			t.Errorf("%s: the wrong repositories are marked as gone", when)
		}
		sn.Close()
		if when == "now" {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, fs)
		}
	}
	if r, err := s.Repositories().FollowHost(oven.ID, store.HostChange{Gone: &time.Time{}}); err != nil || r.IsGone() || r.Name != "lab/kiln" {
		t.Errorf("listed again: %+v, %v", r, err)
	}
	// A name that is free again can be taken.
	if _, err := s.Repositories().FollowHost(other.ID, store.HostChange{Name: "lab/oven"}); err != nil {
		t.Error(err)
	}
}

// A record may be read while its successor, which has the same origin, is put in its
// place. The race detector finds it when that writes into what both hold.
func TestOriginIsNotWrittenTo(t *testing.T) {
	s := open(t, vfs.NewMem())
	old, err := s.Repositories().New(store.Repository{Name: "lab/kiln", Source: "https://host/lab/kiln"})
	if err != nil {
		t.Fatal(err)
	}
	old, err = s.Repositories().FollowHost(old.ID, store.HostChange{Origin: &store.Origin{Service: 3, Kind: "github", URL: "https://host/", ID: "7"}})
	if err != nil {
		t.Fatal(err)
	}
	want := *old.Origin
	synced := make(chan error)
	next := *old
	next.Documents = 7
	go func() { synced <- s.Commit(store.Change{Repositories: []*store.Repository{&next}}) }()
	for reading := true; reading; {
		select {
		case err = <-synced:
			reading = false
		default:
			if *old.Origin != want {
				t.Fatalf("the origin became %+v", *old.Origin)
			}
		}
	}
	if err != nil || next.Origin == old.Origin {
		t.Errorf("both records have the origin %p: %v", old.Origin, err)
	}
}

// A host does not take from a repository the readers that a user has given it since the
// host was asked.
func TestHostLeavesReaders(t *testing.T) {
	s := open(t, vfs.NewMem())
	r, err := s.Repositories().New(store.Repository{Name: "lab/kiln", Source: "https://host/lab/kiln"})
	if err != nil {
		t.Fatal(err)
	}
	follow := func(readers ...uint32) *store.Repository {
		t.Helper()
		r, err := s.Repositories().FollowHost(r.ID, store.HostChange{
			Origin: &store.Origin{Service: 3, Kind: "github", ID: "7", Readers: true}, Readers: &store.ReadersChange{To: &store.Readers{Users: readers}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	give := func(readers *store.Readers) {
		t.Helper()
		if err := s.Update(func(tx *store.Tx) error { _, err := tx.SetReaders("lab/kiln", readers); return err }); err != nil {
			t.Fatal(err)
		}
	}
	give(&store.Readers{Users: []uint32{5}})
	if r := follow(1, 2); !r.Readers.Equal(&store.Readers{Users: []uint32{5}}) || r.HasHostReaders() || r.Origin.ID != "7" {
		t.Errorf("after a user: %+v, %+v", r.Readers, r.Origin)
	}
	give(nil)
	// Readers that a user gives are not the host's any more, also where those were.
	follow(1)
	give(&store.Readers{Users: []uint32{5}})
	if r := follow(1, 2); !r.Readers.Equal(&store.Readers{Users: []uint32{5}}) || r.HasHostReaders() {
		t.Errorf("after the host and a user: %+v, %+v", r.Readers, r.Origin)
	}
	give(nil)
	for _, readers := range [][]uint32{{1, 2}, {1}} {
		if r := follow(readers...); !r.Readers.Equal(&store.Readers{Users: readers}) || !r.HasHostReaders() {
			t.Errorf("of a host: %+v, %+v", r.Readers, r.Origin)
		}
	}
}
