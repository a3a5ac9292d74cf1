package stream

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
	"github.com/trawlsearch/trawl/query/search"
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

func newSink(ctx context.Context, e event.Encoder, limit int, shared *semaphore.Weighted) *sink {
	return &sink{ctx: ctx, encoder: e, buffer: newBuffer(limit, shared, &eventPool{}), bookmark: &search.Bookmark{}}
}

func takeAll(s *sink) (sizes []int) {
	for {
		event := s.buffer.take()
		if event == nil {
			return sizes
		}
		sizes = append(sizes, len(jsonOf(event)))
		s.buffer.free(event)
	}
}

func put(t *testing.T, s *sink, sizes ...int) {
	t.Helper()
	var matches []query.Match
	for _, n := range sizes {
		matches = append(matches, padded(n))
	}
	if err := s.put(matches); err != nil {
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

func TestBufferSeals(t *testing.T) {
	s := newSink(t.Context(), event.Encoder{}, defaultClientBytes, semaphore.NewWeighted(1<<30))
	put(t, s)
	checkSizes(t, "an empty batch", takeAll(s), nil)
	put(t, s, 1000, 1000)
	checkSizes(t, "the first batch", takeAll(s), []int{2003})
	put(t, s, 1000)
	checkSizes(t, "a later small batch", takeAll(s), nil)
	put(t, s, 32768-1-1-1000-1) // bracket, comma: one byte short
	checkSizes(t, "one byte short", takeAll(s), nil)
	put(t, s, 500)
	checkSizes(t, "a large enough event", takeAll(s), []int{32767 + 1 + 500 + 1})
	put(t, s, 40_000, 500)
	checkSizes(t, "a match larger than an event needs to be", takeAll(s), []int{40_002})
	s.buffer.seal()
	checkSizes(t, "the rest, on demand", takeAll(s), []int{502})
	s.buffer.seal()
	checkSizes(t, "nothing left", takeAll(s), nil)
	if s.buffer.held != 0 {
		t.Errorf("%d bytes are held when all is written, want 0", s.buffer.held)
	}
}

func TestFullBufferMakesTheSearchWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 100_000
		s := newSink(t.Context(), event.Encoder{}, limit, semaphore.NewWeighted(1<<30))
		put(t, s, 500)
		var batch []query.Match
		for range 1000 {
			batch = append(batch, padded(1000))
		}
		finished := make(chan error, 1)
		go func() { finished <- s.put(batch) }()
		written := 0
		for waits := 0; ; waits++ {
			synctest.Wait()
			select {
			case err := <-finished:
				s.buffer.seal()
				for _, n := range takeAll(s) {
					written += n
				}
				if err != nil || waits < 5 || written < 1000*1000 || s.buffer.mostHeld() > limit {
					t.Errorf("put ended with %v after %d waits, %d bytes written, at most %d held; want many waits, everything, at most %d",
						err, waits, written, s.buffer.mostHeld(), limit)
				}
				return
			default:
			}
			event := s.buffer.take()
			if event == nil {
				t.Fatalf("put waits for room, but there is nothing to write")
			}
			// bytes being written are held too
			synctest.Wait()
			select {
			case <-finished:
				t.Fatalf("put ended while the buffer was full")
			default:
			}
			written += len(event)
			s.buffer.free(event)
		}
	})
}

func TestSinkWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSink(t.Context(), event.Encoder{}, 50_000, semaphore.NewWeighted(1<<30))
		put(t, s, 40_000)
		ctx, cancel := context.WithCancel(t.Context())
		s.ctx = ctx
		finished := make(chan error, 1)
		go func() { finished <- s.put([]query.Match{padded(20_000)}) }()
		synctest.Wait()
		cancel()
		if err := <-finished; !errors.Is(err, context.Canceled) {
			t.Errorf("put gave %v, want %v", err, context.Canceled)
		}
	})
}

func TestSinkDividesAHugeMatch(t *testing.T) {
	s := newSink(t.Context(), event.Encoder{Chunks: true}, 100<<20, semaphore.NewWeighted(1<<30))
	c := searchtest.Hits(strings.Repeat("e", 100_000), 1)
	if err := s.put([]query.Match{&query.FileMatch{Repo: searchtest.Kiln, Path: "p", Chunks: []query.Chunk{c}}}); err != nil {
		t.Fatal(err)
	}
	ranges := 0
	for text := s.buffer.take(); text != nil; text = s.buffer.take() {
		if len(text) > 10<<20 {
			t.Errorf("an event of %d bytes is over the limit", len(text))
		}
		ranges += strings.Count(string(text), `"start"`)
	}
	if ranges != 100_000 {
		t.Errorf("the events hold %d ranges, want 100000", ranges)
	}
}

// standing is the sink of a search that has the only ticket, which others want.
func standing(t *testing.T, e event.Encoder, limit int, pool *semaphore.Weighted) *sink {
	queue := admission.NewQueue(1, 2)
	s := newSink(t.Context(), e, limit, pool)
	var err error
	if s.bookmark.Ticket, err = queue.Enter(t.Context(), "", false); err != nil {
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
		s.bookmark.Ticket.Leave()
		<-waiting
	})
	synctest.Wait()
	return s
}

// TestSinkYields: a search whose ticket is wanted does not wait for its client,
// and goes on after the last match that was taken, in the middle of one that was
// divided too.
func TestSinkYields(t *testing.T) {
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
		{"matches larger than the buffer", slices.Repeat([]query.Match{padded(80_000)}, 5), 4},
		{"a match in parts", []query.Match{huge(), padded(1000)}, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			whole := newSink(t.Context(), event.Encoder{Chunks: true}, 1<<30, semaphore.NewWeighted(1<<30))
			if err := whole.put(test.matches); err != nil {
				t.Fatal(err)
			}
			whole.buffer.seal()
			s := standing(t, event.Encoder{Chunks: true}, leastBuffer, semaphore.NewWeighted(0))
			var got strings.Builder
			left, yields := test.matches, 0
			for {
				err := s.put(left)
				var yield *answer.YieldError
				if errors.As(err, &yield) {
					left = left[yield.Delivered:]
					yields++
				} else if err != nil {
					t.Fatalf("%s: %v", test.what, err)
				}
				s.buffer.seal()
				got.WriteString(content(s))
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

// TestSinkYieldsInTheEnd: a search that blocks no other does not keep its
// unread matches for as long as its client likes.
func TestSinkYieldsInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSink(t.Context(), event.Encoder{Chunks: true}, leastBuffer, semaphore.NewWeighted(0))
		var err error
		if s.bookmark.Ticket, err = admission.NewQueue(1, 2).Enter(t.Context(), "", false); err != nil {
			t.Fatal(err)
		}
		defer s.bookmark.Ticket.Leave()
		began := time.Now()
		err = s.put(slices.Repeat([]query.Match{padded(1000)}, 300))
		var yield *answer.YieldError
		if !errors.As(err, &yield) || yield.Delivered < 10 || time.Since(began) != maxStall {
			t.Errorf("after %v: got %v, want that it yields after %v", time.Since(began), err, maxStall)
		}
	})
}

// TestIdleBufferKeepsWhatItHolds: while a slow client reads, the memory of its
// buffer is that of what it has still to read.
func TestIdleBufferKeepsWhatItHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := standing(t, event.Encoder{}, leastBuffer, semaphore.NewWeighted(0))
		var yield *answer.YieldError
		if err := s.put([]query.Match{padded(1000), padded(33_000), padded(1000), padded(2_000_000)}); !errors.As(err, &yield) || yield.Delivered != 3 {
			t.Fatalf("put gave %v, want that it yields after 3 matches", err)
		}
		s.shrink()
		memory := cap(s.scratch) + cap(s.buffer.open)
		for _, event := range s.buffer.sealed {
			memory += cap(event)
		}
		if memory > s.buffer.held+s.buffer.held/4 || s.buffer.held < 35_000 {
			t.Errorf("%d bytes of memory for %d that are held, want hardly more", memory, s.buffer.held)
		}
	})
}

// TestBufferForgetsWhatWasTaken: while a slow client reads the rest, nothing
// keeps the memory of what it has read.
func TestBufferForgetsWhatWasTaken(t *testing.T) {
	s := newSink(t.Context(), event.Encoder{Chunks: true}, 1<<30, semaphore.NewWeighted(1<<30))
	if err := s.put(slices.Repeat([]query.Match{padded(33_000)}, 8)); err != nil {
		t.Fatal(err)
	}
	s.shrink()
	var taken []weak.Pointer[byte]
	for range 7 {
		event := s.buffer.take()
		taken = append(taken, weak.Make(&event[0]))
		s.buffer.free(event)
	}
	runtime.GC()
	runtime.GC() // other streams may have it up to the second
	for n, p := range taken {
		if p.Value() != nil {
			t.Errorf("event %d was written and is still in memory", n)
		}
	}
	if s.buffer.take() == nil {
		t.Error("the last event is gone, want it held")
	}
}

// content takes the matches of all events, without what is around them.
func content(s *sink) string {
	var b strings.Builder
	for event := s.buffer.take(); event != nil; event = s.buffer.take() {
		b.WriteString(strings.TrimSuffix(strings.TrimPrefix(jsonOf(event), "["), "]") + ",")
		s.buffer.free(event)
	}
	return b.String()
}

// TestBuffersShareMemory: beyond the least that each may hold there is what all
// have, and it is there again when they have ended.
func TestBuffersShareMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := semaphore.NewWeighted(256 << 10)
		fill := func() *sink {
			s := standing(t, event.Encoder{}, defaultClientBytes, pool)
			var yield *answer.YieldError
			if err := s.put(slices.Repeat([]query.Match{padded(1000)}, 2000)); !errors.As(err, &yield) {
				t.Fatalf("put gave %v, want it to yield", err)
			}
			return s
		}
		var all []*sink
		sum := 0
		for range 8 {
			s := fill()
			all = append(all, s)
			sum += s.buffer.mostHeld()
			if s.buffer.mostHeld() < leastBuffer-event.FullBytes {
				t.Errorf("buffer %d of 8 holds %d bytes, want about %d at least", len(all), s.buffer.mostHeld(), leastBuffer)
			}
		}
		if most := 8*leastBuffer + 256<<10; sum > most || sum < most*3/4 {
			t.Errorf("8 buffers hold %d bytes, want at most %d and not much less", sum, most)
		}
		all[0].shrink()
		takeAll(all[0])
		if s := fill(); s.buffer.mostHeld() < leastBuffer+100<<10 {
			t.Errorf("a buffer holds %d bytes after another was read, want what that one had", s.buffer.mostHeld())
		} else {
			all = append(all, s)
		}
		for _, s := range all {
			s.buffer.close()
		}
		if !pool.TryAcquire(256 << 10) {
			t.Error("bytes of the pool are still held when all have ended")
		}
	})
}
