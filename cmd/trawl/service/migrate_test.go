package service

import (
	"context"
	"testing"
	"time"
)

// TestYield: ingest goes on at once when no search runs, when the last one ends, and
// in the end also when searches always run; it does not wait beyond its context.
func TestYield(t *testing.T) {
	idle := func() int { return 0 }
	always := func() int { return 1 }
	looks := 0
	ending := func() int {
		looks++
		return max(3-looks, 0)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if waited := yieldTo(idle)(t.Context(), time.Hour); waited != 0 {
		t.Errorf("without a search it waited %s", waited)
	}
	if waited := yieldTo(ending)(t.Context(), time.Hour); looks != 3 || waited <= 0 {
		t.Errorf("it looked %d times and waited %s, want until the third look", looks, waited)
	}
	if waited := yieldTo(always)(t.Context(), 5*time.Millisecond); waited < 5*time.Millisecond {
		t.Errorf("while searches go on it waited %s, want 5ms", waited)
	}
	yieldTo(always)(ended, time.Hour)
}
