package config

import (
	"os"
	"path"
	"strconv"
	"strings"
)

// memoryBytes returns the machine's memory, or the limit of the container or
// service that the process is in if that is lower; 0 if neither can be read.
func memoryBytes() int64 {
	total := memTotal(readText("/proc/meminfo"))
	for _, name := range cgroupFiles(readText("/proc/self/cgroup")) {
		limit, err := strconv.ParseInt(strings.TrimSpace(readText(name)), 10, 64)
		if err == nil && limit > 0 && (total == 0 || limit < total) {
			total = limit
		}
	}
	return total
}

// cgroupFiles returns the files that limits on memory may stand in, by what
// /proc/self/cgroup says: those of the group and of all groups around it. A
// container sees its own group as the outermost.
func cgroupFiles(groups string) []string {
	files := []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}
	for line := range strings.Lines(groups) {
		// A line is "number:controllers:path"; version 2 has one, "0::path".
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		root, names := "", []string(nil)
		switch {
		case parts[0] == "0" && parts[1] == "":
			root, names = "/sys/fs/cgroup", []string{"memory.max", "memory.high"}
		case parts[1] == "memory":
			root, names = "/sys/fs/cgroup/memory", []string{"memory.limit_in_bytes"}
		}
		for dir := path.Clean("/" + parts[2]); root != "" && dir != "/"; dir = path.Dir(dir) {
			for _, name := range names {
				files = append(files, path.Join(root, dir, name))
			}
		}
	}
	return files
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
func readText(name string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(b)
}
