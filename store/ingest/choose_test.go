package ingest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/shard"
)

// TestChooseGroup: with shards of 100 blocks.
func TestChooseGroup(t *testing.T) {
	m := &Merger{blocks: 100}
	type given struct {
		blocks, documents, dead int
		full                    bool
		commits                 int
	}
	small := given{blocks: 10, documents: 10}
	history := given{blocks: 10, documents: 10, commits: 3}
	tests := []struct {
		name   string
		shards []given
		want   []uint32
	}{
		// small
		{"three small", []given{small, small, small}, nil},
		{"four small", []given{small, {100, 10, 0, false, 0}, small, small, small}, []uint32{1, 3, 4, 5}},
		{"no more than fill one", []given{{24, 9, 0, false, 0}, {24, 9, 0, false, 0}, {24, 9, 0, false, 0}, {24, 9, 0, false, 0}, {24, 9, 0, false, 0}}, []uint32{1, 2, 3, 4}},
		{"small as most are dead", []given{small, small, small, {100, 10, 9, false, 0}}, []uint32{1, 2, 3, 4}},
		// Joined they would be as full as before, for ever.
		{"full", []given{{10, 10, 0, true, 0}, {10, 10, 0, true, 0}, {10, 10, 0, true, 0}, {10, 10, 0, true, 0}, small, small, small}, nil},
		// mostly dead
		{"half dead", []given{{100, 10, 5, false, 0}}, nil},
		{"mostly dead", []given{{100, 10, 0, false, 0}, {100, 10, 6, false, 0}}, []uint32{2}},
		{"full and mostly dead", []given{{10, 10, 6, true, 0}}, []uint32{1}},
		{"none", nil, nil},
		// commits
		{"two small each", []given{small, history, small, history}, nil},
		{"four small with commits", []given{small, history, history, small, history, history}, []uint32{2, 3, 5, 6}},
		{"mostly dead commits", []given{{100, 10, 0, false, 0}, {100, 10, 6, false, 4}}, []uint32{2}},
	}
	for _, tt := range tests {
		var views []shard.View
		for i, s := range tt.shards {
			h := shard.Header{ID: uint32(i + 1), Documents: s.documents, Blocks: s.blocks, Full: s.full, Commits: s.commits}
			v := shard.View{Shard: &shard.Shard{ID: h.ID, Header: h}}
			if s.dead > 0 {
				v.Dead = postings.Full(s.dead)
			}
			views = append(views, v)
		}
		var got []uint32
		for _, v := range m.chooseGroup(views, nil) {
			got = append(got, v.ID)
		}
		slices.Sort(got)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: shards %v are chosen, want %v", tt.name, got, tt.want)
		}
	}
}

// TestTiers: shards of random sizes come one after the other, and groups are joined
// until none is chosen. Few small ones are there at any time, and a block is written
// a few times.
func TestTiers(t *testing.T) {
	const full = 65536
	m := &Merger{blocks: full}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var views []shard.View
		add := func(id uint32, blocks int) {
			h := shard.Header{ID: id, Documents: blocks, Blocks: blocks}
			views = append(views, shard.View{Shard: &shard.Shard{ID: id, Header: h}})
		}
		next, added, written := uint32(1), 0, 0
		for range 2000 {
			blocks := 1 + int(math.Exp(rng.Float64()*math.Log(4000)))
			add(next, blocks)
			next, added = next+1, added+blocks
			for {
				group := m.chooseGroup(views, nil)
				if len(group) == 0 {
					break
				}
				sum := 0
				for _, v := range group {
					sum += v.Header.Blocks
				}
				if len(group) < 2 || sum > full {
					t.Fatalf("seed %d: %d shards of %d blocks are joined", seed, len(group), sum)
				}
				views = slices.DeleteFunc(views, func(v shard.View) bool {
					return slices.ContainsFunc(group, func(g shard.View) bool { return g.ID == v.ID })
				})
				add(next, sum)
				next, written = next+1, written+sum
			}
			small := 0
			for _, v := range views {
				if v.Header.Blocks*smallShare < full {
					small++
				}
			}
			// Fewer than four in each of six tiers, from 16 blocks to half of a shard.
			if small > 3*6 {
				t.Fatalf("seed %d: %d small shards of %d", seed, small, len(views))
			}
		}
		if written > 4*added {
			t.Errorf("seed %d: %d blocks were written for %d", seed, written, added)
		}
	}
}
