package service

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// TestKeepSmall: memory is given back once in each pause, not while something
// is at work, and again after the next pause.
func TestKeepSmall(t *testing.T) {
	var b busy
	var work func()
	var rests atomic.Int64
	tick := make(chan time.Time)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.keepSmall(ctx, tick, func() { rests.Add(1) })
	}()
	// A tick is taken only when the one before has been dealt with; none of the
	// steps depends on the last.
	ticks := func(n int) int64 {
		for range n + 1 {
			tick <- time.Time{}
		}
		return rests.Load()
	}
	steps := []struct {
		name string
		do   func()
		// rests are counted after so many ticks, and of all steps so far.
		ticks int
		rests int64
	}{
		{"nothing has begun", func() {}, 4, 1},
		{"something is at work", func() { work = b.begin() }, 4, 1},
		{"it ended long after it began", func() { work() }, 2, 2},
		{"the pause goes on", func() {}, 4, 2},
		{"something short", func() { b.begin()() }, 4, 3},
	}
	for _, s := range steps {
		s.do()
		if got := ticks(s.ticks); got != s.rests {
			t.Errorf("%s: after %d ticks got %d rests, want %d", s.name, s.ticks, got, s.rests)
		}
	}
	cancel()
	<-ended
}
