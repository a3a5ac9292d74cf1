package httpapi

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"golang.org/x/sync/semaphore"

	"github.com/trawlsearch/trawl/httpapi/searchtest"
	"github.com/trawlsearch/trawl/httpapi/stream/event"
	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/query/search/answer"
)

// padded is a path match that takes n bytes as JSON.
func padded(n int) query.Match {
	m := &query.FileMatch{Repo: searchtest.Kiln}
	var e event.Encoder
	m.Path = strings.Repeat("p", n-len(e.Append(nil, m)))
	return m
}

// jsonOf is the JSON of a matches event, as long as the event is framed right.
func jsonOf(event []byte) string {
	text, begins := strings.CutPrefix(string(event), "event: matches\ndata: ")
	text, ends := strings.CutSuffix(text, "\n\n")
	if !begins || !ends {
		return ""
	}
	return text
}

func takeAll(o *outbox) (sizes []int) {
	for {
		event := o.take()
		if event == nil {
			return sizes
		}
		sizes = append(sizes, len(jsonOf(event)))
		o.wrote(event)
	}
}

func put(t *testing.T, o *outbox, sizes ...int) {
	t.Helper()
	var matches []query.Match
	for _, n := range sizes {
		matches = append(matches, padded(n))
	}
	if err := o.put(t.Context(), matches); err != nil {
		t.Fatalf("put %v: %v", sizes, err)
	}
}

func checkSizes(t *testing.T, what string, got, want []int) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: took events of %v bytes, want %v", what, got, want)
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s: took events of %v bytes, want %v", what, got, want)
			return
		}
	}
}

func TestOutboxSeals(t *testing.T) {
	o := newOutbox(event.Encoder{}, defaultStreamBuffer, semaphore.NewWeighted(1<<30), nil)
	put(t, o)
	checkSizes(t, "an empty batch", takeAll(o), nil)
	put(t, o, 1000, 1000)
	checkSizes(t, "the first batch", takeAll(o), []int{2003})
	put(t, o, 1000)
	checkSizes(t, "a later small batch", takeAll(o), nil)
	put(t, o, 32768-1-1-1000-1) // bracket, comma: one byte short
	checkSizes(t, "one byte short", takeAll(o), nil)
	put(t, o, 500)
	checkSizes(t, "a large enough event", takeAll(o), []int{32767 + 1 + 500 + 1})
	put(t, o, 40_000, 500)
	checkSizes(t, "a match larger than an event needs to be", takeAll(o), []int{40_002})
	o.sealOpen()
	checkSizes(t, "the rest, on demand", takeAll(o), []int{502})
	o.sealOpen()
	checkSizes(t, "nothing left", takeAll(o), nil)
	if o.held != 0 {
		t.Errorf("%d bytes are held when all is written, want 0", o.held)
	}
}

func TestOutboxFullMakesTheSearchWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 100_000
		o := newOutbox(event.Encoder{}, limit, semaphore.NewWeighted(1<<30), nil)
		put(t, o, 500)
		var batch []query.Match
		for range 1000 {
			batch = append(batch, padded(1000))
		}
		finished := make(chan error, 1)
		go func() { finished <- o.put(t.Context(), batch) }()
		written := 0
		for waits := 0; ; waits++ {
			synctest.Wait()
			select {
			case err := <-finished:
				o.sealOpen()
				for _, n := range takeAll(o) {
					written += n
				}
				if err != nil || waits < 5 || written < 1000*1000 || o.mostHeld() > limit {
					t.Errorf("put ended with %v after %d waits, %d bytes written, at most %d held; want many waits, everything, at most %d",
						err, waits, written, o.mostHeld(), limit)
				}
				return
			default:
			}
			event := o.take()
			if event == nil {
				t.Fatalf("put waits for room, but there is nothing to write")
			}
			// bytes being written are held too
			synctest.Wait()
			select {
			case <-finished:
				t.Fatalf("put ended while the outbox was full")
			default:
			}
			written += len(event)
			o.wrote(event)
		}
	})
}

func TestOutboxWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOutbox(event.Encoder{}, 50_000, semaphore.NewWeighted(1<<30), nil)
		put(t, o, 40_000)
		ctx, cancel := context.WithCancel(t.Context())
		finished := make(chan error, 1)
		go func() { finished <- o.put(ctx, []query.Match{padded(20_000)}) }()
		synctest.Wait()
		cancel()
		if err := <-finished; !errors.Is(err, context.Canceled) {
			t.Errorf("put gave %v, want %v", err, context.Canceled)
		}
	})
}

func TestOutboxDividesAHugeMatch(t *testing.T) {
	o := newOutbox(event.Encoder{Chunks: true}, 100<<20, semaphore.NewWeighted(1<<30), nil)
	c := searchtest.Hits(strings.Repeat("e", 100_000), 1)
	if err := o.put(t.Context(), []query.Match{&query.FileMatch{Repo: searchtest.Kiln, Path: "p", Chunks: []query.Chunk{c}}}); err != nil {
		t.Fatal(err)
	}
	ranges := 0
	for text := o.take(); text != nil; text = o.take() {
		if len(text) > 10<<20 {
			t.Errorf("an event of %d bytes is over the limit", len(text))
		}
		ranges += strings.Count(string(text), `"start"`)
	}
	if ranges != 100_000 {
		t.Errorf("the events hold %d ranges, want 100000", ranges)
	}
}

// standing is an outbox whose search has the only ticket, which others want.
func standing(t *testing.T, e event.Encoder, limit int, pool *semaphore.Weighted) *outbox {
	queue := admission.NewQueue(1, 2)
	o := newOutbox(e, limit, pool, nil)
	var err error
	if o.ticket, err = queue.Enter(t.Context(), "", false); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan struct{})
	go func() {
		defer close(waiting)
		if next, err := queue.Enter(ctx, "", false); err == nil {
			next.Leave()
		}
	}()
	t.Cleanup(func() {
		cancel()
		o.ticket.Leave()
		<-waiting
	})
	synctest.Wait()
	return o
}

// TestOutboxYields: a search whose ticket is wanted does not wait for its client,
// and goes on after the last match that was taken, in the middle of one that was
// divided too.
func TestOutboxYields(t *testing.T) {
	huge := func() query.Match {
		c := searchtest.Hits(strings.Repeat("e", race.Scaled(200_000, 60_000)), 1)
		return &query.FileMatch{Repo: searchtest.Kiln, Path: "huge", Chunks: []query.Chunk{c}}
	}
	for _, test := range []struct {
		what    string
		matches []query.Match
		want    int // how often it yields at least
	}{
		{"small matches", slices.Repeat([]query.Match{padded(1000)}, 300), 4},
		{"matches larger than the outbox", slices.Repeat([]query.Match{padded(80_000)}, 5), 4},
		{"a match in parts", []query.Match{huge(), padded(1000)}, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			whole := newOutbox(event.Encoder{Chunks: true}, 1<<30, semaphore.NewWeighted(1<<30), nil)
			if err := whole.put(t.Context(), test.matches); err != nil {
				t.Fatal(err)
			}
			whole.sealOpen()
			o := standing(t, event.Encoder{Chunks: true}, leastBuffer, semaphore.NewWeighted(0))
			var got strings.Builder
			left, yields := test.matches, 0
			for {
				err := o.put(t.Context(), left)
				var yield *answer.YieldError
				if errors.As(err, &yield) {
					left = left[yield.Delivered:]
					yields++
				} else if err != nil {
					t.Fatalf("%s: %v", test.what, err)
				}
				o.sealOpen()
				got.WriteString(content(o))
				if err == nil {
					break
				}
			}
			if want := content(whole); got.String() != want || yields < test.want {
				t.Errorf("%s: after %d yields %d bytes of matches were taken, want at least %d and %d bytes",
					test.what, yields, got.Len(), test.want, len(want))
			}
		})
	}
}

// TestOutboxYieldsInTheEnd: a search that blocks no other does not keep its
// unread matches for as long as its client likes.
func TestOutboxYieldsInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOutbox(event.Encoder{Chunks: true}, leastBuffer, semaphore.NewWeighted(0), nil)
		var err error
		if o.ticket, err = admission.NewQueue(1, 2).Enter(t.Context(), "", false); err != nil {
			t.Fatal(err)
		}
		defer o.ticket.Leave()
		began := time.Now()
		err = o.put(t.Context(), slices.Repeat([]query.Match{padded(1000)}, 300))
		var yield *answer.YieldError
		if !errors.As(err, &yield) || yield.Delivered < 10 || time.Since(began) != standAtMost {
			t.Errorf("after %v: got %v, want that it yields after %v", time.Since(began), err, standAtMost)
		}
	})
}

// TestOutboxRestsInWhatItHolds: while a slow client reads, the memory of its
// outbox is that of what it has still to read.
func TestOutboxRestsInWhatItHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := standing(t, event.Encoder{}, leastBuffer, semaphore.NewWeighted(0))
		var yield *answer.YieldError
		if err := o.put(t.Context(), []query.Match{padded(1000), padded(33_000), padded(1000), padded(2_000_000)}); !errors.As(err, &yield) || yield.Delivered != 3 {
			t.Fatalf("put gave %v, want that it yields after 3 matches", err)
		}
		o.rest(true)
		memory := cap(o.scratch) + cap(o.open)
		for _, event := range append(slices.Clone(o.sealed), o.spares...) {
			memory += cap(event)
		}
		if memory > o.held+o.held/4 || o.held < 35_000 {
			t.Errorf("%d bytes of memory for %d that are held, want hardly more", memory, o.held)
		}
	})
}

// TestOutboxForgetsWhatWasTaken: while a slow client reads the rest, nothing
// keeps the memory of what it has read.
func TestOutboxForgetsWhatWasTaken(t *testing.T) {
	o := newOutbox(event.Encoder{Chunks: true}, 1<<30, semaphore.NewWeighted(1<<30), nil)
	if err := o.put(t.Context(), slices.Repeat([]query.Match{padded(33_000)}, 8)); err != nil {
		t.Fatal(err)
	}
	o.rest(true)
	var taken []weak.Pointer[byte]
	for range 7 {
		event := o.take()
		taken = append(taken, weak.Make(&event[0]))
		o.wrote(event)
	}
	runtime.GC()
	for n, p := range taken {
		if p.Value() != nil {
			t.Errorf("event %d was written and is still in memory", n)
		}
	}
	if o.take() == nil {
		t.Error("the last event is gone, want it held")
	}
}

// content takes the matches of all events, without what is around them.
func content(o *outbox) string {
	var b strings.Builder
	for event := o.take(); event != nil; event = o.take() {
		b.WriteString(strings.TrimSuffix(strings.TrimPrefix(jsonOf(event), "["), "]") + ",")
		o.wrote(event)
	}
	return b.String()
}

// TestOutboxesShareMemory: beyond the least that each may hold there is what all
// have, and it is there again when they have ended.
func TestOutboxesShareMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := semaphore.NewWeighted(256 << 10)
		fill := func() *outbox {
			o := standing(t, event.Encoder{}, defaultStreamBuffer, pool)
			var yield *answer.YieldError
			if err := o.put(t.Context(), slices.Repeat([]query.Match{padded(1000)}, 2000)); !errors.As(err, &yield) {
				t.Fatalf("put gave %v, want it to yield", err)
			}
			return o
		}
		var all []*outbox
		sum := 0
		for range 8 {
			o := fill()
			all = append(all, o)
			sum += o.mostHeld()
			if o.mostHeld() < leastBuffer-event.FullBytes {
				t.Errorf("outbox %d of 8 holds %d bytes, want about %d at least", len(all), o.mostHeld(), leastBuffer)
			}
		}
		if most := 8*leastBuffer + 256<<10; sum > most || sum < most*3/4 {
			t.Errorf("8 outboxes hold %d bytes, want at most %d and not much less", sum, most)
		}
		all[0].rest(true)
		takeAll(all[0])
		if o := fill(); o.mostHeld() < leastBuffer+100<<10 {
			t.Errorf("an outbox holds %d bytes after another was read, want what that one had", o.mostHeld())
		} else {
			all = append(all, o)
		}
		for _, o := range all {
			o.close()
		}
		if !pool.TryAcquire(256 << 10) {
			t.Error("bytes of the pool are still held when all have ended")
		}
	})
}
