package execute_test

import (
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/trawlsearch/trawl/query/search/execute"
)

// Each item goes to one worker, with its place, and of those that are left when the
// context ends none does.
func TestShare(t *testing.T) {
	items := make([]string, 100)
	for i := range items {
		items[i] = string(rune('a' + i%26))
	}
	for _, workers := range []int{1, 3, 200} {
		var mu sync.Mutex
		var began atomic.Int64
		got := make([]string, len(items))
		execute.Share(t.Context(), workers, items, func(share iter.Seq2[int, string]) {
			began.Add(1)
			for i, item := range share {
				mu.Lock()
				got[i] += item
				mu.Unlock()
			}
		})
		if !slices.Equal(got, items) || began.Load() != int64(min(workers, len(items))) {
			t.Errorf("%d of %d workers began, and had %q", began.Load(), workers, got)
		}
	}
	execute.Share(t.Context(), 3, nil, func(iter.Seq2[int, string]) { t.Error("a worker began for nothing") })
	ctx, cancel := context.WithCancel(t.Context())
	seen := 0
	execute.Share(ctx, 1, items, func(share iter.Seq2[int, string]) {
		for range share {
			seen++
			cancel()
		}
	})
	if seen != 1 {
		t.Errorf("%d items were handed out, %d after the end", seen, seen-1)
	}
}
