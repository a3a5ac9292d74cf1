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

// usage is what a process and its descendants take at the moment: memory of
// their own in bytes, and processor time in ticks.
func usage(pid int) (memory, ticks int64) {
	pids := []string{strconv.Itoa(pid)}
	for len(pids) > 0 {
		p := pids[len(pids)-1]
		pids = pids[:len(pids)-1]
		m, t := usageOf(p)
		memory, ticks = memory+m, ticks+t
		lists, err := filepath.Glob("/proc/" + p + "/task/*/children")
		if err != nil {
			continue
		}
		for _, list := range lists {
			if text, err := os.ReadFile(list); err == nil {
				pids = append(pids, strings.Fields(string(text))...)
			}
		}
	}
	return memory, ticks
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
