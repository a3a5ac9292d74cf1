package search_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
)

// benchCorpus is 2000 files of C, 3 MB, in one shard: one file in a hundred
// holds the rare words, two lines in each the common ones.
func benchCorpus(b *testing.B) *corpus {
	b.Helper()
	var files []doc
	for i := range 2000 {
		var text strings.Builder
		for j := range 20 {
			fmt.Fprintf(&text, "static int part_%d_%d(struct thing *t)\n{\n\treturn t->value + %d;\n}\n", i, j, i*j)
		}
		text.WriteString("EXPORT_SYMBOL(part);\nEXPORT_SYMBOL_GPL(part);\n")
		if i%100 == 7 {
			text.WriteString("spin_lock_irqsave(&t->lock, flags); /* 555-123-4567 */\n")
		}
		files = append(files, doc{repo: "bench", path: fmt.Sprintf("drivers/d%d/f%d.c", i%40, i), text: text.String(), indexed: true})
	}
	return newCorpus(b, 65536, nil, files)
}

// BenchmarkSearch is a whole search, from the query's text to its matches,
// everything in memory. Candidates, blocks and bytes are those of its trace.
func BenchmarkSearch(b *testing.B) {
	c := benchCorpus(b)
	s := search.New(c.st, search.Settings{})
	for _, bb := range []struct{ name, text string }{
		{"absent", "quuxfrobnicate"},
		{"rare", "spin_lock_irqsave"},
		{"common", "EXPORT_SYMBOL_GPL"},
		{"regexp", `/\bspin_lock_\w+\(/`},
		{"no-literal", `/[0-9]{3}-[0-9]{3}-[0-9]{4}/`},
		{"and", "type:file EXPORT_SYMBOL spin_lock_irqsave"},
		{"file", "file:^drivers/d7/ static"},
		{"path", "type:path f19"},
		{"limited", "count:10 static"},
	} {
		b.Run("query="+bb.name, func(b *testing.B) {
			text := bb.text
			if !strings.HasPrefix(text, "count:") {
				text = "count:all " + text
			}
			b.ReportAllocs()
			matches := 0
			work := map[string]int64{}
			for b.Loop() {
				matches = 0
				clear(work)
				q, err := syntax.Parse(text, query.Keyword)
				if err != nil {
					b.Fatal(err)
				}
				trace := &report.Trace{}
				o := search.Options{Report: report.New(time.Now), Display: -1, Trace: trace}
				out := s.Search(context.Background(), q, o, answer.SinkFunc(func(m []query.Match) error {
					matches += len(m)
					return nil
				}))
				if out.Err != nil {
					b.Fatal(out.Err)
				}
				addWork(work, trace)
			}
			b.ReportMetric(float64(matches), "documents/op")
			b.ReportMetric(float64(work["candidates"]), "candidates/op")
			b.ReportMetric(float64(work["blocks"]), "blocks/op")
			b.ReportMetric(float64(work["bytes"]), "read-bytes/op")
		})
	}
}

// addWork sums the numbers that the steps of a search tell.
func addWork(work map[string]int64, trace *report.Trace) {
	for _, step := range trace.Steps() {
		for _, f := range step.Fields {
			if n, err := strconv.ParseInt(f.Value, 10, 64); err == nil {
				work[f.Key] += n
			}
		}
	}
}
