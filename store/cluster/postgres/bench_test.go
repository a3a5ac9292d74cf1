package postgres_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trawlsearch/trawl/store/cluster"
)

// randomWrites are records that do not compress, as posting lists do not.
func randomWrites(n, valueBytes int) []cluster.Write {
	rng := rand.NewChaCha8([32]byte{})
	writes := make([]cluster.Write, n)
	for i := range writes {
		value := make([]byte, valueBytes)
		_, _ = rng.Read(value)
		writes[i] = cluster.Write{Key: fmt.Appendf(nil, "record %06d", i), Value: value}
	}
	return writes
}

// The server syncs, as it does in earnest.
func BenchmarkAppend(b *testing.B) {
	c := open(b, template.Start(b, "fsync=on").Address())
	version := cluster.Version(0)
	for _, size := range []struct{ records, bytes int }{{1, 300}, {100, 300}, {5000, 300}, {5000, 2500}} {
		b.Run(fmt.Sprintf("records=%d/bytes=%d", size.records, size.records*size.bytes), func(b *testing.B) {
			writes := randomWrites(size.records, size.bytes)
			for b.Loop() {
				must(b, c, version, writes...)
				version++
			}
		})
	}
}

func BenchmarkHead(b *testing.B) {
	c := open(b, template.Start(b).Address())
	for b.Loop() {
		if _, err := c.Log.Head(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTail(b *testing.B) {
	c := open(b, template.Start(b).Address())
	for v := range cluster.Version(4000) {
		must(b, c, v, randomWrites(1, 300)...)
	}
	must(b, c, 4000, randomWrites(5000, 2500)...)
	for _, bb := range []struct {
		name  string
		after cluster.Version
		limit int
	}{{"none", 4001, 1 << 20}, {"one", 3999, 1}, {"entries=1024", 0, 1 << 30}, {"one of 12 MB", 4000, 1}} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := c.Log.Tail(b.Context(), bb.after, bb.limit); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRecords(b *testing.B) {
	c := open(b, template.Start(b).Address())
	for v := range cluster.Version(10) {
		writes := randomWrites(5000, 500)
		for i := range writes {
			writes[i].Key = fmt.Appendf(nil, "%d %s", v, writes[i].Key)
		}
		must(b, c, v, writes...)
	}
	for b.Loop() {
		n := 0
		if _, err := c.Log.Records(b.Context(), func([]byte, []byte) error { n++; return nil }); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(n), "records/op")
	}
}

// One node commits and another hears of it.
func BenchmarkAppendUntilWaitReturns(b *testing.B) {
	address := template.Start(b, "fsync=on").Address()
	one, other := open(b, address), open(b, address)
	heard := make(chan cluster.Version)
	go func() {
		defer close(heard)
		for version := cluster.Version(0); ; {
			if other.Log.Wait(b.Context(), version) != nil {
				return
			}
			entries, err := other.Log.Tail(b.Context(), version, 1<<20)
			if err != nil {
				return
			}
			if len(entries) > 0 {
				version = entries[len(entries)-1].Version
				heard <- version
			}
		}
	}()
	version := cluster.Version(0)
	for b.Loop() {
		must(b, one, version, randomWrites(1, 300)...)
		version++
		if got := <-heard; got != version {
			b.Fatalf("heard of version %d, want %d", got, version)
		}
	}
}
