package fair_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/trawlsearch/trawl/store/fair"
)

func acquire(t *testing.T, s *fair.Semaphore, client string, n int64) *fair.Grant {
	t.Helper()
	g, err := s.Acquire(t.Context(), client, n)
	if err != nil {
		t.Fatalf("acquire %d for %s: %v", n, client, err)
	}
	return g
}

// order has requests wait, in the order given, and returns the order in which
// they are served when release is called. Each ends at once.
func order(t *testing.T, s *fair.Semaphore, clients []string, release func()) []string {
	t.Helper()
	served := make(chan string, len(clients))
	var wg sync.WaitGroup
	for _, c := range clients {
		wg.Go(func() {
			g, err := s.Acquire(t.Context(), c, 1)
			if err != nil {
				t.Errorf("acquire for %s: %v", c, err)
				return
			}
			served <- c
			g.Release()
		})
		synctest.Wait()
	}
	release()
	wg.Wait()
	close(served)
	var all []string
	for c := range served {
		all = append(all, c)
	}
	return all
}

func TestClientWithLeastIsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fair.NewSemaphore(4, 0)
		var held []*fair.Grant
		for range 3 {
			held = append(held, acquire(t, s, "a", 1))
		}
		held = append(held, acquire(t, s, "b", 1))
		got := order(t, s, []string{"a", "a", "c"}, func() {
			for _, g := range held {
				g.Release()
				synctest.Wait()
			}
		})
		if got[0] != "c" {
			t.Errorf("served %v, want c first, whose client holds nothing", got)
		}
	})
}

func TestReserveIsForNewClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fair.NewSemaphore(8, 0)
		for range 6 {
			acquire(t, s, "a", 1)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var grant *fair.Grant
		var err error
		var wg sync.WaitGroup
		wg.Go(func() { grant, err = s.Acquire(ctx, "a", 1) })
		synctest.Wait()
		if s.Waiting() != 1 {
			t.Fatalf("%d wait, want the seventh request of a client that may hold six", s.Waiting())
		}
		acquire(t, s, "b", 1)
		cancel()
		wg.Wait()
		grant.Release() // has nothing to give back
		if !errors.Is(err, context.Canceled) || s.Waiting() != 0 || s.Held() != 7 {
			t.Errorf("after cancel: %v, %d wait, %d held; want canceled, 0, 7", err, s.Waiting(), s.Held())
		}
	})
}

func TestMoreThanCapacityIsServed(t *testing.T) {
	s := fair.NewSemaphore(8, 0)
	acquire(t, s, "a", 1<<40).Release()
	if s.Held() != 0 {
		t.Errorf("%d held after release", s.Held())
	}
}

func TestWaitingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fair.NewSemaphore(1, 2)
		g := acquire(t, s, "a", 1)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { acquire(t, s, "a", 1).Release() })
		}
		synctest.Wait()
		if _, err := s.Acquire(t.Context(), "a", 1); !errors.Is(err, fair.ErrBusy) {
			t.Errorf("third request that waits: %v, want ErrBusy", err)
		}
		wg.Go(func() { acquire(t, s, "b", 1).Release() })
		synctest.Wait()
		g.Release()
		wg.Wait()
	})
}

func TestGrowNeverWaits(t *testing.T) {
	s := fair.NewSemaphore(8, 0)
	g := acquire(t, s, "a", 1)
	if !g.Grow(5) || g.Grow(1) {
		t.Error("want room for 5 more, and not for 6 of 8")
	}
	g.Shrink(2)
	if s.Held() != 2 {
		t.Errorf("%d held after Shrink(2)", s.Held())
	}
	g.Shrink(5)
	if s.Held() != 2 {
		t.Errorf("%d held after Shrink(5) of 2", s.Held())
	}
	g.Release()
	g.Release()
	if s.Held() != 0 {
		t.Errorf("%d held after release", s.Held())
	}
}

// A client that holds little can hold a little more, although another has all
// that it can get and waits for more. Nothing is taken from a client that waits
// and holds less.
func TestGrowBesideClientWithAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fair.NewSemaphore(64, 0)
		all := acquire(t, s, "greedy", s.Most())
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wait := func(client string, n int64) {
			wg.Go(func() {
				if _, err := s.Acquire(ctx, client, n); err == nil {
					t.Errorf("%s was granted %d", client, n)
				}
			})
			synctest.Wait()
		}
		wait("greedy", 1)
		if all.Grow(1) {
			t.Error("the greedy client grew into what is kept for others")
		}
		g := acquire(t, s, "modest", 2)
		if !g.Grow(6) || g.Grow(1) {
			t.Error("want room for 6 more beside 2, half of what is kept, and not for 7")
		}
		g.Shrink(2)
		wait("new", 40)
		if g.Grow(1) {
			t.Error("grew before a client that waits and holds nothing")
		}
		cancel()
		wg.Wait()
		g.Release()
		all.Release()
	})
}

func TestYieldServesClientWithLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fair.NewSemaphore(1, 0)
		a := acquire(t, s, "a", 1)
		if err := a.Yield(t.Context()); err != nil { // none waits
			t.Fatal(err)
		}
		var served atomic.Bool
		var wg sync.WaitGroup
		wg.Go(func() {
			g := acquire(t, s, "b", 1)
			served.Store(true)
			g.Release()
		})
		synctest.Wait()
		if err := a.Yield(t.Context()); err != nil || !served.Load() || s.Held() != 1 {
			t.Errorf("yield: %v, served %v, held %d; want the other client served and the grant back", err, served.Load(), s.Held())
		}
		wg.Wait()
	})
}

// A grant that waits holds nothing, so a release gives nothing back, and what is
// granted behind that does not stay with it.
func TestReleaseOfGrantThatYields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fair.NewSemaphore(1, 0)
		a := acquire(t, s, "a", 1)
		other := make(chan *fair.Grant, 1)
		var wg sync.WaitGroup
		wg.Go(func() { other <- acquire(t, s, "b", 1) })
		synctest.Wait()
		wg.Go(func() {
			if err := a.Yield(t.Context()); err != nil {
				t.Errorf("yield: %v", err)
			}
		})
		synctest.Wait()
		if a.Shrink(0); s.Held() != 1 || a.Grow(0) {
			t.Errorf("%d held after the grant that waits was shrunk, want the 1 of the other client", s.Held())
		}
		if a.Release(); s.Held() != 1 {
			t.Errorf("%d held after the grant that waits was released, want the 1 of the other client", s.Held())
		}
		(<-other).Release()
		wg.Wait()
		if s.Held() != 0 || s.Waiting() != 0 {
			t.Errorf("%d held and %d waiting at the end", s.Held(), s.Waiting())
		}
	})
}

// Whatever clients do, no more is granted than there is, all of it comes back,
// and every request is served.
func TestRandomClients(t *testing.T) {
	seed := rand.Uint64()
	const capacity = 16
	s := fair.NewSemaphore(capacity, 0)
	var held atomic.Int64
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			for range 300 {
				n := 1 + r.Int64N(12)
				ctx, cancel := context.WithCancel(t.Context())
				if r.IntN(8) == 0 {
					cancel()
				}
				g, err := s.Acquire(ctx, fmt.Sprint(i%5), n)
				cancel()
				if err != nil {
					continue
				}
				if now := held.Add(n); now > capacity {
					t.Errorf("seed %d: %d granted of %d", seed, now, capacity)
				}
				held.Add(-n)
				if r.IntN(2) == 0 {
					if err := g.Yield(t.Context()); err != nil {
						t.Errorf("seed %d: yield: %v", seed, err)
					}
				}
				g.Release()
			}
		})
	}
	wg.Wait()
	if s.Held() != 0 || s.Waiting() != 0 {
		t.Errorf("seed %d: %d held and %d waiting at the end", seed, s.Held(), s.Waiting())
	}
}
