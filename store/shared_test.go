package store_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/cluster/memorylog"
)

// openNode opens the store of a node in memory.
func openNode(t *testing.T, fs vfs.FS, log *memorylog.Log) *store.Store {
	t.Helper()
	s, err := store.Open("data", store.Options{FS: fs, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// increment adds one to a counter in a record and one in a repository.
func increment(s *store.Store, i int) error {
	return s.Update(func(tx *store.Tx) error {
		id := []byte{byte(i)}
		value, err := tx.Record(store.RecordCounter, id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		count, _ := strconv.Atoi(string(value))
		tx.Records.Put(store.RecordCounter, id, strconv.AppendInt(nil, int64(count+1), 10))
		r, err := tx.Repository(fmt.Sprint("r", i))
		if err != nil {
			return err
		}
		next := *r
		next.Generation++
		tx.Change.Repositories = []*store.Repository{&next}
		return nil
	})
}

// TestNodesAreSerial has goroutines on three nodes add to the same counters, with a
// log that fails before and behind an append without saying so. No addition is lost
// or made twice, and all nodes have the same records in the end.
func TestNodesAreSerial(t *testing.T) {
	const nodes, workers, rounds, counters = 3, 4, 20, 2
	log := memorylog.New(1, true)
	var stores []*store.Store
	for range nodes {
		s := openNode(t, vfs.NewMem(), log)
		defer closeStore(t, s)
		stores = append(stores, s)
	}
	for i := range counters {
		if _, err := stores[i%nodes].Repositories().New(store.Repository{Name: fmt.Sprint("r", i)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range stores {
		follow(t, s, log)
	}
	var wg sync.WaitGroup
	for n, s := range stores {
		for w := range workers {
			wg.Go(func() {
				for round := range rounds {
					if err := increment(s, (n+w+round)%counters); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	want := fmt.Sprint(nodes * workers * rounds / counters)
	for n, s := range stores {
		follow(t, s, log)
		sn := s.Snapshot()
		for i := range counters {
			value, err := s.Record(store.RecordCounter, []byte{byte(i)})
			r, _ := sn.Repository(fmt.Sprint("r", i))
			if string(value) != want || fmt.Sprint(r.Generation) != want || err != nil {
				t.Errorf("node %d, counter %d: record %s, repository %d, %v; want %s", n, i, value, r.Generation, err, want)
			}
		}
		sn.Close()
		if got, want := s.SharedRecords(), log.All(); got != want {
			t.Errorf("node %d has\n%s\nthe log has\n%s", n, got, want)
		}
	}
	if log.Unknown() == 0 {
		t.Error("no append failed")
	}
}

// TestNodeComesLater opens nodes when the log no longer reaches back: one that is
// new, and one that was away meanwhile.
func TestNodeComesLater(t *testing.T) {
	log := memorylog.New(1, false)
	away := vfs.NewMem()
	first := openNode(t, vfs.NewMem(), log)
	defer closeStore(t, first)
	late := openNode(t, away, log)
	for i := range 4 {
		if _, err := first.Repositories().New(store.Repository{Name: fmt.Sprint("r", i)}); err != nil {
			t.Fatal(err)
		}
	}
	follow(t, late, log)
	closeStore(t, late)
	// Two repositories change their names with each other, one goes and one comes.
	err := first.Commit(store.Change{Remove: []uint32{1}})
	for _, name := range []string{"x", "r3", "r2"} {
		id := map[string]uint32{"x": 3, "r3": 3, "r2": 4}[name]
		if name == "r3" {
			err = errors.Join(err, first.Commit(store.Change{Repositories: []*store.Repository{{ID: 4, Name: "y"}}}))
		}
		err = errors.Join(err, first.Commit(store.Change{Repositories: []*store.Repository{{ID: id, Name: name}}}))
	}
	_, more := first.Repositories().New(store.Repository{Name: "r0"})
	if err := errors.Join(err, more); err != nil {
		t.Fatal(err)
	}
	log.CutAll()
	for name, fs := range map[string]vfs.FS{"new": vfs.NewMem(), "away": away} {
		s := openNode(t, fs, log)
		if got, want := s.SharedRecords(), log.All(); got != want {
			t.Errorf("%s: has\n%s\nthe log has\n%s", name, got, want)
		}
		sn := s.Snapshot()
		var got []string
		for r := range sn.Listed() {
			got = append(got, fmt.Sprint(r.ID, r.Name))
		}
		if want := "[5r0 4r2 3r3 2r1]"; fmt.Sprint(got) != want {
			t.Errorf("%s: lists %v, want %s", name, got, want)
		}
		sn.Close()
		if err := increment(s, 1); err != nil {
			t.Error(err)
		}
		closeStore(t, s)
	}
}

// TestNodesNoteFetched notes on one node when sources were looked at whose records
// another node has made and changed.
func TestNodesNoteFetched(t *testing.T) {
	log := memorylog.New(1, false)
	writer, reader := openNode(t, vfs.NewMem(), log), openNode(t, vfs.NewMem(), log)
	defer closeStore(t, writer)
	defer closeStore(t, reader)
	if _, err := writer.Repositories().New(store.Repository{Name: "r1"}); err != nil {
		t.Fatal(err)
	}
	follow(t, reader, log)
	fetched := func(note time.Time) time.Time {
		t.Helper()
		sn := reader.Snapshot()
		defer sn.Close()
		r, err := sn.Repository("r1")
		if err != nil {
			t.Fatal(err)
		}
		if !note.IsZero() {
			r.NoteFetched(note)
		}
		return r.Fetched()
	}
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	if got := fetched(at); !got.Equal(at) {
		t.Errorf("fetched at %v, want %v", got, at)
	}
	if err := increment(writer, 1); err != nil {
		t.Fatal(err)
	}
	follow(t, reader, log)
	if got := fetched(time.Time{}); !got.Equal(at) {
		t.Errorf("after a change of another node: fetched at %v, want %v", got, at)
	}
}

// TestLogIsAway has changes fail while the log cannot be reached, and succeed then.
func TestLogIsAway(t *testing.T) {
	log := memorylog.New(1, false)
	s := openNode(t, vfs.NewMem(), log)
	defer closeStore(t, s)
	if _, err := s.Repositories().New(store.Repository{Name: "r1"}); err != nil {
		t.Fatal(err)
	}
	log.SetAway(true)
	if err := increment(s, 1); !errors.Is(err, store.ErrAway) || errors.Is(err, store.ErrBroken) {
		t.Errorf("increment without a log: %v", err)
	}
	before, _ := s.Node().Confirmed()
	sn := s.Snapshot()
	if sn.RepositoryCount() != 1 {
		t.Error("without a log nothing can be read")
	}
	sn.Close()
	log.SetAway(false)
	if err := increment(s, 1); err != nil {
		t.Error(err)
	}
	log.BreakNext()
	if err := increment(s, 1); !errors.Is(err, store.ErrBroken) || errors.Is(err, store.ErrConflict) {
		t.Errorf("increment whose answer is lost: %v, want ErrBroken alone", err)
	}
	log.SetAway(false)
	follow(t, s, log)
	if value, err := s.Record(store.RecordCounter, []byte{1}); string(value) != "2" || err != nil {
		t.Errorf("counted to %s, %v, want 2: the lost answer was that the change is made", value, err)
	}
	if after, ok := s.Node().Confirmed(); !ok || !after.After(before) {
		t.Errorf("confirmed at %v and then at %v, %t", before, after, ok)
	}
}

// TestWrongLog opens directories with logs that are not theirs.
func TestWrongLog(t *testing.T) {
	log := memorylog.New(1, false)
	fs := vfs.NewMem()
	s := openNode(t, fs, log)
	for i := range 3 {
		if _, err := s.Repositories().New(store.Repository{Name: fmt.Sprint("r", i)}); err != nil {
			t.Fatal(err)
		}
	}
	closeStore(t, s)
	other := memorylog.New(2, false)
	s = openNode(t, vfs.NewMem(), other)
	for i := range 5 {
		if _, err := s.Repositories().New(store.Repository{Name: fmt.Sprint("r", i)}); err != nil {
			t.Fatal(err)
		}
	}
	closeStore(t, s)
	own := vfs.NewMem()
	s, err := store.Open("data", store.Options{FS: own})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Repositories().New(store.Repository{Name: "r"}); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	cut := memorylog.New(3, false)
	s = openNode(t, vfs.NewMem(), cut)
	for i := range 9 {
		if _, err := s.Repositories().New(store.Repository{Name: fmt.Sprint("r", i)}); err != nil {
			t.Fatal(err)
		}
	}
	closeStore(t, s)
	cut.CutAll()
	for _, c := range []struct {
		name string
		o    store.Options
		want string
	}{
		{"another log", store.Options{FS: fs, Log: other}, "is not the one"},
		{"an empty log", store.Options{FS: fs, Log: memorylog.New(4, false)}, "is not the one"},
		{"another log that was cut", store.Options{FS: fs, Log: cut}, "another cluster"},
		{"no log", store.Options{FS: fs}, "one of several"},
		{"a store of its own", store.Options{FS: own, Log: log}, "a store of its own"},
		{"for reading", store.Options{FS: fs, Log: log, ReadOnly: true}, "for reading"},
	} {
		if s, err := store.Open("data", c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
			if s != nil {
				closeStore(t, s)
			}
		}
	}
	s = openNode(t, fs, log)
	closeStore(t, s)
}

// A node has caught up once its subscribers have heard of all that others changed, also
// where another goroutine tells them.
func TestCatchUpWaitsForSubscribers(t *testing.T) {
	log := memorylog.New(1, false)
	a, b := openNode(t, vfs.NewMem(), log), openNode(t, vfs.NewMem(), log)
	defer closeStore(t, a)
	defer closeStore(t, b)
	hears, goOn := make(chan struct{}), make(chan struct{})
	b.Subscribe(func(store.Applied) {
		hears <- struct{}{}
		<-goOn
	})
	if err := a.Update(func(tx *store.Tx) error {
		tx.Records.Put(store.RecordCounter, []byte{1}, []byte("1"))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	<-hears
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := b.Node().CatchUp(soon); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("caught up while a subscriber had not heard: %v", err)
	}
	close(goOn)
	if err := b.Node().CatchUp(t.Context()); err != nil {
		t.Error(err)
	}
}

// follow waits until a store has the last version of the log.
func follow(t *testing.T, s *store.Store, log *memorylog.Log) {
	t.Helper()
	if err := s.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
}
