//go:build !linux

package bench

// sampleTree returns nothing where there is no /proc; rusage still has the size
// of the largest process.
func sampleTree(int) treePeaks { return treePeaks{} }

// countBelow knows nothing either.
func countBelow(int) int { return 0 }

// cpuTicks knows nothing either.
func cpuTicks(int) int64 { return 0 }
