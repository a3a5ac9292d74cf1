package store_test

import (
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store"
)

// TestMetricsBesideSnapshots: what is counted is read while it changes. It is
// the race detector that judges.
func TestMetricsBesideSnapshots(t *testing.T) {
	s, err := store.Open("data", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for range 200 {
				if err := s.Snapshot().Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 200 {
		if n := s.Metrics().Snapshots; n < 0 || n > 2 {
			t.Errorf("%d snapshots are open, want at most 2", n)
		}
	}
	wg.Wait()
}
