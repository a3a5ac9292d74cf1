package saved_test

import (
	"errors"
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
	b := saved.Open(st, nil)
	s, err := b.AddSearch(saved.Search{Query: "glaze"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.SetMonitor(s.ID, 1, []saved.Target{{Kind: "webhook", Address: "https://example.com"}}); err != nil {
		t.Fatal(err)
	}
	return st, b, s.ID
}

// begin says that a monitor knows what was there at first.
func begin(t *testing.T, b *saved.Book, search uint32) {
	t.Helper()
	if err := b.ChangeMonitor(search, "glaze", func(m *saved.Monitor) { m.Begun = true }); err != nil {
		t.Fatal(err)
	}
}

// know has a monitor know matches of a repository, and returns how many are new.
func know(t *testing.T, b *saved.Book, search, repository uint32, all []saved.Found) int {
	t.Helper()
	f, err := b.Know(search, "glaze", repository, "lab", all)
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
	begin(t, b, id)
	for i, c := range []struct {
		repository uint32
		found      []saved.Found
		want       int
	}{{1, found(1, 2), 0}, {1, found(2, 3, 4), 2}, {1, nil, 0}, {1, found(1, 2, 3, 4), 0}, {2, found(1), 1}, {1, found(5), 1}} {
		if n := know(t, b, id, c.repository, c.found); n != c.want {
			t.Errorf("look %d: %d are new, want %d", i, n, c.want)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st = open(t, fs)
	defer st.Close()
	b = saved.Open(st, nil)
	if n := know(t, b, id, 1, found(1, 2, 3, 4, 5)); n != 0 {
		t.Errorf("opened again: %d are new", n)
	}
	all, err := b.Firings(id)
	if err != nil || len(all) != 3 || all[0].Number != 3 || all[2].Count != 2 || all[2].Matches[0].Line != 3 {
		t.Errorf("firings: %+v, %v", all, err)
	}
	if err := saved.Verify(st, func(f store.FaultyRecord) { t.Error(f.Problem) }); err != nil {
		t.Error(err)
	}

	// Another query knows nothing, and of the old one nothing is taken any more.
	if err := b.RestartMonitor(id, "slip"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Know(id, "glaze", 1, "lab", found(9)); !errors.Is(err, saved.ErrConflict) {
		t.Errorf("of the old query: %v, want ErrConflict", err)
	}
	if f, err := b.Know(id, "slip", 1, "lab", found(1, 9)); f != nil || err != nil {
		t.Errorf("of the new query: %v, %v", f, err)
	}

	if err := b.RemoveSearch(id); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []store.RecordKind{store.RecordMonitor, store.RecordKnown, store.RecordFiring, store.RecordWaiting} {
		if err := st.EachRecord(store.RecordRange{Kind: kind}, func(id, _ []byte) (bool, error) { t.Errorf("%c %x is left", kind, id); return true, nil }); err != nil {
			t.Error(err)
		}
	}
}

// TestManyMatches: what is not there any more is forgotten before too much is known.
func TestManyMatches(t *testing.T) {
	st, b, id := watched(t, vfs.NewMem())
	defer st.Close()
	begin(t, b, id)
	next := uint64(0)
	fill := func() (all []saved.Found) {
		for range saved.MaxMatches {
			next++
			all = append(all, saved.Found{Hash: next})
		}
		return all
	}
	first, second, third := fill(), fill(), fill()
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
	begin(t, b, id)
	waiting := func() (all []uint32) {
		err := b.Waiting(func(search, number uint32, due time.Time) {
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
	know(t, b, id, 1, found(1))
	know(t, b, id, 1, found(2))
	if got := waiting(); !slices.Equal(got, []uint32{1, 2}) {
		t.Errorf("waiting: %v", got)
	}
	later := time.Now().Add(time.Hour).Truncate(time.Second)
	if err := b.ChangeFiring(id, 1, func(f *saved.Firing) { f.Deliveries[0].State = saved.DeliveryDone }); err != nil {
		t.Fatal(err)
	}
	if err := b.ChangeFiring(id, 2, func(f *saved.Firing) { f.Deliveries[0].Next = later }); err != nil {
		t.Fatal(err)
	}
	if got := waiting(); !slices.Equal(got, []uint32{2}) {
		t.Errorf("waiting: %v", got)
	}
	for h := range uint64(saved.MaxFirings) {
		know(t, b, id, 1, found(10+h))
	}
	all, err := b.Firings(id)
	if err != nil || len(all) != saved.MaxFirings || all[len(all)-1].Number != 3 {
		t.Errorf("%d firings, %v; the oldest is %+v", len(all), err, all[len(all)-1])
	}
	m, err := b.Monitor(id)
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
	b := saved.Open(st, nil)
	b.Key = saved.NewKey(t.TempDir()+"/key", true)
	target, err := b.NewTarget("slack", "https://example.com/secret", "https://example.com/…")
	if err != nil || target.Address != "https://example.com/…" {
		t.Fatalf("target: %+v, %v", target, err)
	}
	if got, err := b.Address(target); err != nil || got != "https://example.com/secret" {
		t.Errorf("address: %q, %v", got, err)
	}
	if got, err := b.FullConfig(&saved.Service{Sealed: target.Sealed}); !errors.Is(err, saved.ErrSealed) {
		t.Errorf("as a service: %q, %v; want ErrSealed", got, err)
	}
}
