package bench

import (
	"strings"
	"testing"
	"time"
)

// showMissed names the checks that did not pass, and counts all.
func showMissed(checks []Check) (missed string, all int) {
	var names []string
	for _, c := range checks {
		if !c.Passed {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, ", "), len(checks)
}

func TestQueryChecks(t *testing.T) {
	ms := time.Millisecond
	for _, tt := range []struct {
		name        string
		query       Query
		first, done time.Duration
		missed      string
		checks      int
	}{
		// Only literals have a target for the first match
		{"fast literal", Query{Kind: Literal, Terms: literals("a")}, 10 * ms, 900 * ms, "", 1},
		{"slow literal", Query{Kind: Literal, Terms: literals("a")}, 11 * ms, 900 * ms, "first match", 1},
		{"slow regexp", Query{Kind: Regexp}, 900 * ms, 900 * ms, "", 0},

		// Rare and absent ones have one for the whole answer
		{"fast rare", Query{Kind: Literal, Terms: literals("a"), Frequency: Rare}, ms, 2 * ms, "", 2},
		{"slow rare", Query{Kind: Literal, Terms: literals("a"), Frequency: Rare}, ms, 3 * ms, "done", 2},
		{"slow absent", Query{Kind: Literal, Terms: literals("a"), Frequency: Absent}, 0, 3 * ms, "done", 1},
		{"slow absent path", Query{Kind: Path, Frequency: Absent}, 0, 3 * ms, "done", 1},
	} {
		q := QueryFacts{Query: tt.query, Runs: []Answer{{First: tt.first, Done: tt.done}}}
		if missed, n := showMissed(q.check()); missed != tt.missed || n != tt.checks {
			t.Errorf("%s: missed %q of %d checks, want %q of %d", tt.name, missed, n, tt.missed, tt.checks)
		}
	}
}

func TestRunChecks(t *testing.T) {
	index := func(wall time.Duration, memory, disk int64) *IndexFacts {
		return &IndexFacts{Usage: Usage{Wall: wall, PeakTreeRSSBytes: memory}, DiskBytes: disk}
	}
	resync := func(walls ...time.Duration) *Resync {
		r := &Resync{FilesChanged: 10}
		for _, w := range walls {
			r.Rounds = append(r.Rounds, Usage{Wall: w})
		}
		return r
	}
	s := time.Second
	for _, tt := range []struct {
		name   string
		report Report
		missed string
		checks int
	}{
		{"nothing measured", Report{}, "", 0},
		{"all within", Report{Index: index(45*s, 1<<30, 600e6), Resync: resync(2*s, s, 9*s), Server: ServerFacts{PeakRSSBytes: 1 << 30}}, "", 4},
		{"all beyond", Report{Index: index(46*s, 1<<30+1, 600e6+1), Resync: resync(3*s, s, 9*s), Server: ServerFacts{PeakRSSBytes: 2 << 30}},
			"index time, index peak memory, disk, resync of 10 files", 4},
	} {
		if missed, n := showMissed(tt.report.checkRun()); missed != tt.missed || n != tt.checks {
			t.Errorf("%s: missed %q of %d checks, want %q of %d", tt.name, missed, n, tt.missed, tt.checks)
		}
	}
}

func TestShowDuration(t *testing.T) {
	for _, tt := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0.00 ms"},
		{1234 * time.Microsecond, "1.23 ms"},
		{12345 * time.Microsecond, "12.3 ms"},
		{123456 * time.Microsecond, "123 ms"},
		{1234 * time.Millisecond, "1.23 s"},
		{12345 * time.Millisecond, "12.3 s"},
	} {
		if got := showDuration(tt.d); got != tt.want {
			t.Errorf("show %d ns: %q, want %q", tt.d, got, tt.want)
		}
	}
}

func TestShowBytes(t *testing.T) {
	for _, tt := range []struct {
		n    int64
		want string
	}{{0, "0 B"}, {999, "999 B"}, {1500, "1.5 kB"}, {600e6, "600.0 MB"}, {1 << 30, "1.07 GB"}} {
		if got := showBytes(tt.n); got != tt.want {
			t.Errorf("show %d bytes: %q, want %q", tt.n, got, tt.want)
		}
	}
}
