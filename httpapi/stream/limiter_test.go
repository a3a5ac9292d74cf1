package stream

import (
	"fmt"
	"testing"
	"testing/synctest"
)

// Loans follow the number of streams, with some room before they are given
// back, and there are no more streams than may be.
//
// One client leaves an eighth of them to others.
func TestLimiter(t *testing.T) {
	loans, lent := 0, int64(0)
	l := &limiter{most: 200, lend: func(bytes int64) func() {
		loans, lent = loans+1, lent+bytes
		return func() { loans, lent = loans-1, lent-bytes }
	}}
	open := func(n int) {
		t.Helper()
		for l.open < n {
			if !l.acquire(fmt.Sprint("client ", l.open%2)) {
				t.Fatalf("stream %d is refused, want up to 200", l.open+1)
			}
		}
		for l.open > n {
			l.release(fmt.Sprint("client ", (l.open-1)%2))
		}
	}
	for _, tt := range []struct{ streams, loans int }{
		{64, 0}, {65, 1}, {96, 1}, {97, 2}, {96, 2}, {80, 1}, {81, 1}, {49, 1}, {48, 0}, {200, 5}, {0, 0},
	} {
		if open(tt.streams); loans != tt.loans || lent != int64(loans*streamsALoan*streamBytes) {
			t.Errorf("%d streams: %d loans of %d bytes, want %d", tt.streams, loans, lent, tt.loans)
		}
	}
	open(200)
	if l.acquire("another") || l.open != 200 {
		t.Error("stream 201 is let in, want 200 at most")
	}
	if open(0); len(l.by) != 0 {
		t.Errorf("%v have streams, want none", l.by)
	}
	for range 175 {
		l.acquire("greedy")
	}
	if l.acquire("greedy") || !l.acquire("modest") {
		t.Error("want 175 of 200 streams for one, and the others for others")
	}
	none := &limiter{most: 1}
	if !none.acquire("x") || none.acquire("y") {
		t.Error("want one stream without loans")
	}
}

// No stream waits for another that borrows memory.
func TestLimiterDoesNotWaitForLoans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lending, lent := make(chan struct{}), 0
		l := &limiter{most: 200, lend: func(int64) func() {
			<-lending
			lent++
			return func() { lent-- }
		}}
		for range freeStreams {
			l.acquire("x")
		}
		adjusted := make(chan struct{})
		go func() {
			defer close(adjusted)
			l.acquire("x")
		}()
		synctest.Wait()
		for range 2 * streamsALoan {
			l.acquire("x")
		}
		l.release("x")
		close(lending)
		<-adjusted
		if lent != 2 || l.open != 2*streamsALoan+freeStreams {
			t.Errorf("%d streams with %d loans, want %d with 2", l.open, lent, 2*streamsALoan+freeStreams)
		}
	})
}
