package search_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
)

// TestJudged asks the queries of a small tree and wants the files that a person
// wants: testdata/judged.txtar holds both. trawl-bench rank does the same with
// Go's source and the kernel.
func TestJudged(t *testing.T) {
	data, err := os.ReadFile("testdata/judged.txtar")
	if err != nil {
		t.Fatal(err)
	}
	archive := txtar.Parse(data)
	var files []doc
	for _, f := range archive.Files {
		quality := byte(0)
		switch {
		case strings.HasPrefix(f.Name, "vendor/"):
			quality = 2
		case strings.HasSuffix(f.Name, "_test.go"):
			quality = 1
		}
		files = append(files, doc{repo: "kiln", path: f.Name, text: string(f.Data), quality: quality})
	}
	// Shards come by the quality of their first document.
	slices.SortStableFunc(files, func(a, b doc) int { return int(a.quality) - int(b.quality) })
	c := newCorpus(t, 6, nil, files)
	c.symbols(t)
	sum, n := 0.0, 0
	for line := range strings.Lines(string(archive.Comment)) {
		text, want, ok := strings.Cut(strings.TrimSpace(line), " => ")
		if !ok {
			continue
		}
		n++
		a := c.search(t, search.Settings{}, search.Options{Debug: true}, text, query.Keyword)
		rank := slices.Index(a.paths(), want) + 1
		if rank > 0 {
			sum += 1 / float64(rank)
		}
		if rank != 1 {
			t.Errorf("%s: %s comes at place %d of %q", text, want, rank, a.paths())
			for _, m := range a.matches {
				if f, ok := m.(*query.FileMatch); ok {
					t.Logf("%s: %s", f.Path, f.Debug)
				}
			}
		}
	}
	if n < 15 {
		t.Errorf("%d queries, want 15 or more", n)
	}
	t.Logf("mean reciprocal rank %.3f of %d queries", sum/float64(n), n)
}
