package httpapi

import (
	"fmt"
	"testing"
	"testing/synctest"
)

// Loans follow the number of streams, with some room before they are given
// back, and there are no more streams than may be.
//
// One who asks leaves an eighth of them to others.
func TestOpenStreams(t *testing.T) {
	loans, lent := 0, int64(0)
	o := &openStreams{most: 200, lend: func(bytes int64) func() {
		loans, lent = loans+1, lent+bytes
		return func() { loans, lent = loans-1, lent-bytes }
	}}
	open := func(n int) {
		t.Helper()
		for o.open < n {
			if !o.begin(fmt.Sprint("asker ", o.open%2)) {
				t.Fatalf("stream %d is refused, want up to 200", o.open+1)
			}
		}
		for o.open > n {
			o.end(fmt.Sprint("asker ", (o.open-1)%2))
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
	if o.begin("another") || o.open != 200 {
		t.Error("stream 201 is let in, want 200 at most")
	}
	if open(0); len(o.by) != 0 {
		t.Errorf("%v have streams, want none", o.by)
	}
	for range 175 {
		o.begin("greedy")
	}
	if o.begin("greedy") || !o.begin("modest") {
		t.Error("want 175 of 200 streams for one, and the others for others")
	}
	none := &openStreams{most: 1}
	if !none.begin("x") || none.begin("y") {
		t.Error("want one stream without loans")
	}
}

// No stream waits for another that borrows memory.
func TestOpenStreamsDoNotWaitForLoans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lending, lent := make(chan struct{}), 0
		o := &openStreams{most: 200, lend: func(int64) func() {
			<-lending
			lent++
			return func() { lent-- }
		}}
		for range freeStreams {
			o.begin("x")
		}
		settled := make(chan struct{})
		go func() {
			defer close(settled)
			o.begin("x")
		}()
		synctest.Wait()
		for range 2 * streamsALoan {
			o.begin("x")
		}
		o.end("x")
		close(lending)
		<-settled
		if lent != 2 || o.open != 2*streamsALoan+freeStreams {
			t.Errorf("%d streams with %d loans, want %d with 2", o.open, lent, 2*streamsALoan+freeStreams)
		}
	})
}
