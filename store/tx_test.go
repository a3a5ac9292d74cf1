package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// TestUpdateIsSerial has many goroutines add to counters, in records and in records
// of repositories, with an authority that also refuses changes for nothing. No
// addition is lost or made twice.
func TestUpdateIsSerial(t *testing.T) {
	const workers, rounds, counters = 8, 30, 3
	o, refused := store.Options{FS: vfs.NewMem()}.WithConflicts(rand.NewPCG(1, 2))
	s, err := store.Open("data", o)
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	for i := range counters {
		if _, err := s.Repositories().New(store.Repository{Name: fmt.Sprint("r", i)}); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for n := range rounds {
				i := (w + n) % counters
				err := increment(s, i)
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	sn := s.Snapshot()
	defer sn.Close()
	for i := range counters {
		value, err := s.Record(store.RecordCounter, []byte{byte(i)})
		r := sn.RepositoryByID(uint32(i + 1))
		if want := workers * rounds / counters; string(value) != fmt.Sprint(want) || r.Generation != uint64(want) || err != nil {
			t.Errorf("counter %d: record %s, repository %d, %v; want %d", i, value, r.Generation, err, want)
		}
	}
	if refused() == 0 {
		t.Error("no change was refused")
	}
}

// TestConflict lists what overtakes a transaction, and what does not.
func TestConflict(t *testing.T) {
	user := func(id string) func(*store.Tx) {
		return func(tx *store.Tx) { tx.Records.Put(store.RecordUser, []byte(id), []byte("x")) }
	}
	facts := func(tx *store.Tx) {
		r, err := tx.Repository("kiln")
		if err != nil {
			t.Fatal(err)
		}
		next := *r
		next.Generation++
		tx.Change.Repositories = []*store.Repository{&next}
	}
	readKiln := func(tx *store.Tx) {
		if _, err := tx.Repository("kiln"); err != nil {
			t.Fatal(err)
		}
	}
	dead := func(tx *store.Tx) { tx.Change.Dead = map[uint32]*postings.Set{1: postings.Full(1)} }
	away := func(tx *store.Tx) {
		tx.Change.Away = map[store.ShardRepository][]*postings.Set{{Shard: 1, Repository: 9}: {postings.Full(1)}}
	}
	drop := func(tx *store.Tx) { tx.Change.Drop = []uint32{1} }
	get := func(id string) func(*store.Tx) {
		return func(tx *store.Tx) {
			if _, err := tx.Record(store.RecordUser, []byte(id)); err != nil && !errors.Is(err, store.ErrNotFound) {
				t.Fatal(err)
			}
		}
	}
	list := func(prefix string) func(*store.Tx) {
		return func(tx *store.Tx) {
			in := store.RecordRange{Kind: store.RecordUser, Prefix: []byte(prefix)}
			if err := tx.EachRecord(in, func(_, _ []byte) (bool, error) { return false, nil }); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name string
		// first is what a transaction reads, then what it writes; meanwhile is another.
		first, then, meanwhile func(*store.Tx)
		overtaken              bool
	}{
		{"another record", get("a"), user("a"), user("b"), false},
		{"what it read", get("a"), user("b"), user("a"), true},
		{"what it read of one that begins alike", get("a"), user("x"), user("aa"), false},
		{"what it writes", get("x"), user("a"), user("a"), true},
		{"a new one in a list", list("a"), user("x"), user("ab"), true},
		{"one beside a list", list("a"), user("x"), user("b"), false},
		{"the record of a repository that it writes", readKiln, facts, facts, true},
		{"the record of a repository that it read", readKiln, user("x"), facts, true},
		{"dead documents of a shard that it drops", readKiln, drop, dead, true},
		{"exclusions of a shard that it drops", readKiln, drop, away, true},
		{"a shard beside what it read", readKiln, user("x"), drop, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, vfs.NewMem())
			defer closeStore(t, s)
			if _, err := s.Repositories().New(store.Repository{Name: "kiln"}); err != nil {
				t.Fatal(err)
			}
			docs, texts := documents(5, 10)
			if err := s.Commit(store.Change{Add: []shard.Header{writeShard(t, s, docs, texts)}}); err != nil {
				t.Fatal(err)
			}
			tries := 0
			err := s.Update(func(tx *store.Tx) error {
				c.first(tx)
				if tries++; tries == 1 {
					err := s.Update(func(other *store.Tx) error {
						c.meanwhile(other)
						return nil
					})
					if err != nil {
						return err
					}
				}
				c.then(tx)
				return nil
			})
			if want := map[bool]int{false: 1, true: 2}[c.overtaken]; tries != want || err != nil {
				t.Errorf("%d tries, %v; want %d", tries, err, want)
			}
		})
	}
}

// TestConflictOfOldSnapshot: a change prepared from a version whose successors are
// no longer remembered is refused, and one that is still comparable is not.
func TestConflictOfOldSnapshot(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer closeStore(t, s)
	r, err := s.Repositories().New(store.Repository{Name: "kiln"})
	if err != nil {
		t.Fatal(err)
	}
	sn := s.Snapshot()
	defer sn.Close()
	commit := func() error {
		next := *r
		return sn.Commit(store.Change{Repositories: []*store.Repository{&next}})
	}
	fill := func(n int) {
		var c store.Records
		for i := range n {
			c.Put(store.RecordJobResult, fmt.Append(nil, i), []byte("x"))
		}
		if err := s.CommitRecords(&c); err != nil {
			t.Fatal(err)
		}
	}
	fill(100)
	if err := commit(); err != nil {
		t.Errorf("after changes of other records: %v", err)
	}
	if err := commit(); !errors.Is(err, store.ErrConflict) {
		t.Errorf("after a change of the record: %v, want ErrConflict", err)
	}
	later := s.Snapshot()
	defer later.Close()
	sn = later
	for range 4 {
		fill(20_000)
	}
	if err := commit(); !errors.Is(err, store.ErrConflict) {
		t.Errorf("after more changes than are remembered: %v, want ErrConflict", err)
	}
}

// TestSubscribe: subscribers hear of every version, once searches see it, and may
// use the store.
func TestSubscribe(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer closeStore(t, s)
	var heard []store.Applied
	s.Subscribe(func(a store.Applied) {
		heard = append(heard, a)
		for _, c := range a.Repositories {
			sn := s.Snapshot()
			if got := sn.RepositoryByID(1); c.After != nil && got != c.After {
				t.Errorf("version %d: a snapshot has %+v, want %+v", a.Version, got, c.After)
			}
			sn.Close()
			if c.Before == nil { // a subscriber makes a change
				var records store.Records
				records.Put(store.RecordSettings, []byte("s"), []byte("x"))
				if err := s.CommitRecords(&records); err != nil {
					t.Error(err)
				}
			}
		}
	})
	r, err := s.Repositories().New(store.Repository{Name: "kiln"})
	if err != nil {
		t.Fatal(err)
	}
	stars := 2
	if _, err := s.Repositories().ChangeFacts("kiln", store.FactsChange{Stars: &stars}); err != nil {
		t.Fatal(err)
	}
	docs, texts := documents(5, 10)
	if err := s.Commit(store.Change{Add: []shard.Header{writeShard(t, s, docs, texts)}}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time, nothing changes
		if err := s.Commit(store.Change{Remove: []uint32{r.ID}}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, a := range heard {
		text := fmt.Sprintf("%d [%s] %t", a.Version, a.Records, a.Shards)
		for _, c := range a.Repositories {
			text += fmt.Sprintf(" %t-%t", c.Before != nil, c.After != nil)
		}
		got = append(got, text)
	}
	first := heard[0].Version
	want := []string{
		fmt.Sprint(first, " [] false false-true"), fmt.Sprint(first+1, " [g] false"), fmt.Sprint(first+2, " [] false true-true"),
		fmt.Sprint(first+3, " [] true"), fmt.Sprint(first+4, " [O] false true-false"), fmt.Sprint(first+5, " [O] false"), // its CODEOWNERS file, if one was uploaded, goes with it
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
