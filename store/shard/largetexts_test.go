package shard

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestLargeTexts(t *testing.T) {
	t.Run("first come, first served", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newLargeTexts(10)
			r.reserve(6, nil, nil)
			var order []int64
			var mu sync.Mutex
			var wg sync.WaitGroup
			for _, bytes := range []int64{8, 3} {
				wg.Go(func() {
					r.reserve(bytes, nil, nil)
					mu.Lock()
					order = append(order, bytes)
					mu.Unlock()
					r.release(bytes)
				})
				synctest.Wait()
			}
			r.release(6)
			wg.Wait()
			if want := []int64{8, 3}; r.held.Load() != 0 || !slices.Equal(order, want) {
				t.Errorf("after all gave back: got %d held, %v served, want none and %v", r.held.Load(), order, want)
			}
		})
	})
	t.Run("more than there is", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newLargeTexts(10)
			r.reserve(1, nil, nil)
			got := make(chan bool)
			go func() { got <- r.reserve(1000, nil, nil) }()
			synctest.Wait()
			r.release(1)
			if !<-got || r.held.Load() != 10 {
				t.Errorf("take(1000) of 10 alone: got %d held, want 10", r.held.Load())
			}
			r.release(1000)
			if r.held.Load() != 0 {
				t.Errorf("after give(1000): got %d held, want 0", r.held.Load())
			}
		})
	})
	t.Run("giving up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newLargeTexts(10)
			r.reserve(6, nil, nil)
			done := make(chan struct{})
			big, small := make(chan bool), make(chan bool)
			go func() { big <- r.reserve(8, done, nil) }()
			synctest.Wait()
			go func() { small <- r.reserve(4, nil, nil) }()
			synctest.Wait()
			close(done)
			if <-big || !<-small || r.held.Load() != 10 {
				t.Errorf("a reader that gave up: got %d held, want 10, and the next reader let in", r.held.Load())
			}
		})
	})
}

// TestLargeTextsUnderLoad has many take, give and give up at once; what is held is never
// more than there is, and nothing at the end.
func TestLargeTextsUnderLoad(t *testing.T) {
	r := newLargeTexts(100)
	var held atomic.Int64
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() {
			for i := range 500 {
				bytes := int64((n*31+i*17)%60 + 1)
				done := make(chan struct{})
				if i%3 == 0 {
					go close(done)
				}
				if !r.reserve(bytes, done, nil) {
					continue
				}
				if now := held.Add(bytes); now > r.most {
					t.Errorf("held: got %d, want at most %d", now, r.most)
				}
				held.Add(-bytes)
				r.release(bytes)
			}
		})
	}
	wg.Wait()
	if r.held.Load() != 0 {
		t.Errorf("at the end: got %d held, want none", r.held.Load())
	}
}
