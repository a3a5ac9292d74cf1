package httpapi

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/trawlsearch/trawl/query"
)

// padded is a path match that takes n bytes as JSON.
func padded(n int) query.Match {
	m := &query.FileMatch{Repo: kiln}
	var e matchEncoder
	m.Path = strings.Repeat("p", n-len(e.append(nil, m)))
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
	o := newOutbox(matchEncoder{}, defaultStreamBuffer)
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
		o := newOutbox(matchEncoder{}, limit)
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
		o := newOutbox(matchEncoder{}, 50_000)
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
	o := newOutbox(matchEncoder{chunks: true}, 100<<20)
	c := hits(strings.Repeat("e", 100_000), 1)
	if err := o.put(t.Context(), []query.Match{&query.FileMatch{Repo: kiln, Path: "p", Chunks: []query.Chunk{c}}}); err != nil {
		t.Fatal(err)
	}
	ranges := 0
	for event := o.take(); event != nil; event = o.take() {
		if !fitsEvent("matches", len(event)) {
			t.Errorf("an event of %d bytes is over the limit", len(event))
		}
		ranges += strings.Count(string(event), `"start"`)
	}
	if ranges != 100_000 {
		t.Errorf("the events hold %d ranges, want 100000", ranges)
	}
}
