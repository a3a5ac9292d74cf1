package admission_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/trawlsearch/trawl/query/search/admission"
)

func take(t *testing.T, queue *admission.Queue, who string) *admission.Ticket {
	t.Helper()
	turn, err := queue.Enter(t.Context(), who, false)
	if err != nil {
		t.Fatalf("take a turn for %s: %v", who, err)
	}
	return turn
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestQueueIsFair: who has fewest turns is next, and the first come
// among equals.
func TestQueueIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := admission.NewQueue(2, 2)
		first := []*admission.Ticket{take(t, queue, "many"), take(t, queue, "many")}
		var mu sync.Mutex
		var order []string
		var wg sync.WaitGroup
		got := make(chan *admission.Ticket, 6)
		for _, who := range []string{"many 1", "many 2", "one 1", "many 3", "two 1", "one 2"} {
			wg.Go(func() {
				name, _, _ := strings.Cut(who, " ")
				turn, err := queue.Enter(t.Context(), name, false)
				if err != nil {
					t.Errorf("take a turn for %s: %v", who, err)
					return
				}
				mu.Lock()
				order = append(order, who)
				mu.Unlock()
				got <- turn
			})
			synctest.Wait()
		}
		first[0].Leave()
		synctest.Wait()
		first[1].Leave()
		for range 6 {
			synctest.Wait()
			(<-got).Leave()
		}
		wg.Wait()
		// many has a turn left when the first ends, none when the second does.
		if g, w := fmt.Sprint(order), "[one 1 many 1 two 1 many 2 one 2 many 3]"; g != w {
			t.Errorf("turns were given in the order %s, want %s", g, w)
		}
		if n := queue.Working(); n != 0 {
			t.Errorf("%d turns are taken in the end, want 0", n)
		}
	})
}

// TestQueueKeepsTickets: a quarter of the slots is for clients with hardly any,
// whichever client came before.
func TestQueueKeepsTickets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := admission.NewQueue(8, 2)
		got := map[string]int{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		for _, who := range strings.Fields("many many many many many many many many one one one two") {
			wg.Go(func() {
				turn, err := queue.Enter(ctx, who, false)
				if err != nil {
					return
				}
				mu.Lock()
				got[who]++
				mu.Unlock()
				<-ctx.Done()
				turn.Leave()
			})
			synctest.Wait()
		}
		mu.Lock()
		if g, want := fmt.Sprint(got), "map[many:6 one:2]"; g != want {
			t.Errorf("turns went to %s, want %s: two are kept for one, and none is left for two", g, want)
		}
		mu.Unlock()
		cancel()
		wg.Wait()
		if n := queue.Working(); n != 0 {
			t.Errorf("%d turns are taken in the end, want 0", n)
		}
		for range queue.Most() {
			take(t, queue, "")
		}
	})
}

// TestStalledSearchYields: stalled searches yield only while others wait, only
// as many as wait, the longest stalled first, and none that goes on.
func TestStalledSearchYields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := admission.NewQueue(3, 2)
		a, b, c := take(t, queue, "a"), take(t, queue, "b"), take(t, queue, "c")
		ya, yb := a.Stall(), b.Stall()
		if closed(ya) || closed(yb) {
			t.Fatal("a search is to yield although none waits")
		}
		a.Resume()
		ya = a.Stall() // it stands less long than b now
		var next *admission.Ticket
		waited := make(chan struct{})
		go func() { defer close(waited); next = take(t, queue, "d") }()
		synctest.Wait()
		if !closed(yb) || closed(ya) {
			t.Fatalf("one waits: asked to yield are a %t, b %t; want b only", closed(ya), closed(yb))
		}
		b.Resume() // its client read at that moment
		if !closed(ya) {
			t.Fatal("b goes on, and a is not asked instead")
		}
		a.Resume()
		a.Leave()
		<-waited
		if yc := c.Stall(); closed(yc) {
			t.Error("c is to yield although none waits any more")
		}
		for _, turn := range []*admission.Ticket{b, c, next} {
			turn.Leave()
		}
	})
}

// TestResumedSearchBeyondItsShareRequestsNoYield: a search that waits because
// enough of its kind are running makes none yield, since it could not have that
// slot.
func TestResumedSearchBeyondItsShareRequestsNoYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := admission.NewQueue(8, 2)
		again := func() (*admission.Ticket, error) { return queue.Enter(t.Context(), "slow", true) }
		first, err := again()
		if err != nil {
			t.Fatal(err)
		}
		var second *admission.Ticket
		waited := make(chan struct{})
		go func() { defer close(waited); second, _ = again() }()
		synctest.Wait()
		stands := take(t, queue, "fast")
		yield := stands.Stall()
		if closed(yield) || queue.Waiting() != 1 {
			t.Errorf("asked to yield: %t, with %d waiting; want none asked, for a search that waits for its kind", closed(yield), queue.Waiting())
		}
		var held []*admission.Ticket
		for range 6 {
			held = append(held, take(t, queue, ""))
		}
		first.Leave()
		<-waited
		fresh := make(chan *admission.Ticket)
		go func() { fresh <- take(t, queue, "") }()
		synctest.Wait()
		if !closed(yield) {
			t.Error("not asked to yield for one who can have the turn")
		}
		stands.Resume()
		stands.Leave()
		for _, turn := range append(held, second, <-fresh) {
			turn.Leave()
		}
	})
}

func TestYieldRequestEndsWithItsWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := admission.NewQueue(1, 2)
		held := take(t, queue, "a")
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() {
			_, err := queue.Enter(ctx, "b", false)
			failed <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) || queue.Waiting() != 0 {
			t.Errorf("waiting gave %v with %d waiting, want %v and none", err, queue.Waiting(), context.Canceled)
		}
		held.Leave()
		take(t, queue, "c").Leave()
	})
}

// TestQueueUnderLoad: no more slots are out than there are, and none is lost,
// however searches cancel, stall and yield.
func TestQueueUnderLoad(t *testing.T) {
	const most = 3
	queue := admission.NewQueue(most, 2)
	var working atomic.Int32
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 31))
			for range 200 {
				ctx, cancel := context.WithCancel(context.Background())
				if rng.IntN(3) == 0 {
					go cancel()
				}
				turn, err := queue.Enter(ctx, fmt.Sprint(i%4), false)
				if err != nil {
					cancel()
					continue
				}
				if n := working.Add(1); n > most {
					t.Errorf("%d search at once, want at most %d", n, most)
				}
				for range rng.IntN(3) {
					if wanted := turn.Stall(); rng.IntN(2) == 0 && queue.Waiting() > most {
						<-wanted // as many as wait are asked, which all that stand are
					}
					turn.Resume()
				}
				working.Add(-1)
				turn.Leave()
				cancel()
			}
		})
	}
	wg.Wait()
	if queue.Working() != 0 || queue.Waiting() != 0 {
		t.Errorf("in the end %d work and %d wait, want none", queue.Working(), queue.Waiting())
	}
}

// TestResumedSearchesLeaveProcessors: however many turns there are, half the
// processors are for who has not been there before.
func TestResumedSearchesLeaveProcessors(t *testing.T) {
	for _, test := range []struct{ turns, processors, want int }{{1, 64, 1}, {8, 1, 1}, {32, 2, 2}, {32, 4, 2}, {32, 6, 3}, {32, 64, 4}, {1024, 16, 8}} {
		synctest.Test(t, func(t *testing.T) {
			queue := admission.NewQueue(test.turns, test.processors)
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			var came atomic.Int32
			for range test.turns {
				wg.Go(func() {
					if turn, err := queue.Enter(ctx, "", true); err == nil {
						came.Add(1)
						defer turn.Leave()
						<-ctx.Done()
					}
				})
			}
			synctest.Wait()
			if got := int(came.Load()); got != test.want {
				t.Errorf("%d turns, %d processors: %d came back at once, want %d", test.turns, test.processors, got, test.want)
			}
			if test.turns > test.want {
				turn, err := queue.Enter(ctx, "", false)
				if err != nil {
					t.Fatalf("%d turns, %d processors: no slot for another client: %v", test.turns, test.processors, err)
				}
				turn.Leave()
			}
			cancel()
			wg.Wait()
		})
	}
}

// TestResumedSearchesGoLast: at most an eighth of the turns at once, behind the
// others, but not never.
func TestResumedSearchesGoLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := admission.NewQueue(8, 2)
		var held []*admission.Ticket
		for range 8 {
			held = append(held, take(t, queue, ""))
		}
		var mu sync.Mutex
		var order strings.Builder
		var wg sync.WaitGroup
		got := make(chan *admission.Ticket, 32)
		for n := range 32 {
			again := n < 16
			wg.Go(func() {
				turn, err := queue.Enter(t.Context(), "", again)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order.WriteString(map[bool]string{true: "b", false: "f"}[again])
				mu.Unlock()
				got <- turn
			})
			synctest.Wait()
		}
		for _, turn := range held {
			turn.Leave()
			synctest.Wait()
		}
		for range 32 {
			(<-got).Leave()
			synctest.Wait()
		}
		wg.Wait()
		if g, w := order.String(), "fffffffbfffffffff"+strings.Repeat("b", 15); g != w {
			t.Errorf("in line were 16 who come back (b) before 16 others (f); turns were given in the order\n%s, want\n%s", g, w)
		}
	})
}
