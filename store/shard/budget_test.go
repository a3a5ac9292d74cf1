package shard_test

import (
	"runtime"
	"testing"

	"github.com/trawlsearch/trawl/store/shard"
)

// A budget at rest keeps no table of trigrams, 64 MiB.
func TestRestDropsTheTable(t *testing.T) {
	b := shard.NewBudget(1<<20, 1<<20, 1<<20)
	defer b.Blocks().Unref()
	builder := b.NewBuilder()
	builder.AddDocument(0, []byte("glaze the pot"))
	builder.Release()
	held := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := held()
	b.Rest()
	if freed := before - held(); freed < 60<<20 {
		t.Errorf("a rest frees %d bytes, want those of a table", freed)
	}
	runtime.KeepAlive(b)
}
