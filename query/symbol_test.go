package query_test

import (
	"fmt"
	"testing"

	"github.com/trawlsearch/trawl/query"
)

func TestSymbolKindOf(t *testing.T) {
	for word, want := range map[string]query.SymbolKind{
		"func": "function", "member": "field", "enum member": "enum-member", "enumerator": "enum", "typedef": "class",
		"annotation": "type-parameter", "externvar": "", "Function": "",
	} {
		if got := query.SymbolKindOf(word); got != want {
			t.Errorf("SymbolKindOf(%q) = %q, want %q", word, got, want)
		}
		if got := query.SymbolKindOf(word); got != "" {
			if _, err := query.ParseSelect("symbol." + string(got)); err != nil {
				t.Errorf("kind %q cannot be selected: %v", got, err)
			}
		}
	}
}

func TestTruncateSymbols(t *testing.T) {
	m := &query.FileMatch{
		Chunks:  []query.Chunk{{Ranges: make([]query.Range, 2)}},
		Symbols: []query.Symbol{{Name: "a"}, {Name: "b"}, {Name: "c"}},
	}
	for n, want := range map[int]string{1: "1 0", 2: "2 0", 3: "2 1", 4: "2 2", 5: "2 3", 9: "2 3"} {
		cut := query.Truncate(m, n).(*query.FileMatch)
		if got := fmt.Sprint(len(cut.Chunks[0].Ranges), len(cut.Symbols)); got != want || cut.Count() > n {
			t.Errorf("cut to %d: got %s ranges and symbols, want %s", n, got, want)
		}
	}
	if m.Count() != 5 {
		t.Errorf("Count() = %d after cutting, want 5", m.Count())
	}
}
