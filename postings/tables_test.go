package postings_test

import (
	"runtime"
	"testing"

	"github.com/trawlsearch/trawl/postings"
)

// A builder takes the table that the one before it gave back, also after collections of
// garbage, until the table is dropped.
func TestTablesKeepOne(t *testing.T) {
	var tables postings.Tables
	const tableBytes = postings.NumTrigrams * 4
	use := func() (allocated uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		b := tables.NewBuilder()
		b.AddDocument(0, []byte("glaze the pot"))
		b.Release()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, step := range []struct {
		name    string
		prepare func()
		made    bool
	}{
		{"first", func() {}, true},
		{"second", func() {}, false},
		{"after collections", func() { runtime.GC(); runtime.GC(); runtime.GC() }, false},
		{"dropped", tables.Drop, true},
	} {
		step.prepare()
		if got := use(); got >= tableBytes != step.made {
			t.Errorf("%s builder: %d bytes allocated, want a table of %d to be made: %v", step.name, got, tableBytes, step.made)
		}
	}
}
