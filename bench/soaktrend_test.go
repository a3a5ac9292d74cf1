package bench

import (
	"slices"
	"testing"
)

// A trend is that of the worst server, without what warms up, and what comes and
// goes is none.
func TestSoakTrends(t *testing.T) {
	rounds := func(life int, goroutines ...float64) (out []SoakSample) {
		for i, n := range goroutines {
			out = append(out, SoakSample{Round: i, Life: life, Goroutines: n, DiskBytes: 1e6})
		}
		return out
	}
	for _, tt := range []struct {
		name    string
		samples []SoakSample
		grows   []string
	}{
		{"nothing", nil, nil},
		{"too few rounds", rounds(1, 10, 1000), nil},
		{"flat", rounds(1, 10, 20, 21, 20, 22, 20), nil},
		{"warms up", rounds(1, 2, 20, 20, 20, 20), nil},
		{"one peak", rounds(1, 20, 20, 20, 500, 20, 20, 20), nil},
		{"a leak", rounds(1, 20, 22, 26, 30, 34, 38, 42), []string{"goroutines"}},
		{"a leak of the second server", slices.Concat(rounds(1, 20, 20, 20, 20), rounds(2, 20, 20, 30, 40, 50)), []string{"goroutines"}},
		{"other servers begin anew", slices.Concat(rounds(1, 20, 20, 20), rounds(2, 40, 40, 40)), nil},
		{"free pages at last", []SoakSample{{}, {RSSBytes: 80e6, FreeBytes: 10e6}, {RSSBytes: 80e6}, {RSSBytes: 190e6, FreeBytes: 110e6}, {RSSBytes: 190e6, FreeBytes: 110e6}}, nil},
		{"free pages at first, which were never resident", []SoakSample{{}, {RSSBytes: 75e6, FreeBytes: 77e6}, {RSSBytes: 75e6, FreeBytes: 77e6}, {RSSBytes: 70e6}, {RSSBytes: 70e6}}, nil},
		{"memory outside of the heap", []SoakSample{{}, {RSSBytes: 75e6, FreeBytes: 20e6}, {RSSBytes: 75e6, FreeBytes: 20e6}, {RSSBytes: 190e6, FreeBytes: 20e6}, {RSSBytes: 190e6, FreeBytes: 20e6}}, []string{"resident memory"}},
		{"disk grows over servers", slices.Concat(
			[]SoakSample{{DiskBytes: 1e6}, {DiskBytes: 1e6}, {DiskBytes: 1e6}},
			[]SoakSample{{Life: 1, DiskBytes: 3e7}, {Life: 1, DiskBytes: 3e7}, {Life: 1, DiskBytes: 3e7}}), []string{"disk"}},
	} {
		var grows []string
		for _, trend := range soakTrends(tt.samples) {
			if trend.Grows {
				grows = append(grows, trend.What)
			}
		}
		if !slices.Equal(grows, tt.grows) {
			t.Errorf("%s: %v grow, want %v", tt.name, grows, tt.grows)
		}
	}
}
