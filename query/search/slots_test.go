package search

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestSlotsGoToTheYoung: who has verified little goes first, three times out of
// four, and the first come among equals.
func TestSlotsGoToTheYoung(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slots{free: 1}
		if err := s.take(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		var order []string
		var wg sync.WaitGroup
		for _, who := range strings.Fields("old1 old2 y1 y2 y3 y4 y5") {
			wg.Go(func() {
				if err := s.take(t.Context(), strings.HasPrefix(who, "old")); err != nil {
					t.Errorf("%s: %v", who, err)
				}
				order = append(order, who) // under the only slot
				s.give()
			})
			synctest.Wait()
		}
		s.give()
		wg.Wait()
		if got, want := strings.Join(order, " "), "y1 y2 y3 old1 y4 y5 old2"; got != want {
			t.Errorf("slots were given in the order %s, want %s", got, want)
		}
		if s.free != 1 {
			t.Errorf("%d slots are free in the end, want 1", s.free)
		}
	})
}

// TestSlotsLetGo: who gives up leaves the line, and no slot is lost.
func TestSlotsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slots{free: 1}
		if err := s.take(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				if err := s.take(ctx, n%2 == 0); err == nil {
					s.give()
				} else if !errors.Is(err, context.Canceled) {
					t.Errorf("take gave %v", err)
				}
			})
		}
		synctest.Wait()
		wg.Go(cancel)
		wg.Go(s.give)
		wg.Wait()
		if s.free != 1 || len(s.young)+len(s.old) != 0 {
			t.Errorf("%d slots are free and %d wait in the end, want 1 and none", s.free, len(s.young)+len(s.old))
		}
	})
}

// TestSlotsAreKept: a search that works alone lets others wait until it is old,
// or its client keeps it waiting.
func TestSlotsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slots{free: 1}
		r := &run{Searcher: &Searcher{slots: s, set: Settings{Now: time.Now}}, began: time.Now()}
		occupy := func() {
			t.Helper()
			if err := r.occupy(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		other := func() *atomic.Bool {
			came := &atomic.Bool{}
			go func() {
				if s.take(t.Context(), false) == nil {
					came.Store(true)
					s.give()
				}
			}()
			synctest.Wait()
			return came
		}
		occupy()
		waits := other()
		for range 4 {
			time.Sleep(youngFor / 5)
			if occupy(); waits.Load() {
				t.Fatal("another search went before a young one had ended")
			}
		}
		time.Sleep(youngFor)
		if occupy(); !waits.Load() {
			t.Error("another search still waits for an old one")
		}
		waits = other()
		stop := r.leaveAfter(patience)
		time.Sleep(2 * patience)
		synctest.Wait()
		if stop(); !waits.Load() {
			t.Error("another search waits for the client of one")
		}
		if r.leave(); s.free != 1 {
			t.Errorf("%d slots are free in the end, want 1", s.free)
		}
	})
}
