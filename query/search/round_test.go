package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/report"
)

// Of many shards those are planned that are needed: what goes first is found
// wherever it is, and a search of one result leaves the others alone.
func TestShardsArePlannedWhenNeeded(t *testing.T) {
	const shards = 20
	var files []doc
	// Where lists say that a shard has nothing, blocks that are not in them would
	// be asked all the same.
	add := func(path, text string) {
		files = append(files, doc{repo: "r", path: path, text: text, indexed: true})
	}
	special := map[int][2]string{
		7:  {"z/def.go", "func Kiln() {}\n"},
		10: {"z/part.go", "func hotGlazeDoor() { glaze() }\n"},
		12: {"z/fire.go", "fire\n"},
		14: {"z/phrase.go", "ash salt clay\n"},
		17: {"z/both.go", "type Soda struct{}\nsoda\n"},
	}
	for n := range shards {
		if s, ok := special[n]; ok {
			add(s[0], s[1])
		}
		for len(files) < 100*(n+1) {
			add(fmt.Sprintf("f%04d.go", len(files)), "x := Kiln(glaze, fire, soda) // clay, salt or ash; brick mortar plain\n")
		}
	}
	c := newCorpus(t, 100, nil, files)
	c.symbols(t)
	for _, tt := range []struct {
		query, first string
		// planned is how many shards are for a search of one result.
		planned int
	}{
		{"type:file plain", "f0000.go", 1},
		{"type:file Kiln", "z/def.go", 2},
		{"type:file glaze", "z/part.go", 2},
		{"fire", "z/fire.go", 2},
		{"ash salt clay", "z/phrase.go", shards},
		{"brick mortar", "f0000.go", 2}, // which have as many as are asked for the phrase
		{"type:file soda", "z/both.go", 2},
		{"type:file (soda or glaze)", "z/both.go", 3},
		{"type:path fire", "z/fire.go", shards}, // no other has that name
		{"lang:go", "f0000.go", 1},
	} {
		for _, set := range []search.Settings{{Workers: 1, TopDocuments: 8}, {Workers: 2, TopDocuments: 8}, {Workers: 5, TopDocuments: 8}, {TopDocuments: 8, Brute: true}} {
			all, _ := c.planned(t, set, tt.query+" count:all")
			if got := all.paths(); len(got) == 0 || got[0] != tt.first {
				t.Errorf("%q with %+v: got %.1q first, want %s", tt.query, set, got, tt.first)
			}
			for _, n := range []int{1, 3, 30, 200} {
				limited, planned := c.planned(t, set, fmt.Sprintf("%s count:%d", tt.query, n))
				if got, want := limited.lines(), firstOf(all, n); !slices.Equal(got, want) {
					t.Errorf("%q count:%d with %+v: %s", tt.query, n, set, firstDifference(got, want))
				}
				if n == 1 && planned != tt.planned && !set.Brute {
					t.Errorf("%q count:1 with %+v: %d shards were planned, want %d", tt.query, set, planned, tt.planned)
				}
			}
			if _, planned := c.planned(t, set, tt.query+" count:all"); planned != shards {
				t.Errorf("%q with %+v: %d shards were planned for all results, want %d", tt.query, set, planned, shards)
			}
		}
	}
}

// TestOrderWithoutAllPlans: of a shard with a single candidate, lists that are
// confined to it would say that it may define anything. What goes first is the
// same whether such a shard is planned before or not.
func TestOrderWithoutAllPlans(t *testing.T) {
	const most = 256 // groups of definitions that hold one of several words
	var files []doc
	add := func(n int, path, text string) {
		for i := range n {
			files = append(files, doc{repo: "r", path: fmt.Sprintf(path, i), text: text, indexed: true})
		}
	}
	add(44, "a%d.go", "salt clay\n")
	add(most, "b%d.go", "func hotSaltPan() {} // salt clay\n")
	add(1, "c%d.go", "func other() {} // salt, clay\n")
	add(20, "d%d.go", "func other() {}\n")
	c := newCorpus(t, 44+most, nil, files)
	c.symbols(t)
	for _, count := range []string{"count:3", "count:all"} {
		got, _ := c.planned(t, search.Settings{TopDocuments: 8}, "type:file salt clay "+count)
		want, _ := c.planned(t, search.Settings{TopDocuments: 8, Brute: true}, "type:file salt clay "+count)
		if g, w := got.full(), want.full(); !slices.Equal(g, w) || got.paths()[0] != "b0.go" {
			t.Errorf("%s: %s first\n%s", count, got.paths()[0], firstDifference(g, w))
		}
	}
}

// planned searches and counts the shards that were planned.
func (c *corpus) planned(t testing.TB, set search.Settings, text string) (a answered, shards int) {
	t.Helper()
	trace := &report.Trace{}
	a = c.search(t, set, search.Options{Trace: trace}, text, query.Keyword)
	for _, s := range trace.Steps() {
		if strings.HasPrefix(s.Name, "plan shard") {
			shards++
		}
	}
	return a, shards
}

// firstOf returns what is left of an answer with a limit.
func firstOf(a answered, limit int) []string {
	var cut answered
	for _, m := range a.matches {
		if limit <= 0 {
			break
		}
		m = query.Truncate(m, limit)
		limit -= m.Count()
		cut.matches = append(cut.matches, m)
	}
	return cut.lines()
}
