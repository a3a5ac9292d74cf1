package browse

import (
	"context"
	"strings"
	"testing"
	"time"
)

// The blocks of code of a text have so many colours and so much time together, and none
// after its reader has left.
func TestBlocksAreBounded(t *testing.T) {
	const text = "func a() {}\n"
	spans, all := 0, newPainter(time.Hour).blocks(t.Context())
	for range 30 {
		for _, piece := range all("go", strings.Repeat(text, 100)) {
			if piece.Class != "" {
				spans++
			}
		}
	}
	if spans < maxBlockSpans || spans > maxBlockSpans+1 {
		t.Errorf("%d parts are coloured, want %d", spans, maxBlockSpans)
	}
	if got := newPainter(time.Nanosecond).blocks(t.Context())("go", text); got != nil {
		t.Errorf("after its time a block has %q", got)
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	if got := newPainter(time.Hour).blocks(left)("go", text); got != nil {
		t.Errorf("a block of a reader who left has %q", got)
	}
}
