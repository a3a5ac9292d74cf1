package store

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestIDs: sets of IDs are as maps are.
func TestIDs(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 9))
		draw := func() (*IDs, map[uint32]bool) {
			s, m := &IDs{}, map[uint32]bool{}
			for range rng.IntN(40) {
				id := rng.Uint32N(1 << (1 + rng.IntN(10)))
				s.Add(id)
				m[id] = true
			}
			return s, m
		}
		a, inA := draw()
		b, inB := draw()
		if rng.IntN(10) == 0 {
			b, inB = nil, nil
		}
		before := slices.Collect(b.All())
		for name, op := range map[string]struct {
			do   func(*IDs)
			want func(id uint32) bool
		}{
			"intersect": {func(s *IDs) { s.Intersect(b) }, func(id uint32) bool { return inA[id] && inB[id] }},
			"subtract":  {func(s *IDs) { s.Subtract(b) }, func(id uint32) bool { return inA[id] && !inB[id] }},
			"join":      {func(s *IDs) { s.Join(b) }, func(id uint32) bool { return inA[id] || inB[id] }},
		} {
			got := a.Clone()
			op.do(got)
			both := maps.Clone(inA)
			maps.Copy(both, inB)
			maps.DeleteFunc(both, func(id uint32, _ bool) bool { return !op.want(id) })
			want := slices.Sorted(maps.Keys(both))
			if g := slices.Collect(got.All()); !slices.Equal(g, want) || got.Len() != len(want) {
				t.Fatalf("seed %d: %s: got %v, want %v", seed, name, g, want)
			}
			for id := range uint32(1200) {
				if got.Has(id) != both[id] {
					t.Fatalf("seed %d: %s: has %d: %t", seed, name, id, got.Has(id))
				}
			}
		}
		if !slices.Equal(slices.Collect(b.All()), before) || a.Len() != len(inA) {
			t.Fatalf("seed %d: an operation changed its operand", seed)
		}
	}
}
