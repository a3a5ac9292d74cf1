package migrations_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/trawlsearch/trawl/migrations"
	"github.com/trawlsearch/trawl/store"
)

// cutter is a disk whose power fails before the operation of number at. What a
// restart would find is then in left; the program that does not know goes on.
type cutter struct {
	mem *vfs.MemFS
	cfg vfs.CrashCloneCfg
	// fail, if set, is what the operation fails with instead; then those on the
	// format file count only. The engine's background ends the process when it
	// cannot write, which is a crash.
	fail error

	mu    sync.Mutex
	at, n int
	left  *vfs.MemFS
}

func (c *cutter) MaybeError(op errorfs.Op) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if op.Kind.ReadOrWrite() != errorfs.OpIsWrite || c.fail != nil && !strings.Contains(op.Path, "FORMAT") {
		return nil
	}
	c.n++
	if c.n-1 != c.at {
		return nil
	}
	c.left = c.mem.CrashClone(c.cfg)
	return c.fail
}

func (*cutter) String() string { return "cutter" }

// cut migrates mem and returns what is left when the power fails before write
// at, nil if there are fewer writes.
func cut(t *testing.T, mem *vfs.MemFS, at, percent int) *vfs.MemFS {
	t.Helper()
	c := &cutter{mem: mem, at: at, cfg: vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(uint64(at), uint64(percent)))}}
	if _, err := migrations.Run(t.Context(), "data", store.Options{FS: errorfs.Wrap(mem, c)}); err != nil {
		t.Fatalf("write %d, %d %% of what was not synced is kept: %v", at, percent, err)
	}
	return c.left
}

// TestCrash: the power fails before each write of a migration, and again before
// one of the next, with all, half or nothing left of what was not synced. The
// store is of the old format or the new one, and the third run ends with all
// that was there.
func TestCrash(t *testing.T) {
	f := fixtures[0]
	for at, points := 0, 0; ; at++ {
		for _, percent := range []int{0, 50, 100} {
			mem := vfs.NewCrashableMem()
			unpack(t, mem, f.name)
			left := cut(t, mem, at, percent)
			if left == nil {
				t.Logf("%d points", points)
				if points < 60 {
					t.Errorf("a migration has %d points, want some", points)
				}
				return
			}
			points++
			if again := cut(t, left, at/2, percent); again != nil {
				left = again
			}
			if _, err := migrations.Run(t.Context(), "data", store.Options{FS: left}); err != nil {
				t.Fatalf("after a crash before write %d, %d %% of what was not synced is kept: %v", at, percent, err)
			}
			check(t, left, f.index)
			if t.Failed() {
				t.Fatalf("after a crash before write %d, %d %% of what was not synced is kept", at, percent)
			}
		}
	}
}

// TestFailingWrites: each write of the format file fails once. There is an
// error, the store stays of the old format, and running it again does the rest.
func TestFailingWrites(t *testing.T) {
	f := fixtures[1]
	failure := errors.New("the disk fails")
	for at := 0; ; at++ {
		mem := vfs.NewCrashableMem()
		unpack(t, mem, f.name)
		c := &cutter{mem: mem, at: at, fail: failure}
		_, err := migrations.Run(t.Context(), "data", store.Options{FS: errorfs.Wrap(mem, c)})
		if c.left == nil {
			if at < 3 {
				t.Errorf("the format file is written in %d operations, want some", at)
			}
			return
		}
		if !errors.Is(err, failure) {
			t.Errorf("write %d failed, and Run says %v", at, err)
		}
		if _, again := migrations.Run(t.Context(), "data", store.Options{FS: mem}); again != nil {
			t.Fatalf("write %d failed with %v, and then: %v", at, err, again)
		}
		check(t, mem, f.index)
		if t.Failed() {
			t.Fatalf("after write %d failed", at)
		}
	}
}
