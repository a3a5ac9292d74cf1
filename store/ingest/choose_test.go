package ingest

import (
	"slices"
	"testing"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
)

// TestChooseGroup: with shards of 100 blocks.
func TestChooseGroup(t *testing.T) {
	ix := &Indexer{opts: Options{ShardBlocks: 100}}
	type shard struct {
		blocks, documents, dead int
		crowded                 bool
	}
	small := shard{blocks: 10, documents: 10}
	tests := []struct {
		name   string
		shards []shard
		want   []uint32
	}{
		// small
		{"three small", []shard{small, small, small}, nil},
		{"four small", []shard{small, {100, 10, 0, false}, small, small, small}, []uint32{1, 3, 4, 5}},
		{"no more than fill one", []shard{{24, 9, 0, false}, {24, 9, 0, false}, {24, 9, 0, false}, {24, 9, 0, false}, {24, 9, 0, false}}, []uint32{1, 2, 3, 4}},
		{"small as most are dead", []shard{small, small, small, {100, 10, 9, false}}, []uint32{1, 2, 3, 4}},
		// Joined they would be as crowded as before, for ever.
		{"crowded", []shard{{10, 10, 0, true}, {10, 10, 0, true}, {10, 10, 0, true}, {10, 10, 0, true}, small, small, small}, nil},
		// mostly dead
		{"half dead", []shard{{100, 10, 5, false}}, nil},
		{"mostly dead", []shard{{100, 10, 0, false}, {100, 10, 6, false}}, []uint32{2}},
		{"crowded and mostly dead", []shard{{10, 10, 6, true}}, []uint32{1}},
		{"none", nil, nil},
	}
	for _, tt := range tests {
		var views []store.View
		for i, s := range tt.shards {
			h := store.ShardHeader{ID: uint32(i + 1), Documents: s.documents, Blocks: s.blocks, Crowded: s.crowded}
			v := store.View{Shard: &store.Shard{ID: h.ID, Header: h}}
			if s.dead > 0 {
				v.Dead = postings.Full(s.dead)
			}
			views = append(views, v)
		}
		var got []uint32
		for _, v := range ix.chooseGroup(views) {
			got = append(got, v.ID)
		}
		slices.Sort(got)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: shards %v are chosen, want %v", tt.name, got, tt.want)
		}
	}
}
