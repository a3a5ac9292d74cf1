package browse_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// BenchmarkCommitPage asks for the page of a commit that changes 60,000 lines of code,
// without colours and with those that it has time for.
func BenchmarkCommitPage(b *testing.B) {
	for name, within := range map[string]time.Duration{"plain": time.Nanosecond, "coloured": 400 * time.Millisecond} {
		w := newWorld(b, func(w *world) { w.paintWithin = within })
		repo := w.git("wide")
		for round := range 2 {
			var text strings.Builder
			text.WriteString("package kiln\n\n")
			for k := range 100 {
				fmt.Fprintf(&text, "// fire%d burns clay%d.\nfunc (k *Kiln) fire%d(ctx context.Context, clay%d []string) (int, error) {\n\tfor i, c := range clay%d {\n\t\tif c == \"clay%d\" {\n\t\t\treturn %d, nil\n\t\t}\n\t}\n\treturn 0, errors.New(\"no clay\") // of round %d\n}\n\n", k, round, k, round, round, round, k+round, round)
			}
			for i := range 60 {
				repo.Write(fmt.Sprintf("p%02d/kiln.go", i), text.String())
			}
			repo.Commit(fmt.Sprint("Round ", round))
		}
		w.AddSource("lab/wide=" + repo.Dir)
		w.Sync("lab/wide")
		for _, view := range []string{"", "?view=split"} {
			b.Run(name+view, func(b *testing.B) {
				size := 0
				for b.Loop() {
					size = len(w.get("/lab/wide/-/commit/main"+view, "Accept-Encoding", "gzip").body)
				}
				page := w.get("/lab/wide/-/commit/main" + view).body
				b.ReportMetric(float64(size), "wire-bytes")
				b.ReportMetric(float64(len(page)), "page-bytes")
				b.ReportMetric(float64(strings.Count(page, `<span class="k">`)), "keywords")
			})
		}
	}
}
