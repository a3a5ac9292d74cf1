package report

import (
	"fmt"
	"strconv"
)

// formatCount writes n shortly: 999, 1,234, 12k.
func formatCount(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 10000:
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	return strconv.Itoa(n/1000) + "k"
}

// plural writes a number and its noun.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return formatCount(n) + " " + many
}

// countFiles writes a number of files.
func countFiles(n int) string { return plural(n, "file", "files") }
