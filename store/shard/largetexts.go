package shard

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// largeTexts bounds the bytes that readers together hold of large documents,
// which are read whole. A search of all text by two workers may hold two files
// of 32 MiB, and sixteen searches at once held half a gigabyte. Readers beyond
// the bound wait, in order of arrival. A reader of more than the bound waits
// for all of it.
type largeTexts struct {
	most      int64
	semaphore *semaphore.Weighted
	held      atomic.Int64
}

func newLargeTexts(most int64) *largeTexts {
	return &largeTexts{most: most, semaphore: semaphore.NewWeighted(most)}
}

// reserve waits until so many bytes may be held, by means of idle if that is not nil.
// It reports false, and takes nothing, when done is closed before.
func (l *largeTexts) reserve(bytes int64, done <-chan struct{}, idle func(wait func())) bool {
	bytes = min(bytes, l.most)
	granted := l.semaphore.TryAcquire(bytes)
	if !granted {
		wait := func() { granted = l.semaphore.Acquire(untilClosed{context.Background(), done}, bytes) == nil }
		if idle == nil {
			wait()
		} else {
			idle(wait)
		}
	}
	if granted {
		l.held.Add(bytes)
	}
	return granted
}

// release ends a take of so many bytes.
func (l *largeTexts) release(bytes int64) {
	bytes = min(bytes, l.most)
	l.held.Add(-bytes)
	l.semaphore.Release(bytes)
}

// untilClosed is a context that ends when a channel is closed.
type untilClosed struct {
	context.Context
	done <-chan struct{}
}

func (c untilClosed) Done() <-chan struct{} { return c.done }

func (c untilClosed) Err() error {
	select {
	case <-c.done:
		return context.Canceled
	default:
		return nil
	}
}
