//go:build unix

package bench

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// rusage returns the CPU time and the largest resident size of a process that
// was waited for and of those it waited for itself.
func rusage(state *os.ProcessState) (cpu time.Duration, peakRSSBytes int64) {
	r, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return state.UserTime() + state.SystemTime(), 0
	}
	cpu = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	// Every system but Apple's counts in units of 1024 bytes.
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return cpu, int64(r.Maxrss)
	}
	return cpu, int64(r.Maxrss) << 10
}
