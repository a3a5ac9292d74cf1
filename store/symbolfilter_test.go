package store

import (
	"slices"
	"strings"
	"testing"
)

// A group is left unread only if it has none of the wanted names.
func TestSymbolFilter(t *testing.T) {
	symbols := []Symbol{
		{Name: "spin_lock", Kind: "function", Line: 3, Column: 9},
		{Name: "Spin_Lock", Kind: "macro", Line: 9},
		{Name: "x", Kind: "member", Line: 9, Column: 4},
		{Name: strings.Repeat("n", 200), Kind: "member", Line: 12},
	}
	group := appendSymbols(nil, symbols)
	for _, tt := range []struct {
		filter SymbolFilter
		may    bool
		lines  []uint32
	}{
		// whole names, in either case
		{SymbolFilter{Whole: []string{"spin_lock"}}, true, []uint32{3, 9}},
		{SymbolFilter{Whole: []string{"absent", "x"}}, true, []uint32{9}},
		{SymbolFilter{Whole: []string{"spin"}}, false, nil},
		{SymbolFilter{Whole: []string{"lock"}}, false, nil},
		{SymbolFilter{Whole: []string{strings.Repeat("n", 200)}}, true, []uint32{12}},
		{SymbolFilter{Whole: []string{strings.Repeat("n", 201)}}, true, nil},
		// words of the group are no names
		{SymbolFilter{Whole: []string{"function"}}, true, nil},
		// parts
		{SymbolFilter{Part: "in_l"}, true, []uint32{3, 9}},
		{SymbolFilter{Part: "absent"}, true, nil},
		{SymbolFilter{Whole: []string{"x"}, Part: "k"}, true, []uint32{3, 9, 9}},
		// nothing is wanted
		{SymbolFilter{}, false, nil},
	} {
		if got := tt.filter.mayTake(group); got != tt.may {
			t.Errorf("%.40q may take some of the group: %t, want %t", tt.filter, got, tt.may)
		}
		found, err := decodeSymbols(nil, group, tt.filter.takes)
		if err != nil {
			t.Fatal(err)
		}
		var lines []uint32
		for _, s := range found {
			lines = append(lines, s.Line)
		}
		if !slices.Equal(lines, tt.lines) {
			t.Errorf("%.40q takes the symbols of lines %v, want %v", tt.filter, lines, tt.lines)
		}
	}
}
