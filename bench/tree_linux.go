package bench

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// sampleTree reads the sizes of pid and everything below it from /proc.
// Processes that end meanwhile count as nothing.
func sampleTree(pid int) treePeaks {
	s := sampleProcess(pid)
	own := s.total
	s.join(sampleBelow(pid))
	s.own = own
	return s
}

// sampleBelow reads the sizes of what pid started. A child caught between fork
// and exec still borrows all of its parent's memory; to count that would double
// it, so only what stands below such a child counts.
func sampleBelow(pid int) treePeaks {
	var s treePeaks
	stack := stackStart(pid)
	for _, child := range children(pid) {
		s.join(sampleBelow(child))
		if stack == "" || stackStart(child) != stack {
			s.join(sampleProcess(child))
		}
	}
	return s
}

// join adds the sizes of processes that live at the same time.
func (p *treePeaks) join(s treePeaks) {
	p.single = max(p.single, s.single)
	p.total += s.total
	p.anon += s.anon
}

// stackStart returns where the stack of pid begins. Every exec chooses that
// anew, so a child with its parent's has not called it yet.
func stackStart(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The program's name, in parentheses, may hold anything. The first field
	// after it is the third of proc(5), the start of the stack the 28th.
	_, rest, _ := strings.Cut(string(stat[max(bytes.LastIndexByte(stat, ')'), 0):]), " ")
	fields := strings.Fields(rest)
	if len(fields) < 26 {
		return ""
	}
	return fields[25]
}

// countBelow counts the processes below pid.
func countBelow(pid int) (n int) {
	for _, child := range children(pid) {
		n += 1 + countBelow(child)
	}
	return n
}

func children(pid int) []int {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil
	}
	var pids []int
	for _, t := range threads {
		list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		if err != nil {
			continue
		}
		for _, f := range strings.Fields(string(list)) {
			if child, err := strconv.Atoi(f); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

func sampleProcess(pid int) treePeaks {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return treePeaks{}
	}
	return parseStatus(string(status))
}

// parseStatus picks the sizes out of a /proc/PID/status, which gives them in
// units of 1024 bytes.
func parseStatus(status string) treePeaks {
	var s treePeaks
	for line := range strings.Lines(status) {
		name, rest, _ := strings.Cut(line, ":")
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		if err != nil {
			continue
		}
		switch name {
		case "VmHWM":
			s.single = kib << 10
		case "VmRSS":
			s.total = kib << 10
		case "RssAnon":
			s.anon = kib << 10
		}
	}
	return s
}

// cpuTicks returns the processor time that pid and all below it have used, in
// ticks of a hundredth of a second (proc(5): utime and stime, the 14th and 15th
// field).
func cpuTicks(pid int) (ticks int64) {
	for _, child := range children(pid) {
		ticks += cpuTicks(child)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ticks
	}
	_, rest, _ := strings.Cut(string(stat[max(bytes.LastIndexByte(stat, ')'), 0):]), " ")
	if fields := strings.Fields(rest); len(fields) > 12 {
		for _, f := range fields[11:13] {
			n, err := strconv.ParseInt(f, 10, 64)
			if err != nil {
				return ticks
			}
			ticks += n
		}
	}
	return ticks
}
