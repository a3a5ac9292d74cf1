package bench

import (
	"bytes"
	"fmt"
	"io"
)

// WriteBenchmarks writes r as lines of Go benchmark output, one for every
// timed run, so that benchstat can compare two reports (and, with
// -col /engine, the tools within one).
func (r *Report) WriteBenchmarks(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "goos: %s\ngoarch: %s\npkg: github.com/trawlsearch/trawl/bench\n", r.Machine.OS, r.Machine.Arch)
	if r.Machine.CPU != "" {
		fmt.Fprintf(&b, "cpu: %s\n", r.Machine.CPU)
	}
	if i := r.Index; i != nil {
		fmt.Fprintf(&b, "BenchmarkIndex 1 %d ns/op %d cpu-ns/op %d peak-bytes %d disk-bytes\n",
			i.Wall.Nanoseconds(), i.CPU.Nanoseconds(), i.PeakTreeRSSBytes, i.DiskBytes)
	}
	if r.Resync != nil {
		for _, u := range r.Resync.Rounds {
			fmt.Fprintf(&b, "BenchmarkResync 1 %d ns/op %d cpu-ns/op %d peak-bytes\n",
				u.Wall.Nanoseconds(), u.CPU.Nanoseconds(), u.PeakTreeRSSBytes)
		}
	}
	for _, q := range r.Queries {
		q.writeBenchmarks(&b)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (q QueryFacts) writeBenchmarks(w io.Writer) {
	for _, a := range q.Runs {
		fmt.Fprintf(w, "BenchmarkQuery/%s/engine=trawl 1 %d ns/op", q.Name, a.Done.Nanoseconds())
		if a.First > 0 {
			fmt.Fprintf(w, " %d first-ns/op", a.First.Nanoseconds())
		}
		fmt.Fprintf(w, " %d results/op %d candidates/op %d blocks/op %d read-bytes/op\n",
			a.Results, q.Work.Candidates, q.Work.Blocks, q.Work.Bytes)
	}
	for _, p := range q.Peers {
		for _, run := range p.Runs {
			fmt.Fprintf(w, "BenchmarkQuery/%s/engine=%s 1 %d ns/op\n", q.Name, p.Name, run.Done.Nanoseconds())
		}
	}
}
