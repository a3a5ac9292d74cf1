package admission

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

// TestSlotsGoToTheYoung: a search that has worked little goes first, three times out of
// four, and the first come among equals.
func TestSlotsGoToTheYoung(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewProcessors(1, 0)
		if err := s.take(t.Context(), "", false); err != nil {
			t.Fatal(err)
		}
		var order []string
		var wg sync.WaitGroup
		for _, who := range strings.Fields("old1 old2 y1 y2 y3 y4 y5") {
			wg.Go(func() {
				if err := s.take(t.Context(), "", strings.HasPrefix(who, "old")); err != nil {
					t.Errorf("%s: %v", who, err)
				}
				order = append(order, who) // under the only slot
				s.give("")
			})
			synctest.Wait()
		}
		s.give("")
		wg.Wait()
		if got, want := strings.Join(order, " "), "y1 y2 y3 old1 y4 y5 old2"; got != want {
			t.Errorf("slots were given in the order %s, want %s", got, want)
		}
		if s.free != 1 {
			t.Errorf("%d slots are free in the end, want 1", s.free)
		}
	})
}

// TestSlotsAreShared: among equals a slot goes to the client with the fewest.
func TestSlotsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewProcessors(2, 0)
		for range 2 {
			if err := s.take(t.Context(), "ann", false); err != nil {
				t.Fatal(err)
			}
		}
		var order []string
		var wg sync.WaitGroup
		for _, who := range strings.Fields("ann ann bob ann bob cy") {
			wg.Go(func() {
				if err := s.take(t.Context(), who, false); err != nil {
					t.Errorf("%s: %v", who, err)
				}
				order = append(order, who) // under one of two slots, and ann keeps the other
				s.give(who)
			})
			synctest.Wait()
		}
		if !s.wanted("ann", false) || s.wanted("bob", false) {
			t.Error("a young search of ann's is not to give way to bob, or bob's to ann")
		}
		s.give("ann")
		wg.Wait()
		if got, want := strings.Join(order, " "), "bob bob cy ann ann ann"; got != want {
			t.Errorf("slots were given in the order %s, want %s", got, want)
		}
		if s.give("ann"); s.free != 2 || len(s.held) != 0 {
			t.Errorf("%d slots are free in the end and %v held, want 2 and none", s.free, s.held)
		}
	})
}

// TestSlotPassesToAClientWithFewer: a young search gives way to another client
// that has fewer, after a while, and not to its own client.
func TestSlotPassesToAClientWithFewer(t *testing.T) {
	for who, want := range map[string]bool{"ann": false, "bob": true} {
		synctest.Test(t, func(t *testing.T) {
			s := NewProcessors(1, 0)
			slot := s.Begin("ann", false, time.Now).Slot()
			came := false
			occupy := func() bool {
				t.Helper()
				if err := slot.Acquire(t.Context()); err != nil {
					t.Fatal(err)
				}
				return came
			}
			occupy()
			go func() {
				if s.take(t.Context(), who, false) == nil {
					came = true
					s.give(who)
				}
			}()
			synctest.Wait()
			if time.Sleep(sharedAfter / 2); occupy() {
				t.Errorf("%s has the slot of ann's search at once", who)
			}
			if time.Sleep(sharedAfter); occupy() != want {
				t.Errorf("%s has the slot of ann's search: %t, want %t", who, came, want)
			}
			slot.Leave()
			synctest.Wait()
		})
	}
}

// TestSlotsLetGo: a goroutine that gives up no longer waits, and no slot is lost.
func TestSlotsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewProcessors(1, 0)
		if err := s.take(t.Context(), "", true); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				if err := s.take(ctx, "", n%2 == 0); err == nil {
					s.give("")
				} else if !errors.Is(err, context.Canceled) {
					t.Errorf("take gave %v", err)
				}
			})
		}
		synctest.Wait()
		wg.Go(cancel)
		wg.Go(func() { s.give("") })
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
		s := NewProcessors(1, 0)
		search := s.Begin("", false, time.Now)
		slot := search.Slot()
		occupy := func() {
			t.Helper()
			if err := slot.Acquire(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		other := func() *atomic.Bool {
			came := &atomic.Bool{}
			go func() {
				if s.take(t.Context(), "", false) == nil {
					came.Store(true)
					s.give("")
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
		_ = search.WaitForClient(slot, func() error {
			time.Sleep(2 * patience)
			synctest.Wait()
			return nil
		})
		if !waits.Load() {
			t.Error("another search waits for the client of one")
		}
		if slot.Leave(); s.free != 1 {
			t.Errorf("%d slots are free in the end, want 1", s.free)
		}
	})
}

// TestSpareSlot: a client without a slot gets the spare one at once. There is no
// second one, and it never goes to a client that has a slot.
func TestSpareSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewProcessors(2, 1)
		for _, who := range []string{"ann", "ann", "bob"} {
			if err := s.take(t.Context(), who, false); err != nil {
				t.Fatal(err)
			}
		}
		var order []string
		var wg sync.WaitGroup
		for _, who := range []string{"ann", "bob", "cid"} {
			wg.Go(func() {
				if err := s.take(t.Context(), who, false); err != nil {
					t.Errorf("%s: %v", who, err)
				}
				order = append(order, who)
			})
			synctest.Wait()
		}
		if len(order) > 0 {
			t.Fatalf("%v have one beyond the spare one", order)
		}
		s.give("bob") // the spare one: for bob, who now has none and came before cid
		synctest.Wait()
		s.give("bob") // for cid
		synctest.Wait()
		s.give("cid") // ann, who has two, gets no spare one
		synctest.Wait()
		if got := strings.Join(order, " "); got != "bob cid" {
			t.Errorf("slots went to %s, want bob and cid", got)
		}
		s.give("ann")
		wg.Wait()
		if got := strings.Join(order, " "); got != "bob cid ann" || s.free != 0 {
			t.Errorf("slots went to %s and %d are free, want bob, cid, ann and none", got, s.free)
		}
	})
}
