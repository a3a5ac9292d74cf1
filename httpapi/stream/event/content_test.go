package event

import (
	"strings"
	"testing"
)

func TestCutLines(t *testing.T) {
	tests := []struct {
		name    string
		content string
		limit   int
		want    string
		cut     bool
	}{
		// off
		{"zero", "0123456789\n", 0, "0123456789\n", false},
		{"negative", "0123456789\n", -1, "0123456789\n", false},

		// the limit is of a line, without its newline
		{"fits", "0123456789\n0123456789", 10, "0123456789\n0123456789", false},
		{"empty", "", 5, "", false},
		{"empty lines", "\n\n", 1, "\n\n", false},

		// a cut line is as long as the limit
		{"marked", "0123456789abcdef\nx\n", 15, "012...truncated\nx\n", true},
		{"mark only", "0123456789abcdef\n", 12, "...truncated\n", true},
		{"last line", "x\n0123456789abcdef", 13, "x\n0...truncated", true},
		{"every line", "0123456789abcdef\n0123456789abcdef\n", 14, "01...truncated\n01...truncated\n", true},

		// no room for the mark
		{"unmarked", "0123456789abcdef\n", 11, "0123456789a\n", true},
		{"one byte", "ab\ncd", 1, "a\nc", true},

		// bytes, not characters
		{"inside a character", "éé\n", 3, "é\xc3\n", true},
		{"carriage return counts", "ab\r\n", 2, "ab\n", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := strings.Clone(tt.content)
			got, cut := cutLines([]byte(tt.content), tt.limit)
			if string(got) != tt.want || cut != tt.cut {
				t.Errorf("cutLines(%q, %d) = %q, %v; want %q, %v", tt.content, tt.limit, got, cut, tt.want, tt.cut)
			}
			if tt.content != before {
				t.Errorf("the content was changed to %q", tt.content)
			}
		})
	}
}
