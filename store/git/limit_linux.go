package git

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// boundMemory bounds what a process and those it starts take each: heap and
// anonymous mappings, but not mapped files.
func boundMemory(pid int, limit int64) {
	bound := unix.Rlimit{Cur: uint64(limit), Max: uint64(limit)}
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &bound, nil) // it may have ended already
	_ = unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
}

// usage returns the current usage of a process and its descendants: memory of
// their own in bytes, and processor time in ticks.
func usage(pid int) (memory, ticks int64) {
	type process struct{ pid, parent string }
	all := []process{{pid: strconv.Itoa(pid)}}
	for len(all) > 0 {
		p := all[len(all)-1]
		all = all[:len(all)-1]
		m, t := usageOf(p.pid)
		if m > forkedBytes && p.parent != "" && forked(p.pid, p.parent) {
			m = 0
		}
		memory, ticks = memory+m, ticks+t
		lists, err := filepath.Glob("/proc/" + p.pid + "/task/*/children")
		if err != nil {
			continue
		}
		for _, list := range lists {
			if text, err := os.ReadFile(list); err == nil {
				for _, child := range strings.Fields(string(text)) {
					all = append(all, process{child, p.pid})
				}
			}
		}
	}
	return memory, ticks
}

// forkedBytes is how much memory of a process is worth a look at whose it is.
const forkedBytes = 4 << 20

// forked reports whether a process still shares its parent's memory: between
// fork and exec. A process of 100 MiB would be counted as 200 then.
func forked(pid, parent string) bool {
	line, err := os.ReadFile("/proc/" + pid + "/cmdline")
	of, parentErr := os.ReadFile("/proc/" + parent + "/cmdline")
	return err == nil && parentErr == nil && bytes.Equal(line, of)
}

// memoryOf is what usage says of the memory of a process without descendants.
func memoryOf(pid int) int64 {
	memory, _ := memoryIn(strconv.Itoa(pid))
	return memory
}

// usageOf reads /proc/PID/statm, which counts pages: all, resident, and those
// of them that belong to files; and the times in /proc/PID/stat.
func usageOf(pid string) (memory, ticks int64) {
	memory, ok := memoryIn(pid)
	if !ok {
		return 0, 0
	}
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return memory, 0
	}
	// The name of the program stands in parentheses and may hold anything.
	if f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]); len(f) > 12 {
		ticks = number(f[11]) + number(f[12])
	}
	return memory, ticks
}

func memoryIn(pid string) (memory int64, ok bool) {
	statm, err := os.ReadFile("/proc/" + pid + "/statm")
	if err != nil {
		return 0, false
	}
	if f := bytes.Fields(statm); len(f) > 2 {
		memory = (number(f[1]) - number(f[2])) * int64(os.Getpagesize())
	}
	return memory, true
}

func number(b []byte) int64 {
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
