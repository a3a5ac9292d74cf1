package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// writeSymbols runs a whole pass over a shard.
func writeSymbols(t *testing.T, s *store.Store, shard uint32, of map[int][]shard.Symbol, counts shard.SymbolCounts) {
	t.Helper()
	sn := s.Snapshot()
	defer sn.Close()
	v, _ := sn.Shard(shard)
	w := s.NewSymbolWriter()
	if err := w.Begin(v); err != nil {
		t.Fatal(err)
	}
	for i := range v.Header.Documents {
		if err := w.Add(uint16(i), slices.Clone(of[i])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Seal(); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(context.Background(), counts); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// names returns the documents with a name that has the trigrams of literal.
func names(t *testing.T, v shard.View, literal string) []uint16 {
	t.Helper()
	if _, err := v.Documents(); err != nil {
		t.Fatal(err)
	}
	reader := v.ListReader()
	defer reader.Close()
	lists, err := v.SymbolLists(reader)
	if err != nil {
		t.Fatal(err)
	}
	ev := postings.Evaluator{Reader: lists}
	c, err := ev.Eval(&postings.Literal{Runs: []string{literal}, WideFold: literal == "wide"})
	if err != nil {
		t.Fatal(err)
	}
	return c.Docs.Append(nil)
}

func TestSymbolsRoundTrip(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, fs)
	docs, texts := documents(1, 20)
	h := writeShard(t, s, docs, texts)
	other := writeShard(t, s, docs, texts)
	if err := s.Commit(store.Change{Add: []shard.Header{h, other}, Repositories: []*store.Repository{{ID: 1, Name: "r", Shards: []uint32{h.ID, other.ID}}}}); err != nil {
		t.Fatal(err)
	}
	before := s.Snapshot()
	fire := shard.Symbol{Name: "fire", Kind: "function", Container: "Kiln", Language: "C", Line: 3, Column: 7}
	heat := shard.Symbol{Name: "heat", Kind: "member", Container: "Kiln", Language: "C", Line: 2}
	wide := shard.Symbol{Name: "\u212Ailn", Kind: "x", Line: 1}
	writeSymbols(t, s, h.ID, map[int][]shard.Symbol{3: {fire, heat, fire}, 7: {wide}, 9: {{Name: "x", Line: 1}}}, shard.SymbolCounts{Documents: 3, Failed: 2, Unknown: 1})
	for range 2 { // as written, and opened anew
		sn := s.Snapshot()
		v, _ := sn.Shard(h.ID)
		if _, err := v.Documents(); err != nil {
			t.Fatal(err)
		}
		want := shard.SymbolCounts{Version: shard.SymbolVersion, Symbols: 4, Documents: 3, Failed: 2, Unknown: 1}
		if !v.HasSymbols() || *v.Header.Symbols != want {
			t.Errorf("mark: got %v, want %v", v.Header.Symbols, want)
		}
		if got, err := v.Symbols(nil, 3); err != nil || !slices.Equal(got, []shard.Symbol{heat, fire}) {
			t.Errorf("symbols of document 3: got %v, %v; want %v once each", got, err, []shard.Symbol{heat, fire})
		}
		if got, err := v.Symbols(nil, 4); err != nil || len(got) != 0 {
			t.Errorf("symbols of document 4: got %v, %v; want none", got, err)
		}
		for literal, want := range map[string][]uint16{"ire": {3}, "fir": {3}, "ea": {3}, "nosuch": nil, "x": {9}, "wide": {7}} {
			if got := names(t, v, literal); !slices.Equal(got, want) {
				t.Errorf("names with %q: got documents %v, want %v", literal, got, want)
			}
		}
		check(t, v, docs, texts)
		if v, _ := sn.Shard(other.ID); v.HasSymbols() {
			t.Error("the other shard is marked too")
		}
		sn.Close()
		if before != nil {
			if v, _ := before.Shard(h.ID); v.HasSymbols() {
				t.Error("an older snapshot sees the mark")
			}
			before.Close()
			before = nil
		}
		closeStore(t, s)
		s = open(t, fs)
	}
	closeStore(t, s)
}

// A pass that ended before its mark leaves nothing to the next one, and a shard
// that is dropped leaves nothing at all.
func TestSymbolsAgain(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer closeStore(t, s)
	docs, texts := documents(1, 20)
	h := writeShard(t, s, docs, texts)
	if err := s.Commit(store.Change{Add: []shard.Header{h}, Repositories: []*store.Repository{{ID: 1, Name: "r", Shards: []uint32{h.ID}}}}); err != nil {
		t.Fatal(err)
	}
	for round, name := range []string{"first", "other", "third"} {
		writeSymbols(t, s, h.ID, map[int][]shard.Symbol{round: {{Name: name, Line: 1}}}, shard.SymbolCounts{})
		sn := s.Snapshot()
		v, _ := sn.Shard(h.ID)
		for i, literal := range []string{"first", "other", "third"} {
			if got := len(names(t, v, literal)) > 0; got != (i == round) {
				t.Errorf("round %d: %s found: %t", round, literal, got)
			}
			if got, err := v.Symbols(nil, uint16(i)); err != nil || (len(got) > 0) != (i == round) {
				t.Errorf("round %d: document %d has %v, %v", round, i, got, err)
			}
		}
		sn.Close()
	}
	w := s.NewSymbolWriter()
	sn := s.Snapshot()
	v, _ := sn.Shard(h.ID)
	if err := w.Begin(v); err != nil {
		t.Fatal(err)
	}
	sn.Close()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Commit(store.Change{Drop: []uint32{h.ID}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(store.Change{Symbols: map[uint32]shard.SymbolCounts{h.ID: {}}}); err == nil {
		t.Error("a shard that was dropped could be marked")
	}
}

// Many names are spread over the blocks of their document, and none is lost.
func TestSymbolGroups(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer closeStore(t, s)
	docs := []shard.Document{{Repository: 1, Path: "small"}, {Repository: 1, Path: "three"}, {Repository: 1, Path: "next"}}
	h := writeShard(t, s, docs, []string{"x", strings.Repeat("x", 2*postings.BlockBytes+1), "x"})
	if err := s.Commit(store.Change{Add: []shard.Header{h}, Repositories: []*store.Repository{{ID: 1, Name: "r", Shards: []uint32{h.ID}}}}); err != nil {
		t.Fatal(err)
	}
	many := func(n int) (out []shard.Symbol) {
		for i := range n {
			out = append(out, shard.Symbol{Name: fmt.Sprintf("name%05d", i), Kind: "k", Line: uint32(i + 1)})
		}
		return out
	}
	for _, n := range []int{1, 400, 410, 820, 1230, 5000} {
		writeSymbols(t, s, h.ID, map[int][]shard.Symbol{0: many(n), 1: many(n), 2: many(1)}, shard.SymbolCounts{})
		sn := s.Snapshot()
		v, _ := sn.Shard(h.ID)
		for doc, want := range map[uint16][]shard.Symbol{0: many(n), 1: many(n), 2: many(1)} {
			if got, err := v.Symbols(nil, doc); err != nil || !slices.Equal(got, want) {
				t.Errorf("%d names in document %d: got %d, %v", n, doc, len(got), err)
			}
		}
		last := fmt.Sprintf("name%05d", n-1)
		if got, want := names(t, v, last), []uint16{0, 1}; n > 1 && !slices.Equal(got, want) {
			t.Errorf("%s stands in documents %v, want %v", last, got, want)
		}
		group, err := v.SymbolGroup(nil, 1)
		if err != nil || n == 5000 && len(group) > n/2 {
			t.Errorf("the first of three blocks has %d of %d names, %v", len(group), n, err)
		}
		sn.Close()
	}
}
