package main

import (
	"runtime"
	"sync"
)

// spareProcessors is how many more processors Go uses than there are: one for requests
// while searches verify on all others, and two for what computes beside them in a sync or
// a merge, compression and the engine. A request that finds all of them occupied waits
// until one is preempted, ten milliseconds for each step, and the network is polled no
// sooner. A spare processor costs nothing while it is idle; when it works, the kernel
// shares out the time and runs threads that wake up first.
const spareProcessors = 3

// processors returns the number of processors to search with, and makes Go use
// some more, once in a process.
var processors = sync.OnceValue(func() int {
	n := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(n + spareProcessors)
	return n
})
