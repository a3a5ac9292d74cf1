package service

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// leastGarbage is how much the heap grows between two collections, or twice what the
// collector has to look through if that is more, so that it works for a small part of
// the time.
const leastGarbage = 128 << 20

// boundGarbage has the runtime collect garbage once there is a bounded amount of it,
// rather than as much as there is of everything else. Most of the heap are caches of
// text, which cost the collector nothing; memory that was not touched before costs a
// page fault for each 4 KiB, and what was used last is in the processor's caches. A
// value of GOGC says otherwise.
var boundGarbage = sync.OnceFunc(func() {
	if os.Getenv("GOGC") == "" {
		(&collector{percent: 100}).tune()
	}
})

// collector is Go's garbage collector, with the share of garbage that it is set to, in
// percent of what is in use.
type collector struct{ percent int }

// tune sets the share for the next collection, after which it runs again.
func (c *collector) tune() {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/total:bytes"}}
	metrics.Read(samples)
	// Setting it stops the world.
	if percent := garbagePercent(samples[0].Value.Uint64(), samples[1].Value.Uint64()); percent != c.percent {
		c.percent = percent
		debug.SetGCPercent(percent)
	}
	runtime.AddCleanup(&collection{c}, (*collector).tune, c)
}

// collection is garbage from the start, so that the next collection cleans it up. It has a
// pointer: what has none, and is as small, is kept with its neighbours.
type collection struct{ *collector }

// garbagePercent returns the share for so many bytes in use, of which the collector has
// to look through scanned.
func garbagePercent(live, scanned uint64) int {
	return int(max(1, min(100, max(leastGarbage, 2*scanned)*100/max(live, 1))))
}
