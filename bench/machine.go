package bench

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// thisMachine describes where we run. Where there is no /proc the processor and
// the memory stay unknown.
func thisMachine() Machine {
	m := Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU()}
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		m.CPU = procField(string(info), "model name")
	}
	if info, err := os.ReadFile("/proc/meminfo"); err == nil {
		kib, err := strconv.ParseInt(strings.TrimSuffix(procField(string(info), "MemTotal"), " kB"), 10, 64)
		if err == nil {
			m.MemoryBytes = kib << 10
		}
	}
	return m
}

// procField returns the value of the first "name : value" line.
func procField(text, name string) string {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
