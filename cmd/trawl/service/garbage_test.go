package service

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestGarbagePercent(t *testing.T) {
	for _, c := range []struct {
		live, scanned uint64
		want          int
	}{
		{0, 0, 100}, {1 << 20, 1 << 20, 100}, {128 << 20, 1 << 20, 100}, {256 << 20, 1 << 20, 50}, {1280 << 20, 10 << 20, 10},
		{1280 << 20, 320 << 20, 50}, {640 << 20, 640 << 20, 100}, {64 << 30, 0, 1},
	} {
		if got := garbagePercent(c.live, c.scanned); got != c.want {
			t.Errorf("%d bytes in use, %d scanned: %d percent, want %d", c.live, c.scanned, got, c.want)
		}
	}
}

// Caches of text do not let as much garbage be made as there is text, also when they have
// grown since the last collection.
func TestGarbageIsBounded(t *testing.T) {
	(&collector{percent: 100}).tune()
	text := make([][]byte, 256)
	for i := range text {
		text[i] = make([]byte, 1<<20)
	}
	runtime.GC() // so that the text counts
	var before, after debug.GCStats
	debug.ReadGCStats(&before)
	var made []byte
	for range 10 {
		for range leastGarbage >> 20 {
			made = make([]byte, 1<<20)
		}
		runtime.Gosched()
	}
	debug.ReadGCStats(&after)
	if n := after.NumGC - before.NumGC; n < 5 {
		t.Errorf("%d collections for %d bytes of garbage", n, int64(10*leastGarbage))
	}
	runtime.KeepAlive(text)
	runtime.KeepAlive(made)
}
