package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/store"
)

// denseFiles are files in which words stand very often before what makes one
// file better than another: a definition, a phrase, words on one line.
func denseFiles(rng *rand.Rand, n int) []doc {
	var files []doc
	words := []string{"Kiln", "fire", "glaze", "kiln_fire", "Glaze"}
	for i := range n {
		var b strings.Builder
		for range rng.IntN(40) {
			b.WriteString(words[rng.IntN(len(words))])
			b.WriteString([]string{"\n", "\n\n", "x\n", " "}[rng.IntN(4)])
		}
		b.WriteString([]string{"", "func Kiln() {}\n", "Kiln fire\n", "glaze a fire\n", "\ntype glaze\nfire\n"}[rng.IntN(5)])
		if rng.IntN(40) == 0 {
			b.WriteString(strings.Repeat("// nothing\n", 8000))
			b.WriteString("Kiln fire glaze\nfunc fire()\n")
		}
		path := fmt.Sprintf("%s/%s%03d%s", []string{"a", "b/glaze", "c"}[rng.IntN(3)], []string{"f", "fire", "x"}[rng.IntN(3)], i, []string{".go", ".c", ".md"}[rng.IntN(3)])
		files = append(files, doc{repo: []string{"one", "two"}[rng.IntN(2)], path: path, text: b.String(), quality: byte(rng.IntN(3)), indexed: rng.IntN(9) > 0})
	}
	return files
}

// A limit cuts an order, it does not choose another: the first results of any
// limit are the first of all, whatever the shards, caches and workers.
func TestLimitCutsTheOrder(t *testing.T) {
	queries := []string{"Kiln fire", "fire", "glaze fire kiln", "Kiln or glaze", "type:symbol Kiln", "fire select:file", "kiln select:content",
		"glaze file:fire", "/fi.e/ glaze", "Kiln fire repo:one", "fire select:file.directory", "(Kiln repo:one) or (fire repo:two)", "kiln_fire case:yes", "one"}
	sizes := []int{30, 100, 200}
	if race.Enabled {
		sizes = sizes[:1]
	}
	for seed, size := range sizes {
		for _, blocks := range []int{1, 40, 1000} {
			rng := rand.New(rand.NewPCG(uint64(seed), uint64(blocks)))
			fs := vfs.NewMem()
			c := newCorpusOn(t, fs, blocks, nil, denseFiles(rng, size))
			c.symbols(t)
			for _, cache := range []int64{8 << 20, 1} {
				c.close(t)
				var err error
				if c.st, err = store.Open("data", store.Options{FS: fs, CacheBytes: cache}); err != nil {
					t.Fatal(err)
				}
				c.limitsCut(t, rng, queries)
			}
			c.close(t)
		}
	}
}

// limitsCut asks each of the queries with several limits.
func (c *corpus) limitsCut(t *testing.T, rng *rand.Rand, queries []string) {
	t.Helper()
	for _, text := range queries {
		all := c.search(t, search.Settings{}, search.Options{}, text+" count:all", query.Keyword).units()
		if len(all) == 0 {
			t.Errorf("%q finds nothing, so this says little", text)
		}
		for _, limit := range []int{1, 2, 3, 10, 100, 1 + rng.IntN(len(all)+1)} {
			set := search.Settings{Workers: 1 + rng.IntN(4)}
			got := c.try(context.Background(), t, set, search.Options{Display: -1}, fmt.Sprintf("%s count:%d", text, limit), nil).units()
			if want := all[:min(limit, len(all))]; !slices.Equal(got, want) {
				t.Fatalf("%q: count:%d is not the beginning of count:all\n%s", text, limit, firstDifference(got, want))
			}
		}
	}
}

// A limit counts matches, of which one file may have them all. Who wants files
// asks for files, and gets them in the same order.
func TestLimitOfFiles(t *testing.T) {
	var files []doc
	for i := range 30 {
		files = append(files, doc{repo: "r", path: fmt.Sprintf("f%02d", i), text: strings.Repeat("ox\n", 30)})
	}
	c := newCorpus(t, 10, nil, files)
	paths := func(text string) []string {
		return c.search(t, search.Settings{}, search.Options{}, text, query.Keyword).paths()
	}
	if got := paths("type:file ox count:10"); len(got) != 1 {
		t.Errorf("ten matches are of %d files, want the first only", len(got))
	}
	all := paths("type:file ox count:all")
	if got := paths("type:file ox select:file count:10"); !slices.Equal(got, all[:10]) {
		t.Errorf("select:file count:10 gives %q, want %q", got, all[:10])
	}
}
