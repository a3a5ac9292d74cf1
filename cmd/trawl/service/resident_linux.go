package service

import (
	"os"
	"strconv"
	"strings"
)

// resident returns how much memory the process takes and the most it took, in
// bytes.
func resident() (now, peak uint64) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0
	}
	return residentOf(string(text))
}

// residentOf reads lines such as "VmRSS:  12345 kB".
func residentOf(status string) (now, peak uint64) {
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		if name != "VmRSS" && name != "VmHWM" {
			continue
		}
		kilobytes, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch {
		case err != nil:
		case name == "VmRSS":
			now = kilobytes << 10
		default:
			peak = kilobytes << 10
		}
	}
	return now, peak
}
