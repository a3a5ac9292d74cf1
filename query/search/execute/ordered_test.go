package execute_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trawlsearch/trawl/query/search/execute"
)

// segment is a number that takes a while.
type segment struct {
	n         int
	took      time.Duration
	ran       bool
	abandoned error
}

// workers counts them while they work and after they have ended.
type workers struct{ started, ended, atOnce, most atomic.Int32 }

func (w *workers) options(n, ahead int) execute.Options[*segment] {
	return execute.Options[*segment]{
		Workers: n, Ahead: ahead,
		Worker: func() (func(*segment), func()) {
			w.started.Add(1)
			run := func(s *segment) {
				w.most.Store(max(w.most.Load(), w.atOnce.Add(1)))
				defer w.atOnce.Add(-1)
				time.Sleep(s.took)
				s.ran = true
			}
			return run, func() { w.ended.Add(1) }
		},
		Abandon: func(s *segment, err error) { s.abandoned = err },
	}
}

// Segments leave in the order in which they came, however long each takes, and
// no more workers run than there may be, or than there are segments.
func TestOrder(t *testing.T) {
	for _, count := range []int{0, 1, 2, 3, 4, 5, 200} {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(count)))
			w := &workers{}
			o := execute.New(t.Context(), w.options(4, 2))
			var taken []int
			var wg sync.WaitGroup
			wg.Go(func() {
				o.Each(func(s *segment) bool {
					if !s.ran {
						t.Errorf("segment %d of %d was taken before it was run", s.n, count)
					}
					taken = append(taken, s.n)
					return true
				})
			})
			for n := range count {
				if !o.Put(&segment{n: n, took: time.Duration(r.IntN(1000)) * time.Microsecond}) {
					t.Fatalf("segment %d of %d was not wanted", n, count)
				}
			}
			o.Close()
			wg.Wait()
			for n := range count {
				if n >= len(taken) || taken[n] != n {
					t.Fatalf("%d segments left as %v", count, taken)
				}
			}
			if want := int32(min(count, 4)); w.started.Load() != want || w.ended.Load() != want || w.most.Load() > want {
				t.Errorf("%d segments: %d workers started, %d ended, %d at once, want %d", count, w.started.Load(), w.ended.Load(), w.most.Load(), want)
			}
		})
	}
}

// Once take wants no more, and has ended the context, nothing else is taken,
// nothing is put, and every worker ends.
func TestEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := &workers{}
		o := execute.New(ctx, w.options(2, 2))
		var all []*segment
		taken := 0
		var wg sync.WaitGroup
		wg.Go(func() {
			o.Each(func(*segment) bool {
				if taken++; taken == 3 {
					cancel()
					return false
				}
				return true
			})
		})
		for n := range 100 {
			s := &segment{n: n, took: time.Millisecond}
			all = append(all, s)
			if !o.Put(s) {
				break
			}
		}
		o.Close()
		wg.Wait()
		if taken != 3 || len(all) > 3+2*2+2 {
			t.Errorf("%d segments were taken of %d that were put, want 3 and hardly more", taken, len(all))
		}
		if w.started.Load() != w.ended.Load() {
			t.Errorf("%d workers started and %d ended", w.started.Load(), w.ended.Load())
		}
	})
}

// A segment that was put as the context ended is abandoned, and still leaves.
func TestAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := &workers{}
		o := execute.New(ctx, w.options(1, 4))
		first, second := &segment{n: 1, took: time.Second}, &segment{n: 2}
		o.Put(first)
		time.AfterFunc(time.Millisecond, cancel)
		if o.Put(second) {
			t.Error("a segment was put though the context had ended")
		}
		var taken []*segment
		var wg sync.WaitGroup
		wg.Go(func() {
			o.Each(func(s *segment) bool {
				taken = append(taken, s)
				return true
			})
		})
		o.Close()
		wg.Wait()
		if len(taken) != 2 || !first.ran || second.ran || !errors.Is(second.abandoned, context.Canceled) {
			t.Errorf("%d segments left; the first ran: %t; the second ran: %t, %v", len(taken), first.ran, second.ran, second.abandoned)
		}
	})
}
