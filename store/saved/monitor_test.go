package saved_test

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/saved"
)

// found are matches with these hashes.
func found(hashes ...uint64) (all []saved.Found) {
	for _, h := range hashes {
		all = append(all, saved.Found{Hash: h, Path: "kiln.go", Line: int(h)})
	}
	return all
}

// watched is a book with a saved search whose monitor tells a webhook.
func watched(t *testing.T, fs vfs.FS) (*store.Store, *saved.Book, uint32) {
	t.Helper()
	st := open(t, fs)
	b := saved.Open(st, saved.Options{})
	s, err := b.Searches.Add(saved.Search{Query: "glaze"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Monitors.Set(s.ID, 1, []saved.Target{{Kind: "webhook", Address: "https://example.com"}}); err != nil {
		t.Fatal(err)
	}
	return st, b, s.ID
}

// know has a monitor know all matches of a repository, and returns how many are new.
func know(t *testing.T, b *saved.Book, search, repository uint32, all []saved.Found) int {
	t.Helper()
	return knowAs(t, b, search, saved.Looked{Repository: repository, Name: "lab"}, all, true)
}

func knowAs(t *testing.T, b *saved.Book, search uint32, at saved.Looked, all []saved.Found, whole bool) int {
	t.Helper()
	m, err := b.Monitors.Get(search)
	if err != nil {
		t.Fatal(err)
	}
	f, err := b.Monitors.Know(m, at, all, whole)
	if err != nil {
		t.Fatal(err)
	}
	if f == nil {
		return 0
	}
	return f.Count
}

// TestKnow: what is there at first fires nothing, and each match after that once, also
// when it was gone in between and after the store was opened again.
func TestKnow(t *testing.T) {
	fs := vfs.NewMem()
	st, b, id := watched(t, fs)
	if n := know(t, b, id, 1, found(1, 2)); n != 0 {
		t.Errorf("at first %d are new", n)
	}
	for i, c := range []struct {
		repository uint32
		found      []saved.Found
		want       int
	}{{1, found(1, 2), 0}, {1, found(2, 3, 4), 2}, {1, nil, 0}, {1, found(1, 2, 3, 4), 0}, {2, found(1), 0}, {2, found(1, 2), 1}, {1, found(5), 1}} {
		if n := know(t, b, id, c.repository, c.found); n != c.want {
			t.Errorf("look %d: %d are new, want %d", i, n, c.want)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st = open(t, fs)
	defer st.Close()
	b = saved.Open(st, saved.Options{})
	if n := know(t, b, id, 1, found(1, 2, 3, 4, 5)); n != 0 {
		t.Errorf("opened again: %d are new", n)
	}
	all, err := b.Firings.All(id)
	if err != nil || len(all) != 3 || all[0].Number != 3 || all[2].Count != 2 || all[2].Matches[0].Line != 3 {
		t.Errorf("firings: %+v, %v", all, err)
	}
	if err := saved.Verify(st, func(f store.FaultyRecord) { t.Error(f.Problem) }); err != nil {
		t.Error(err)
	}

	// Another query knows nothing, and of the old one nothing is taken any more.
	old, err := b.Monitors.Get(id)
	if err != nil || old.Known != 5+2 {
		t.Errorf("it knows of %d matches, %v", old.Known, err)
	}
	if _, err := b.Monitors.Restart(id, "slip"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Monitors.Know(old, saved.Looked{Repository: 1}, found(9), true); !errors.Is(err, saved.ErrConflict) {
		t.Errorf("of the old query: %v, want ErrConflict", err)
	}
	if n := know(t, b, id, 1, found(1, 9)); n != 0 {
		t.Errorf("of the new query: %d are new", n)
	}

	if err := b.Searches.Remove(id); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []store.RecordKind{store.RecordMonitor, store.RecordKnown, store.RecordLooked, store.RecordFiring, store.RecordWaiting} {
		if err := st.EachRecord(store.RecordRange{Kind: kind}, func(id, _ []byte) (bool, error) { t.Errorf("%c %x is left", kind, id); return true, nil }); err != nil {
			t.Error(err)
		}
	}
}

// TestFirstLook: what is there at the first look fires where the repository came after the
// monitor began, and what was not searched whole is not taken for all that was there.
func TestFirstLook(t *testing.T) {
	st, b, id := watched(t, vfs.NewMem())
	defer st.Close()
	m, err := b.Monitors.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		created time.Time
		found   []saved.Found
		whole   bool
		want    int
	}{
		{m.Since.Add(-time.Hour), found(1), false, 0}, {m.Since.Add(-time.Hour), found(1, 2), true, 0},
		{m.Since.Add(-time.Hour), found(3), false, 1}, {m.Since.Add(-time.Hour), found(3, 4), true, 1},
	} {
		if n := knowAs(t, b, id, saved.Looked{Repository: 1, Created: c.created, State: uint64(i)}, c.found, c.whole); n != c.want {
			t.Errorf("look %d: %d are new, want %d", i, n, c.want)
		}
	}
	after := saved.Looked{Repository: 2, Created: m.Since.Add(time.Hour), State: 7}
	if n := knowAs(t, b, id, after, found(1, 2), false); n != 0 {
		t.Errorf("not whole: %d are new", n)
	}
	if n := knowAs(t, b, id, after, found(1, 2), true); n != 2 {
		t.Errorf("a new repository: %d are new, want 2", n)
	}
	looked, err := b.Monitors.Looked(id)
	if err != nil || !maps.Equal(looked, map[uint32]uint64{1: 3, 2: 7}) {
		t.Errorf("looked at %v, %v", looked, err)
	}
	if err := b.Monitors.Forget(id, 1); err != nil {
		t.Fatal(err)
	}
	if m, err = b.Monitors.Get(id); err != nil || m.Known != 2 {
		t.Errorf("after a repository is gone it knows of %d, %v; want 2", m.Known, err)
	}
	if n := know(t, b, id, 1, found(9)); n != 0 {
		t.Errorf("forgotten: %d are new", n)
	}
}

// TestManyMatches: what is not there any more is forgotten before too much is known.
func TestManyMatches(t *testing.T) {
	st, b, id := watched(t, vfs.NewMem())
	defer st.Close()
	next := uint64(0)
	fill := func() (all []saved.Found) {
		for range saved.MaxMatches {
			next++
			all = append(all, saved.Found{Hash: next})
		}
		return all
	}
	first, second, third := fill(), fill(), fill()
	know(t, b, id, 1, nil)
	for i, all := range [][]saved.Found{first, second, third} {
		if n := know(t, b, id, 1, all); n != saved.MaxMatches {
			t.Errorf("%d: %d are new", i, n)
		}
	}
	if n := know(t, b, id, 1, third); n != 0 {
		t.Errorf("those that are there: %d are new", n)
	}
	if n := know(t, b, id, 1, first[:5]); n != 5 {
		t.Errorf("those that were forgotten: %d are new, want 5", n)
	}
}

// TestFirings: firings wait until all of their deliveries have ended; one too many drops
// the oldest and says so.
func TestFirings(t *testing.T) {
	st, b, id := watched(t, vfs.NewMem())
	defer st.Close()
	waiting := func() (all []uint32) {
		err := b.Firings.Waiting(func(search, number uint32, due time.Time) {
			if search != id || due.IsZero() {
				t.Errorf("waiting: search %d, due %v", search, due)
			}
			all = append(all, number)
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	know(t, b, id, 1, nil)
	know(t, b, id, 1, found(1))
	know(t, b, id, 1, found(2))
	if got := waiting(); !slices.Equal(got, []uint32{1, 2}) {
		t.Errorf("waiting: %v", got)
	}
	later := time.Now().Add(time.Hour).Truncate(time.Second)
	if err := b.Firings.Change(id, []uint32{1}, func(f *saved.Firing) { f.Deliveries[0].State = saved.DeliveryDone }); err != nil {
		t.Fatal(err)
	}
	if err := b.Firings.Change(id, []uint32{2, 99}, func(f *saved.Firing) { f.Deliveries[0].Next = later }); err != nil {
		t.Fatal(err)
	}
	if got := waiting(); !slices.Equal(got, []uint32{2}) {
		t.Errorf("waiting: %v", got)
	}
	for h := range uint64(saved.MaxFirings) {
		know(t, b, id, 1, found(10+h))
	}
	all, err := b.Firings.All(id)
	if err != nil || len(all) != saved.MaxFirings || all[len(all)-1].Number != 3 {
		t.Errorf("%d firings, %v; the oldest is %+v", len(all), err, all[len(all)-1])
	}
	m, err := b.Monitors.Get(id)
	if err != nil || m.Untold != 1 {
		t.Errorf("monitor: %+v, %v; want one that was not told", m, err)
	}
	if len(waiting()) != saved.MaxFirings {
		t.Errorf("%d wait", len(waiting()))
	}
}

// TestTargetsAreSealed: the address of a target is not in the store where it is a secret,
// and opens as nothing but a target.
func TestTargetsAreSealed(t *testing.T) {
	st := open(t, vfs.NewMem())
	defer st.Close()
	b := saved.Open(st, saved.Options{Key: saved.NewKey(t.TempDir()+"/key", true)})
	target, err := b.Monitors.NewTarget("slack", "https://example.com/secret", "https://example.com/…")
	if err != nil || target.Address != "https://example.com/…" {
		t.Fatalf("target: %+v, %v", target, err)
	}
	if got, err := b.Monitors.Address(target); err != nil || got != "https://example.com/secret" {
		t.Errorf("address: %q, %v", got, err)
	}
	if got, err := b.Services.FullConfig(&saved.Service{Sealed: target.Sealed}); !errors.Is(err, saved.ErrSealed) {
		t.Errorf("as a service: %q, %v; want ErrSealed", got, err)
	}
}
