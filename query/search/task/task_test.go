package task

import (
	"slices"
	"testing"

	"github.com/trawlsearch/trawl/store"
)

// Shards with documents that do not exist for the client are searched
// without lists, which would tell by their lengths what those hold.
func TestWithoutLists(t *testing.T) {
	public := &store.Repository{ID: 1, Name: "public", Shards: []uint32{1, 2}}
	hidden := &store.Repository{ID: 2, Name: "hidden", Shards: []uint32{2}, Readers: &store.Readers{}}
	hidden.History.Shards = []uint32{3}
	for _, tt := range []struct {
		name    string
		brute   bool
		visible func(*store.Repository) bool
		want    [4]bool // of shards 0 to 3
	}{
		{"who sees all", false, nil, [4]bool{}},
		{"who sees some", false, func(r *store.Repository) bool { return r.Readers == nil }, [4]bool{2: true, 3: true}},
		{"the oracle", true, nil, [4]bool{true, true, true, true}},
	} {
		r := &Task{Limits: Limits{Brute: tt.brute}, IsVisible: tt.visible}
		if tt.visible != nil {
			r.hide(slices.Values([]*store.Repository{public, hidden}))
		}
		for shard, want := range tt.want {
			if got := r.WithoutLists(uint32(shard)); got != want {
				t.Errorf("%s: shard %d without lists: %t, want %t", tt.name, shard, got, want)
			}
		}
	}
}
