package match_test

import (
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query/match"
)

// sourceCode is a megabyte of C, the same function with other names, in which
// one in a hundred holds each rare thing that the benchmarks look for.
func sourceCode() []byte {
	const ordinary = `static inline int NAME_probe(struct platform_device *pdev, unsigned long flags)
{
	struct NAME_data *data = dev_get_drvdata(&pdev->dev);

	mutex_lock(&data->lock);
	if (IS_ERR(data->clk))
		return PTR_ERR(data->clk);
	data->value = readl(data->base + 0x40) & ~0xff00;
	mutex_unlock(&data->lock);
	return 0; /* ordinary */
}

`
	rare := strings.ReplaceAll(ordinary, "return 0;", "spin_lock_irqsave(&x, flags); call(555-123-4567, PM_RESUME, \"μ\");")
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		name := string([]byte{'a' + byte(i%26), 'a' + byte(i/26%26), 'a' + byte(i/676%26), '_', 'd', 'r', 'v'})
		text := ordinary
		if i%100 == 50 {
			text = rare
		}
		b.WriteString(strings.ReplaceAll(text, "NAME", name))
	}
	return []byte(b.String())
}

// patterns are one of each kind of work that the verifier has.
var patterns = []struct {
	name, text     string
	isRegexp, fold bool
}{
	{"absent", "quuxfrobnicate", false, true},
	{"rare-literal", "PM_RESUME", false, false},
	{"rare-fold", "pm_resume", false, true},
	{"common-literal", "static inline", false, false},
	{"common-fold", "STATIC INLINE", false, true},
	{"two-letter", "xf", false, true},
	{"regexp-literal", `\bspin_lock_irqsave\b`, true, true},
	{"regexp-parts", `mutex_lock\(.*->.*lock\)`, true, true},
	{"regexp-lines", `if \(IS_ERR\((.*)\)\)\s*\n\s*return PTR_ERR`, true, true},
	{"weak-literal", `[A-Z]+_RESUME`, true, false},
	{"alternation", `(kmalloc|kzalloc|readl|kcalloc)\(`, true, true},
	{"no-literal-phone", `[0-9]{3}-[0-9]{3}-[0-9]{4}`, true, true},
	{"no-literal-greek", `\p{Greek}`, true, false},
	{"no-literal-words", `\w{5}\s+\w{5}\s+\w{5}\s+\w{5}\s+\w{5}`, true, true},
}

// BenchmarkFind verifies one document of a megabyte in which nothing was ruled
// out; MB/s is of its text, read-bytes what was looked at.
func BenchmarkFind(b *testing.B) {
	code := sourceCode()
	lines := newlines(code)
	for _, p := range patterns {
		b.Run("pattern="+p.name, func(b *testing.B) {
			m, err := match.Compile(p.text, p.isRegexp, !p.fold)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(code)))
			b.ReportAllocs()
			var (
				finder = m.Finder(nil)
				text   match.Text
				spans  []match.Span
			)
			for b.Loop() {
				text = match.Text{}
				text.ResetBytes(code, lines)
				if spans, _, err = finder.Find(spans[:0], &text, match.Blocks{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(spans)), "matches/op")
			b.ReportMetric(float64(text.BytesRead), "read-bytes/op")
		})
	}
}

// BenchmarkCompile includes planning and building automata as far as they are
// not built lazily.
func BenchmarkCompile(b *testing.B) {
	for _, p := range patterns {
		b.Run("pattern="+p.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := match.Compile(p.text, p.isRegexp, !p.fold); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkChunks turns spans into chunks of whole lines, few and many.
func BenchmarkChunks(b *testing.B) {
	code := sourceCode()
	lines := newlines(code)
	for _, p := range patterns {
		m, err := match.Compile(p.text, p.isRegexp, !p.fold)
		if err != nil {
			b.Fatal(err)
		}
		var text match.Text
		text.ResetBytes(code, lines)
		spans, _, err := m.Finder(nil).Find(nil, &text, match.Blocks{})
		if err != nil {
			b.Fatal(err)
		}
		if len(spans) == 0 {
			continue
		}
		b.Run("pattern="+p.name, func(b *testing.B) {
			b.ReportAllocs()
			bytes := 0
			var chunker match.Chunker
			for b.Loop() {
				chunks, err := chunker.Chunks(&text, spans, 0)
				if err != nil {
					b.Fatal(err)
				}
				bytes = 0
				for _, c := range chunks {
					bytes += len(c.Content)
				}
			}
			b.SetBytes(int64(bytes))
			b.ReportMetric(float64(len(spans)), "matches/op")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(spans)), "ns/match")
		})
	}
}
