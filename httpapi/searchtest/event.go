package searchtest

import (
	"bufio"
	"strings"
	"testing"
)

// ReadEvent reads an event, up to a blank line.
func ReadEvent(t testing.TB, r *bufio.Reader) string {
	t.Helper()
	var event strings.Builder
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("read event: %v after %q", err, event.String())
		}
		if line == "\n" {
			return event.String()
		}
		event.WriteString(line)
	}
}
