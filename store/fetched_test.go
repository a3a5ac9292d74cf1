package store_test

import (
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// TestNoteFetched: what is noted shows in every version of the record at once, goes
// with the next change of it, and is there after a restart once it is written.
func TestNoteFetched(t *testing.T) {
	dir := t.TempDir()
	open := func() *store.Store {
		s, err := store.Open(dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s := open()
	first := time.Date(2031, 2, 3, 4, 5, 6, 7, time.UTC)
	for _, name := range []string{"a", "b"} {
		_, err := s.Repositories().New(store.Repository{Name: name, Source: "/" + name, LastFetched: first})
		must(err)
	}
	check := func(s *store.Store, when string, a, b time.Time) {
		t.Helper()
		sn := s.Snapshot()
		defer sn.Close()
		for name, want := range map[string]time.Time{"a": a, "b": b} {
			r, err := sn.Repository(name)
			must(err)
			if got := r.Fetched(); !got.Equal(want) {
				t.Errorf("%s: %s was fetched at %v, want %v", when, name, got, want)
			}
		}
	}
	check(s, "new", first, first)
	old := s.Snapshot()
	a, err := old.Repository("a")
	must(err)
	later := first.Add(time.Minute)
	a.NoteFetched(later)
	a.NoteFetched(first.Add(time.Second)) // one that took long
	(&store.Repository{}).NoteFetched(later)
	if !a.Fetched().Equal(later) {
		t.Errorf("noted: the record of before says %v, want %v", a.Fetched(), later)
	}
	check(s, "noted", later, first)
	stars := 3
	_, err = s.Repositories().ChangeFacts("a", store.FactsChange{Stars: &stars})
	must(err)
	// A change that was prepared before the note does not lose it.
	next := *a
	must(s.Commit(store.Change{Repositories: []*store.Repository{&next}}))
	check(s, "changed", later, first)
	b, err := old.Repository("b")
	must(err)
	b.NoteFetched(later)
	must(old.Close())
	must(s.Close())
	s = open()
	check(s, "opened again, of which one was written", later, first)
	sn := s.Snapshot()
	b, err = sn.Repository("b")
	must(err)
	b.NoteFetched(later.Add(time.Hour))
	must(sn.Close())
	must(s.Repositories().WriteFetched())
	must(s.Close())
	s = open()
	check(s, "opened again", later, later.Add(time.Hour))
	must(s.Close())
}
