package search

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/fair"
)

// TestSlotsGoToTheYoung: who has verified little goes first, three times out of
// four, and the first come among equals.
func TestSlotsGoToTheYoung(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1, 0)
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

// TestSlotsAreShared: among equals a slot goes to whoever asks with the fewest.
func TestSlotsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(2, 0)
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

// TestSeatsAreShared: a young search gives way to another asker who has fewer,
// after a while, and not to its own.
func TestSeatsAreShared(t *testing.T) {
	for who, want := range map[string]bool{"ann": false, "bob": true} {
		synctest.Test(t, func(t *testing.T) {
			s := newSlots(1, 0)
			r := &run{Searcher: &Searcher{slots: s, set: Settings{Now: time.Now}}, o: Options{Asker: "ann"}, began: time.Now()}
			r.seat.run = r
			came := false
			occupy := func() bool {
				t.Helper()
				if err := r.seat.occupy(t.Context()); err != nil {
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
			r.seat.leave()
			synctest.Wait()
		})
	}
}

// TestSlotsLetGo: who gives up leaves the line, and no slot is lost.
func TestSlotsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1, 0)
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

// TestSlotsAreWorkers: as many search at once as the settings say.
func TestSlotsAreWorkers(t *testing.T) {
	st, err := store.Open("data", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if _, free := New(st, Settings{Workers: 3}).AtWork(); free != 3 {
		t.Errorf("%d slots for 3 workers", free)
	}
}

// TestSlotsAreKept: a search that works alone lets others wait until it is old,
// or its client keeps it waiting.
func TestSlotsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1, 0)
		r := &run{Searcher: &Searcher{slots: s, set: Settings{Now: time.Now}}, began: time.Now()}
		r.seat.run = r
		occupy := func() {
			t.Helper()
			if err := r.seat.occupy(t.Context()); err != nil {
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
		stop := r.seat.leaveAfter(patience)
		time.Sleep(2 * patience)
		synctest.Wait()
		if stop(); !waits.Load() {
			t.Error("another search waits for the client of one")
		}
		if r.seat.leave(); s.free != 1 {
			t.Errorf("%d slots are free in the end, want 1", s.free)
		}
	})
}

// TestGitSlotsAreDivided: one asker's searches do not keep others from git.
func TestGitSlotsAreDivided(t *testing.T) {
	s := &Searcher{gitSlots: fair.NewSemaphore(gitSlots, waitingForGit)}
	ann, bob := &run{Searcher: s, o: Options{Asker: "ann"}}, &run{Searcher: s, o: Options{Asker: "bob"}}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 10 * gitSlots {
		wg.Go(func() {
			if release, err := ann.takeSlot(ctx); err == nil {
				defer release()
				<-ctx.Done()
			}
		})
	}
	for s.gitSlots.Waiting() == 0 {
		runtime.Gosched()
	}
	release, err := bob.takeSlot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
	cancel()
	wg.Wait()
	if s.gitSlots.Held() != 0 {
		t.Errorf("%d slots of git are held in the end", s.gitSlots.Held())
	}
}

// TestSpareSlot: whoever has none need not wait for what others have, but no
// second one is spared, and what is spared is not passed on to who has some.
func TestSpareSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(2, 1)
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
