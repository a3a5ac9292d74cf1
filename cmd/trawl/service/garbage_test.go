package service

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
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
	if os.Getenv("GOGC") != "" {
		t.Skip("GOGC says how much garbage there may be")
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	LimitMemory(8 << 30)
	text := make([][]byte, 256)
	for i := range text {
		text[i] = make([]byte, 1<<20)
	}
	runtime.GC() // so that the text counts, once what follows a collection has run
	share := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		if metrics.Read(share); share[0].Value.Uint64() < 100 {
			break
		}
		if time.Since(start) > time.Minute {
			t.Fatalf("garbage of %d percent of what is in use is let be made", share[0].Value.Uint64())
		}
	}
	var before, after debug.GCStats
	debug.ReadGCStats(&before)
	var made []byte
	for range 10 {
		for i := range leastGarbage >> 20 {
			made = make([]byte, 1<<20)
			if i%8 == 7 {
				time.Sleep(time.Millisecond) // or more is made than is let be while a collection is at work
			}
		}
	}
	debug.ReadGCStats(&after)
	if n := after.NumGC - before.NumGC; n < 7 { // 5 without a bound
		t.Errorf("%d collections for %d bytes of garbage", n, int64(10*leastGarbage))
	}
	runtime.KeepAlive(text)
	runtime.KeepAlive(made)
}
