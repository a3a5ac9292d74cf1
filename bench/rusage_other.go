//go:build !unix

package bench

import (
	"os"
	"time"
)

// rusage returns the CPU time only: sizes are unknown here.
func rusage(state *os.ProcessState) (cpu time.Duration, peakRSSBytes int64) {
	return state.UserTime() + state.SystemTime(), 0
}
