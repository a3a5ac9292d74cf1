package ingest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestPaceBounds: no more goroutines compute at once than there are slots.
func TestPaceBounds(t *testing.T) {
	p := newPace(Options{Processors: 2}.withDefaults())
	var now, most atomic.Int32
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 100 {
				_ = p.run(t.Context(), func() error {
					n := now.Add(1)
					defer now.Add(-1)
					for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					}
					return nil
				})
			}
		})
	}
	all.Wait()
	if most.Load() > 2 {
		t.Errorf("%d computed at once, want 2 at most", most.Load())
	}
}

// TestPaceGoesOn: while searches are always at work, ingest waits for its share of
// the time that it works, and no longer.
func TestPaceGoesOn(t *testing.T) {
	var waited time.Duration
	p := newPace(Options{Yield: func(_ context.Context, atMost time.Duration) time.Duration {
		if atMost > mostOwed {
			t.Errorf("it waits for %s, want %s at most", atMost, mostOwed)
		}
		waited += atMost
		return atMost
	}}.withDefaults())
	begun := time.Now()
	for range 1000 {
		_ = p.run(t.Context(), func() error { return nil })
	}
	worked := time.Since(begun)
	if waited == 0 || waited > yieldShare*worked {
		t.Errorf("it waited %s of %s, want a part of %d times that", waited, worked, yieldShare)
	}
}

// TestPacePauses: what computes for long looks for searches each millisecond that it
// works, and not more often.
func TestPacePauses(t *testing.T) {
	looks := 0
	p := newPace(Options{Yield: func(_ context.Context, atMost time.Duration) time.Duration {
		looks++
		return atMost
	}}.withDefaults())
	pause, start := p.pauses(t.Context()), time.Now()
	pause()
	if looks != 1 {
		t.Fatalf("it looked %d times at the start, want once", looks)
	}
	for looks < 4 {
		pause()
	}
	if worked := time.Since(start); worked < 3*pauseEvery {
		t.Errorf("it looked three times within %s, want once in %s", worked, pauseEvery)
	}
}
