//go:build unix

package ingest_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store/ingest"
)

// BenchmarkUnchanged is a sync of a repository of this machine that has not
// changed, with the processor time of git.
func BenchmarkUnchanged(b *testing.B) {
	f := newFixture(b, ingest.Options{})
	r := newRepo(b)
	r.write(map[string]string{"a.txt": "clay"})
	r.commit()
	f.sync("kiln", r)
	before := processor(b)
	for b.Loop() {
		f.sync("kiln", r)
	}
	b.ReportMetric(float64((processor(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}

// processor is the processor time of this process and of those that it waited for.
func processor(t testing.TB) time.Duration {
	t.Helper()
	sum := time.Duration(0)
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			t.Fatal(err)
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}
