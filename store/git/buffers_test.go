package git_test

import (
	"runtime"
	"testing"

	"github.com/trawlsearch/trawl/store/git"
)

// TestChildrenShareBuffers: processes one after another, of repositories of one budget,
// read and complain into the same memory.
func TestChildrenShareBuffers(t *testing.T) {
	x := newFixture(t)
	x.write("a.txt", "text\n")
	commit := x.commit()
	b := git.NewBudget(0)
	once := func() {
		r, err := b.Open(t.Context(), x.dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.ListTree(t.Context(), commit, func(git.TreeEntry) error { return nil }); err != nil {
			t.Fatal(err)
		}
		readObject(t, r, commit)
	}
	once()
	const times = 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		once()
	}
	runtime.ReadMemStats(&after)
	// Some 35 KiB are command lines and environments. The pool forgets what two collections
	// pass by, and with the race detector a quarter of all.
	if took := (after.TotalAlloc - before.TotalAlloc) / times; took > 120<<10 {
		t.Errorf("two processes took %d KiB of new memory, want no buffers of 64 KiB and 32 KiB for each", took>>10)
	}
}
