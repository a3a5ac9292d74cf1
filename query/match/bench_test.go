package match_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/trawlsearch/trawl/query/match"
)

// benchText looks like source code.
var benchText = bytes.Repeat([]byte("static inline int some_function(struct thing *t, int x)\n{\n\treturn t->value + x; /* ordinary */\n}\n\n"+
	"/* Copyright (C) 2001 Somebody, about 3 lines of text that nobody\n * reads; TODO: read them */\n"), 300)

// BenchmarkFind: what looking at a document costs, by kind of pattern.
func BenchmarkFind(b *testing.B) {
	for _, bm := range []struct {
		name, pattern   string
		isRegexp, cases bool
	}{
		{"absent", "quuxfrobnicate", false, false},
		{"common", "static inline", false, false},
		{"exact", "static inline", false, true},
		{"beginning", `\bstatic\s+inline\b`, true, false},
		{"in-line", `\w+_function`, true, true},
		{"no-literal", `[0-9]{3}-[0-9]{3}`, true, true},
	} {
		b.Run("kind="+bm.name, func(b *testing.B) {
			m, err := match.Compile(bm.pattern, bm.isRegexp, bm.cases)
			if err != nil {
				b.Fatal(err)
			}
			var t match.Text
			var spans []match.Span
			f := m.Finder(m.Expr)
			t.ResetBytes(benchText, newlines(benchText))
			b.SetBytes(int64(len(benchText)))
			b.ReportAllocs()
			for b.Loop() {
				if spans, _, err = f.Find(spans[:0], &t, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(spans)), "matches/op")
		})
	}
}

// BenchmarkChunks: what the lines of matches cost.
func BenchmarkChunks(b *testing.B) {
	m, err := match.Compile("static inline", false, false)
	if err != nil {
		b.Fatal(err)
	}
	for _, context := range []int{0, 3} {
		b.Run(fmt.Sprintf("context=%d", context), func(b *testing.B) {
			var t match.Text
			t.ResetBytes(benchText, newlines(benchText))
			spans, _, err := m.Finder(m.Expr).Find(nil, &t, nil)
			if err != nil {
				b.Fatal(err)
			}
			var c match.Chunker
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Chunks(&t, spans, context); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(spans)), "matches/op")
		})
	}
}
