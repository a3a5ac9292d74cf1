package bench

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestRotate(t *testing.T) {
	for _, text := range []string{"", "a", "a\n", "a\nb\n", "a\nb", "a\nb\n\nc\n", "1\n2\n3\n4\n5\n"} {
		got := string(rotate([]byte(text), "copy-1/x"))
		if strings.Count(text, "\n") >= 2 && got == text {
			t.Errorf("rotate %q: unchanged", text)
		}
		if !slices.Equal(sortedLines(got), sortedLines(text)) {
			t.Errorf("rotate %q = %q, want the same lines", text, got)
		}
	}
	long := []byte(strings.Repeat("a\n", 50) + strings.Repeat("b\n", 50))
	if bytes.Equal(rotate(long, "copy-1/x"), rotate(long, "copy-2/x")) {
		t.Error("two copies are the same")
	}
}

func sortedLines(text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	slices.Sort(lines)
	return lines
}

func TestParseSize(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int64
	}{
		{"512MiB", 512 << 20}, {"1GiB", 1 << 30}, {"64KiB", 64 << 10},
		{"", 0}, {"512", 0}, {"MiB", 0}, {"-1MiB", 0}, {"1.5GiB", 0}, {"9999999999999GiB", 0},
	} {
		got, err := parseSize(tt.text)
		if got != tt.want || (err == nil) != (tt.want > 0) {
			t.Errorf("size %q = %d, error %v; want %d", tt.text, got, err, tt.want)
		}
	}
}
