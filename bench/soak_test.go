package bench

import (
	"fmt"
	"strings"
	"testing"
)

// samples are rounds with these counts of files, of servers of so many rounds.
func samples(rounds int, files ...float64) (out []SoakSample) {
	for i, n := range files {
		out = append(out, SoakSample{Server: i / rounds, Age: i%rounds + 1, Files: n})
	}
	return out
}

// TestSoakTellsGrowthFromNoise: what grows round by round is told, what jumps
// once, or grows while a server warms up, or is another with another server, is
// not.
func TestSoakTellsGrowthFromNoise(t *testing.T) {
	for _, test := range []struct {
		what    string
		samples []SoakSample
		want    bool
	}{
		{"steady", samples(8, 20, 20, 21, 20, 20, 21, 20, 20), false},
		{"one that stands out", samples(8, 20, 20, 20, 90, 20, 20, 20, 20), false},
		{"the last stands out", samples(8, 20, 20, 20, 20, 20, 20, 20, 90), false},
		{"warming up", samples(8, 1, 20, 30, 30, 30, 30, 30, 30), false},
		{"another server", samples(4, 20, 20, 20, 20, 60, 60, 60, 60), false},
		{"growing", samples(8, 20, 22, 24, 26, 28, 30, 32, 34), true},
		{"growing with noise", samples(8, 20, 27, 24, 31, 28, 35, 32, 39), true},
		{"growing in every server", samples(5, 20, 24, 28, 32, 36, 20, 24, 28, 32, 36), true},
		{"nothing measured", nil, false},
	} {
		r := SoakReport{Samples: test.samples}
		r.judge()
		wrong := fmt.Sprint(r.Wrong())
		if got := strings.Contains(wrong, "open files grows"); got != test.want {
			t.Errorf("%s: got %s, growth told: %t, want %t", test.what, wrong, got, test.want)
		}
	}
}

// TestEndings: the end of a request is told to whoever asks, before or after it,
// from lines however they are cut.
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
