//go:build !linux

package git

// boundMemory does nothing where a process cannot bound another.
func boundMemory(int, int64) {}

func memoryOf(int) int64 { return 0 }

// usage is not known.
func usage(int) (memory, ticks int64) { return 0, 0 }
