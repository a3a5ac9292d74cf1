package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// TestNewerIndex: a store with a shard that only a newer program can read is
// refused with both numbers; what has no number is damaged, and set aside.
func TestNewerIndex(t *testing.T) {
	for _, tt := range []struct {
		index shard.IndexVersion
		// refused is what the error says, "" for a shard that is set aside.
		refused string
	}{
		{shard.IndexNewest + 1, "has index version 4, this program reads up to 3"},
		{99, "has index version 99, this program reads up to 3"},
		{0, ""},
		{-1, ""},
	} {
		fs := vfs.NewMem()
		s := open(t, fs)
		docs, texts := documents(3, 5)
		h := writeShard(t, s, docs, texts)
		h.Index = tt.index
		if err := s.Commit(store.Change{Add: []shard.Header{h}, Repositories: []*store.Repository{{ID: 1, Name: "r", Shards: []uint32{h.ID}}}}); err != nil {
			t.Fatal(err)
		}
		closeStore(t, s)
		s, err := store.Open("data", store.Options{FS: fs})
		var ie *store.IndexError
		if errors.As(err, &ie) != (tt.refused != "") || err != nil && !strings.Contains(err.Error(), tt.refused) {
			t.Errorf("opening a store with index version %d: got %v, want %q", tt.index, err, tt.refused)
		}
		if err != nil {
			continue
		}
		if aside := s.Health().Aside; len(aside) != 1 || aside[0].Shard != h.ID {
			t.Errorf("index version %d: set aside are %+v, want shard %d", tt.index, aside, h.ID)
		}
		closeStore(t, s)
	}
}
