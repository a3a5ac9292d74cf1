package execute

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
)

// Share has some workers share items, each taking the next one and its place when it is
// ready for it, until ctx ends. It waits for the workers, of which at most len(items) run.
func Share[T any](ctx context.Context, workers int, items []T, worker func(iter.Seq2[int, T])) {
	var next atomic.Int64
	rest := func(yield func(int, T) bool) {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= len(items) || !yield(i, items[i]) {
				return
			}
		}
	}
	var wg sync.WaitGroup
	for range min(workers, len(items)) {
		wg.Go(func() { worker(rest) })
	}
	wg.Wait()
}
