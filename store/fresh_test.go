package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/cluster/memorylog"
	"github.com/trawlsearch/trawl/store/shard"
)

func TestFreshness(t *testing.T) {
	at := time.Now()
	for _, c := range []struct {
		name   string
		shared bool
		grace  time.Duration
		now    time.Time
		want   bool
	}{
		{"a store of one machine", false, 0, at.Add(time.Hour), true},
		{"confirmed now", true, 0, at, true},
		{"a second ago", true, 0, at.Add(time.Second), true},
		{"more than a second ago", true, 0, at.Add(time.Second + 1), false},
		{"a grace that is too short", true, time.Millisecond, at.Add(time.Second), true},
		{"within the grace", true, time.Minute, at.Add(time.Minute), true},
		{"behind the grace", true, time.Minute, at.Add(time.Minute + 1), false},
		// The clocks do not agree.
		{"no monotonic clock", true, 0, at.Round(0).Add(time.Hour), false},
		{"a clock that was set back", true, 0, at.Round(0).Add(-time.Hour), false},
	} {
		f := store.Freshness{Confirmed: func() (time.Time, bool) { return at, c.shared }, Grace: c.grace, Now: func() time.Time { return c.now }}
		if got := f.Current(); got != c.want {
			t.Errorf("%s: current %t, want %t", c.name, got, c.want)
		}
	}
}

// TestCatchUp has a node know what another one has changed, and not wait for a log that
// is away.
func TestCatchUp(t *testing.T) {
	log := memorylog.New(1, false)
	writer, reader := openNode(t, vfs.NewMem(), log), openNode(t, vfs.NewMem(), log)
	defer closeStore(t, writer)
	defer closeStore(t, reader)
	for i := range 3 {
		if err := putRecord(writer, byte(i)); err != nil {
			t.Fatal(err)
		}
		if err := reader.Node().CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := reader.Record(store.RecordCounter, []byte{byte(i)}); err != nil {
			t.Errorf("record %d: %v", i, err)
		}
	}
	log.SetAway(true)
	if err := reader.Node().CatchUp(t.Context()); !errors.Is(err, store.ErrAway) {
		t.Errorf("without a log: %v, want ErrAway", err)
	}
	alone, err := store.Open("data", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, alone)
	if err := alone.Node().CatchUp(t.Context()); err != nil {
		t.Errorf("a store of one machine: %v", err)
	}
}

// TestRefusalsAreCurrent has a transaction fail on what its node lacks: it is run again
// with what another node has changed.
func TestRefusalsAreCurrent(t *testing.T) {
	log := memorylog.New(1, false)
	writer, reader := openNode(t, vfs.NewMem(), log), openNode(t, vfs.NewMem(), log)
	defer closeStore(t, writer)
	defer closeStore(t, reader)
	for i := range 20 {
		if err := putRecord(writer, byte(i)); err != nil {
			t.Fatal(err)
		}
		err := reader.Update(func(tx *store.Tx) error {
			_, err := tx.Record(store.RecordCounter, []byte{byte(i)})
			tx.Records.Delete(store.RecordCounter, []byte{byte(i)})
			return err
		})
		if err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
	}
	runs := 0
	err := reader.Update(func(tx *store.Tx) error {
		runs++
		_, err := tx.Record(store.RecordCounter, []byte{99})
		return err
	})
	if !errors.Is(err, store.ErrNotFound) || runs > 2 {
		t.Errorf("a record that there is not: %v after %d runs", err, runs)
	}
}

func putRecord(s *store.Store, id byte) error {
	var c store.Records
	c.Put(store.RecordCounter, []byte{id}, []byte("1"))
	return s.CommitRecords(&c)
}

// TestConfirmedWithoutDocuments has a node lack the run of a shard, and says what may
// follow in the log for it to know all of users, credentials and rights.
func TestConfirmedWithoutDocuments(t *testing.T) {
	readers := func(of *store.Readers) func(s *store.Store, _ shard.Header) error {
		return func(s *store.Store, _ shard.Header) error {
			return s.Update(func(tx *store.Tx) error { _, err := tx.SetReaders("r0", of); return err })
		}
	}
	put := func(kind store.RecordKind) func(s *store.Store, _ shard.Header) error {
		return func(s *store.Store, _ shard.Header) error {
			return s.Update(func(tx *store.Tx) error { tx.Records.Put(kind, []byte("0001"), []byte("x")); return nil })
		}
	}
	tests := []struct {
		name   string
		change func(s *store.Store, _ shard.Header) error
		known  bool
	}{
		{"another shard", func(s *store.Store, h shard.Header) error { return s.Commit(store.Change{Add: []shard.Header{h}}) }, true},
		{"generation", func(s *store.Store, _ shard.Header) error { return increment(s, 0) }, false}, // it counts in a record as well
		{"facts", func(s *store.Store, _ shard.Header) error {
			stars := 7
			_, err := s.Repositories().ChangeFacts("r0", store.FactsChange{Stars: &stars})
			return err
		}, true},
		{"private", func(s *store.Store, _ shard.Header) error {
			private := true
			_, err := s.Repositories().ChangeFacts("r0", store.FactsChange{Private: &private})
			return err
		}, false},
		{"new repository", func(s *store.Store, _ shard.Header) error {
			_, err := s.Repositories().New(store.Repository{Name: "r9"})
			return err
		}, true},
		{"asked", put(store.RecordAsked), true},
		{"same readers", readers(&store.Readers{Users: []uint32{7}}), true},
		{"readers", readers(&store.Readers{Users: []uint32{8}}), false},
		{"everyone", readers(nil), false},
		{"token", put(store.RecordToken), false},
		{"session", put(store.RecordSession), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newSite()
			a, b := w.node(t), w.node(t)
			defer closeStore(t, a)
			defer closeStore(t, b)
			if _, err := a.Repositories().New(store.Repository{Name: "r0", Readers: &store.Readers{Users: []uint32{7}}}); err != nil {
				t.Fatal(err)
			}
			follow(t, b, w.log)
			var headers []shard.Header
			for range 2 {
				docs, texts := soundDocuments(3)
				headers = append(headers, writeShard(t, a, docs, texts))
			}
			w.folder.away.Store(true)
			if err := a.Commit(store.Change{Add: headers[:1]}); err != nil {
				t.Fatal(err)
			}
			if err := b.Node().CatchUp(t.Context()); err != nil {
				t.Errorf("not current without a shard: %v", err)
			}
			if err := test.change(a, headers[1]); err != nil {
				t.Fatal(err)
			}
			if err := b.Node().CatchUp(t.Context()); (err == nil) != test.known || err != nil && !errors.Is(err, store.ErrAway) {
				t.Errorf("current: %v, want %t", err, test.known)
			}
			w.folder.away.Store(false)
			follow(t, b, w.log)
			if got, want := b.SharedRecords(), w.log.All(); got != want {
				t.Errorf("with objects again the node has\n%s\nthe log has\n%s", got, want)
			}
		})
	}
}
