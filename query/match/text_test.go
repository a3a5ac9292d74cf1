package match_test

import (
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query/match"
)

// Lines are found by the table of newlines as by counting them.
func TestLine(t *testing.T) {
	for _, text := range []string{"", "a", "a\n", "\n", "a\nbc\n\nd", strings.Repeat("x\n", 5000) + "end", strings.Repeat("y", 4095) + "\nz", strings.Repeat("w", 9000) + "\n\n"} {
		var doc match.Text
		doc.ResetBytes([]byte(text), newlines([]byte(text)))
		at := 0
		for i, line := range strings.Split(text, "\n") {
			start, end, err := doc.Line(uint32(i + 1))
			if err != nil || start != at || end != at+len(line) {
				t.Fatalf("line %d of %.20q: got %d to %d, %v, want %d to %d", i+1, text, start, end, err, at, at+len(line))
			}
			at = end + 1
		}
		if start, end, err := doc.Line(uint32(strings.Count(text, "\n") + 2)); err != nil || start != len(text) || end != len(text) {
			t.Errorf("behind the last line of %.20q: got %d to %d, %v", text, start, end, err)
		}
	}
}
