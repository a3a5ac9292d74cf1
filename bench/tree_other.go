//go:build !linux

package bench

// sampleTree knows nothing where there is no /proc; rusage still tells the
// size of the largest process.
func sampleTree(int) treePeaks { return treePeaks{} }

// countBelow knows nothing either.
func countBelow(int) int { return 0 }

// cpuTicks knows nothing either.
func cpuTicks(int) int64 { return 0 }
