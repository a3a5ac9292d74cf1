package shard

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestSymbolFinder(t *testing.T) {
	symbols := []Symbol{
		{Name: "spin_lock", Kind: "function", Container: "x", Line: 3, Column: 9},
		{Name: "Spin_Lock", Kind: "macro", Line: 9},
		{Name: "x", Kind: "member", Language: "C", Line: 9, Column: 4},
		{Name: strings.Repeat("n", 200), Kind: "member", Line: 12},
		{Name: "spinspin_lock", Kind: "function", Line: 900},
	}
	group := appendSymbols(nil, symbols)
	for _, tt := range []struct {
		whole []string
		part  string
		want  []int
	}{
		{whole: []string{"spin_lock"}, want: []int{0, 1}},
		{whole: []string{"absent", "x"}, want: []int{2}},
		{whole: []string{"spin"}},
		{whole: []string{"lock"}},
		{whole: []string{strings.Repeat("n", 200)}, want: []int{3}},
		{whole: []string{strings.Repeat("n", 199)}},
		{whole: []string{strings.Repeat("n", 201)}},
		{whole: []string{"function"}}, // a word of the group is no name
		{part: "in_l", want: []int{0, 1, 4}},
		{part: "nn", want: []int{3}},
		{part: "spin", want: []int{0, 1, 4}},
		{part: "absent"},
		{part: strings.Repeat("n", 201)},
		{whole: []string{"x"}, part: "k", want: []int{0, 1, 2, 4}},
		{whole: []string{"x", "spin_lock"}, want: []int{0, 1, 2}},
		{}, // nothing is wanted
	} {
		var want []Symbol
		for _, i := range tt.want {
			want = append(want, symbols[i])
		}
		finder := NewSymbolFinder(tt.whole, tt.part)
		for range 2 { // a finder is used for many groups
			if got, err := finder.find(nil, group); err != nil || !slices.Equal(got, want) {
				t.Errorf("%.40q, part %.40q: found %v, %v; want %v", tt.whole, tt.part, got, err, want)
			}
		}
	}
}

// FuzzSymbolFinder: in a group that can be read it finds what going through all
// of it does; in others it finds something, or fails.
func FuzzSymbolFinder(f *testing.F) {
	f.Add(appendSymbols(nil, []Symbol{{Name: "spin_lock", Kind: "function", Line: 3}, {Name: "Lock", Line: 900, Column: 200}}), "lock", "spin_lock", "in")
	f.Add(appendSymbols(nil, []Symbol{{Name: "\x04lock", Kind: "\x04lock", Line: 3}, {Name: "lock\x04lock", Line: 3}}), "lock", "\x04lock", "\x04")
	f.Add([]byte{0, 1, 2, 0, 0, 0, 0xff}, "a", "b", "")
	f.Fuzz(func(t *testing.T, value []byte, one, other, part string) {
		one, other, part = foldedName(one), foldedName(other), foldedName(part)
		got, err := NewSymbolFinder([]string{one, other}, part).find(nil, value)
		all, broken := decodeSymbols(nil, value)
		if broken != nil {
			return
		}
		all = slices.DeleteFunc(all, func(s Symbol) bool {
			name := foldedName(s.Name)
			return name == "" || name != one && name != other && (part == "" || !strings.Contains(name, part))
		})
		if err != nil || !slices.Equal(got, all) {
			t.Errorf("found %v, %v; want %v", got, err, all)
		}
	})
}

// foldedName is name as lists have it.
func foldedName(name string) string {
	b := []byte(name)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c - 'A' + 'a'
		}
	}
	return string(b)
}

// BenchmarkFindSymbols looks for a name that is not there, one that is, and a
// part of many, in a group as large as they get.
func BenchmarkFindSymbols(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	words := []string{"struct", "lock", "page", "init", "get", "put", "dev", "task", "irq", "map", "node", "alloc"}
	var symbols []Symbol
	for size := 0; size < groupBytes; {
		name := fmt.Sprintf("%s_%s_%d", words[rng.IntN(len(words))], words[rng.IntN(len(words))], rng.IntN(100))
		symbols = append(symbols, Symbol{Name: name, Kind: []string{"function", "struct", "member"}[rng.IntN(3)], Language: "C", Line: uint32(3 * len(symbols)), Column: uint32(rng.IntN(90))})
		size += len(name) + 1
	}
	group := appendSymbols(nil, symbols)
	for _, bb := range []struct {
		name   string
		finder *SymbolFinder
	}{
		{"absent", NewSymbolFinder([]string{"struct"}, "")},
		{"whole", NewSymbolFinder([]string{symbols[len(symbols)/2].Name}, "")},
		{"part", NewSymbolFinder(nil, "struct")},
	} {
		b.Run("name="+bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(group)))
			b.ReportAllocs()
			var found []Symbol
			for b.Loop() {
				var err error
				if found, err = bb.finder.find(found[:0], group); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(found)), "symbols/op")
		})
	}
}
