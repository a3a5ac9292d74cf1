package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// MemoryOf returns what a process takes alone, and with its descendants.
func MemoryOf(pid int) (alone, all int64) {
	all, _ = usage(pid)
	return memoryOf(pid), all
}

// Descendants counts those of a process.
func Descendants(pid int) int {
	n, left := 0, []string{fmt.Sprint(pid)}
	for len(left) > 0 {
		lists, _ := filepath.Glob("/proc/" + left[0] + "/task/*/children") // the pattern is good
		left = left[1:]
		for _, list := range lists {
			text, _ := os.ReadFile(list) // of a process that has ended
			children := strings.Fields(string(text))
			n += len(children)
			left = append(left, children...)
		}
	}
	return n
}
