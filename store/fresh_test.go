package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/cluster/memorylog"
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
		if err := reader.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := reader.Record(store.RecordCounter, []byte{byte(i)}); err != nil {
			t.Errorf("record %d: %v", i, err)
		}
	}
	log.SetAway(true)
	if err := reader.CatchUp(t.Context()); !errors.Is(err, store.ErrAway) {
		t.Errorf("without a log: %v, want ErrAway", err)
	}
	alone, err := store.Open("data", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, alone)
	if err := alone.CatchUp(t.Context()); err != nil {
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
