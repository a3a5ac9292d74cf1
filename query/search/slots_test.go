package search

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
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
