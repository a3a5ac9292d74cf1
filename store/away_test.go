package store_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

func FuzzAway(f *testing.F) {
	for _, sets := range [][]*postings.Set{nil, {nil}, {nil, postings.NewSet(1, 5, 9)}, {postings.Full(3000), nil, postings.NewSet(0)}, make([]*postings.Set, store.MaxBranches)} {
		f.Add(store.EncodeAway(sets))
	}
	f.Add(bytes.Repeat([]byte{0}, store.MaxBranches+1))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, value []byte) {
		sets, err := store.DecodeAway(value)
		if err != nil {
			return
		}
		again, err := store.DecodeAway(store.EncodeAway(sets))
		if err != nil || len(again) != len(sets) || len(sets) > store.MaxBranches {
			t.Fatalf("%x: %d sets and %d sets behind encoding again, %v", value, len(sets), len(again), err)
		}
		for i := range sets {
			if !slices.Equal(numbers(sets[i]), numbers(again[i])) {
				t.Errorf("%x: set %d: got %v behind encoding again, want %v", value, i, numbers(again[i]), numbers(sets[i]))
			}
		}
	})
}

func numbers(s *postings.Set) []uint16 {
	if s == nil {
		return nil
	}
	return s.Append(nil)
}

// The sets of branches are switched with all else, outlive the store's being
// closed, and go with their shard or their repository.
func TestAwayIsKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	open := func() *store.Store {
		s, err := store.Open(dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	sets := []*postings.Set{nil, postings.NewSet(2, 7)}
	of := func(shard, repository uint32) store.ShardRepository {
		return store.ShardRepository{Shard: shard, Repository: repository}
	}
	commit := func(c store.Change) {
		t.Helper()
		if err := s.Commit(c); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string, want map[store.ShardRepository]bool) {
		t.Helper()
		sn := s.Snapshot()
		defer sn.Close()
		for key, there := range want {
			v, _ := sn.Shard(key.Shard)
			got := v.Away(key.Repository)
			if there != (len(got) == 2) || there && (got[0] != nil || !slices.Equal(numbers(got[1]), []uint16{2, 7})) {
				t.Errorf("%s: shard %d, repository %d: got %v, want sets: %v", when, key.Shard, key.Repository, got, there)
			}
		}
	}
	commit(store.Change{
		Add:  []shard.Header{{ID: 1, Index: shard.IndexNewest}, {ID: 2, Index: shard.IndexNewest}, {ID: 3, Index: shard.IndexNewest}},
		Away: map[store.ShardRepository][]*postings.Set{of(1, 4): sets, of(1, 5): sets, of(2, 4): sets, of(3, 5): sets},
	})
	before := s.Snapshot()
	check("committed", map[store.ShardRepository]bool{of(1, 4): true, of(1, 5): true, of(2, 4): true, of(2, 5): false, of(3, 5): true})
	commit(store.Change{Drop: []uint32{3}, Away: map[store.ShardRepository][]*postings.Set{of(1, 4): nil}})
	changed := map[store.ShardRepository]bool{of(1, 4): false, of(1, 5): true, of(2, 4): true, of(3, 5): false}
	check("changed", changed)
	if v, _ := before.Shard(1); v.Away(4) == nil {
		t.Error("a snapshot from before sees the change")
	}
	if err := errors.Join(before.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	s = open()
	check("opened again", changed)
	commit(store.Change{Remove: []uint32{4}})
	check("without repository 4", map[store.ShardRepository]bool{of(1, 5): true, of(2, 4): false})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
