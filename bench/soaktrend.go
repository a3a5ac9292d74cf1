package bench

import (
	"fmt"
	"slices"
)

// SoakSample is what a server and its data take at the end of a round, when the
// corpus is as it was at the end of every other.
type SoakSample struct {
	Round int `json:"round"`
	// Life counts servers: what a process holds begins anew with each.
	Life int `json:"life"`
	// HeapBytes is what lives on the heap after a collection, without caches,
	// which are bounded by themselves.
	HeapBytes float64 `json:"heapBytes"`
	// RSSBytes is what is resident without the free pages of the heap.
	RSSBytes   float64 `json:"rssBytes"`
	Goroutines float64 `json:"goroutines"`
	Files      float64 `json:"files"`
	Snapshots  float64 `json:"snapshots"`
	Children   float64 `json:"children"`
	// DiskBytes and Entries are those of the data directory, BackupBytes of the
	// backups.
	DiskBytes   float64 `json:"diskBytes"`
	Entries     float64 `json:"entries"`
	BackupBytes float64 `json:"backupBytes"`
}

// SoakTrend is how something went over the rounds.
type SoakTrend struct {
	What string `json:"what"`
	// First and Last are medians over the first and the last rounds, of the
	// server with the largest difference.
	First float64 `json:"first"`
	Last  float64 `json:"last"`
	// Allowed is the most that Last may be.
	Allowed float64 `json:"allowed"`
	Grows   bool    `json:"grows"`
}

// soakMeasure is one that may not grow: by more than a share of what it was and
// slack beside. Slack is what comes and goes: a table of the engine, a
// connection, an idle worker.
type soakMeasure struct {
	what  string
	of    func(SoakSample) float64
	share float64
	slack float64
	// life says that it begins anew with each server.
	life bool
}

var soakMeasures = []soakMeasure{
	{"heap", func(s SoakSample) float64 { return s.HeapBytes }, 0.15, 4 << 20, true},
	{"resident memory", func(s SoakSample) float64 { return s.RSSBytes }, 0.25, 32 << 20, true},
	{"goroutines", func(s SoakSample) float64 { return s.Goroutines }, 0, 6, true},
	{"open files", func(s SoakSample) float64 { return s.Files }, 0, 48, true},
	{"snapshots", func(s SoakSample) float64 { return s.Snapshots }, 0, 1, true},
	{"child processes", func(s SoakSample) float64 { return s.Children }, 0, 1, true},
	{"disk", func(s SoakSample) float64 { return s.DiskBytes }, 0.25, 8 << 20, false},
	{"files on disk", func(s SoakSample) float64 { return s.Entries }, 0.25, 48, false},
	{"backups", func(s SoakSample) float64 { return s.BackupBytes }, 0.25, 8 << 20, false},
}

// Warm-up rounds of a server fill pools, caches and tables that stay; a trend
// compares medians over soakEnd rounds at either end.
const (
	soakWarmUp = 1
	soakEnd    = 3
)

// soakTrends judges samples. A server of too few rounds says nothing about what
// it holds.
func soakTrends(samples []SoakSample) []SoakTrend {
	var out []SoakTrend
	for _, m := range soakMeasures {
		var series [][]float64
		life := -1
		for _, s := range samples {
			if len(series) == 0 || m.life && s.Life != life {
				series = append(series, nil)
			}
			life = s.Life
			series[len(series)-1] = append(series[len(series)-1], m.of(s))
		}
		var worst *SoakTrend
		for _, values := range series {
			if t := m.trend(values); t != nil && (worst == nil || t.Last-t.Allowed > worst.Last-worst.Allowed) {
				worst = t
			}
		}
		if worst != nil {
			out = append(out, *worst)
		}
	}
	return out
}

// trend returns nil for too few values.
func (m soakMeasure) trend(values []float64) *SoakTrend {
	if len(values) < soakWarmUp+2 {
		return nil
	}
	values = values[soakWarmUp:]
	n := min(soakEnd, len(values)/2)
	t := &SoakTrend{What: m.what, First: middle(values[:n]), Last: middle(values[len(values)-n:])}
	t.Allowed = t.First*(1+m.share) + m.slack
	t.Grows = t.Last > t.Allowed
	return t
}

func middle(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// String tells the trend, in megabytes if it is of bytes.
func (t SoakTrend) String() string {
	unit, text := 1.0, "%s %.0f -> %.0f, at most %.0f"
	if t.Allowed > 1<<20 {
		unit, text = 1e6, "%s %.1f -> %.1f MB, at most %.1f"
	}
	return fmt.Sprintf(text, t.What, t.First/unit, t.Last/unit, t.Allowed/unit)
}
