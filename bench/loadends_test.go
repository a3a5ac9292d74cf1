package bench

import "testing"

// TestEndings: the end of a request is reported to its waiter, before or after
// it, from lines however they are cut.
func TestEndings(t *testing.T) {
	e := newEndings()
	before := e.of("b")
	for _, part := range []string{`{"query_id":"a","outcome":"do`, "ne\",\"most_held\":7}\n", "no JSON\n{\"message\":\"x\"}\n{\"query_id\":\"b\",", "\"outcome\":\"cancelled\",\"most_held\":5}\n"} {
		if _, err := e.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if got := (<-before).outcome; got != "cancelled" {
		t.Errorf("asked before: got outcome %q, want cancelled", got)
	}
	if got := (<-e.of("a")).outcome; got != "done" || e.mostHeld() != 7 {
		t.Errorf("asked after: got outcome %q and %d bytes, want done and 7", got, e.mostHeld())
	}
}
