package config

import (
	"os"
	"strconv"
	"strings"
)

// memoryBytes returns the machine's memory, or the container's limit if that
// is lower; 0 if neither can be read.
func memoryBytes() int64 {
	total := memTotal(readText("/proc/meminfo"))
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		limit, err := strconv.ParseInt(strings.TrimSpace(readText(path)), 10, 64)
		if err == nil && limit > 0 && (total == 0 || limit < total) {
			total = limit
		}
	}
	return total
}

// memTotal reads the line "MemTotal:  12345 kB".
func memTotal(meminfo string) int64 {
	for line := range strings.Lines(meminfo) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err == nil {
				return n << 10
			}
		}
	}
	return 0
}

// readText returns "" for what cannot be read: the defaults then say less, and
// nothing fails.
func readText(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}
