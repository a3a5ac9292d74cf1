package store_test

import (
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/store"
)

// TestCrashWhileMade: the power fails anywhere while a directory is made. The
// next start makes it.
func TestCrashWhileMade(t *testing.T) {
	mem := vfs.NewCrashableMem()
	var crashes []*vfs.MemFS
	rng := rand.New(rand.NewPCG(1, 2))
	each, least := 24, 400
	if race.Enabled {
		each, least = 8, 130
	}
	taker := errorfs.InjectorFunc(func(errorfs.Op) error {
		for i := range each {
			unsynced := []int{0, 50, 50, 100, 50, 80, 20, 90}[i%8]
			crashes = append(crashes, mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced, RNG: rng}))
		}
		return nil
	})
	closeStore(t, open(t, errorfs.Wrap(mem, taker)))
	if len(crashes) < least {
		t.Fatalf("%d crashes taken, want more of them", len(crashes))
	}
	for i, fs := range crashes {
		s, err := store.Open("data", store.Options{FS: fs, CacheBytes: 1 << 20})
		if err != nil {
			t.Fatalf("crash %d of %d: %v", i, len(crashes), err)
		}
		closeStore(t, s)
		closeStore(t, open(t, fs))
	}
}
