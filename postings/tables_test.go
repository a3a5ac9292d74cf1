package postings_test

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/trawlsearch/trawl/postings"
)

// A builder takes the table that the one before it gave back, also after collections of
// garbage, until the table is dropped.
func TestTablesKeepOne(t *testing.T) {
	var tables postings.Tables
	use := func() uint64 {
		return allocated(func() {
			b := tables.NewBuilder()
			b.AddDocument(0, []byte("glaze the pot"))
			b.Release()
		})
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

// TestTablesKeepLists: the lists of a group are made in the memory of those before them.
func TestTablesKeepLists(t *testing.T) {
	var tables postings.Tables
	text := sourceText(rand.New(rand.NewPCG(1, 1)), 4<<20)
	use := func() uint64 {
		return allocated(func() {
			b := tables.NewBuilder()
			b.AddDocument(0, text)
			b.Release()
		})
	}
	if got := use(); got < tableBytes+4<<20 {
		t.Fatalf("the first lists take %d bytes with their table, want some megabytes more than that", got)
	}
	if got := use(); got > 256<<10 {
		t.Errorf("the second lists take %d bytes, want those of the first", got)
	}
	tables.Drop()
	if got := use(); got < tableBytes+4<<20 {
		t.Errorf("after all was dropped the lists take %d bytes with their table, want as many as the first", got)
	}
}

// TestTablesAreBounded: builders that come while all tables are lent take little memory,
// and the next one takes a table again.
func TestTablesAreBounded(t *testing.T) {
	tables := postings.Tables{Most: 2}
	var all []*postings.Builder
	for n := range 4 {
		b := tables.NewBuilder()
		all = append(all, b)
		if got, large := allocated(func() { b.AddDocument(0, []byte("glaze the pot")) }), n < 2; got >= tableBytes != large || !large && got > 2<<20 {
			t.Errorf("builder %d of 4: %d bytes allocated, want a table of %d to be made: %v", n, got, tableBytes, large)
		}
	}
	for _, b := range all {
		b.Release()
	}
	tables.Drop()
	for n := range 2 {
		if got := allocated(func() { all[n].AddDocument(0, []byte("glaze the pot")) }); got < tableBytes {
			t.Errorf("builder %d after all were given back: %d bytes allocated, want a table of %d", n, got, tableBytes)
		}
	}
}

const tableBytes = postings.NumTrigrams * 4

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
