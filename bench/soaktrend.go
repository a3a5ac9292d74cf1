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
	// RSSBytes is the resident memory, FreeBytes the free pages of the heap
	// that were not given back to the system yet. Some of these are resident,
	// as they were freed just before, and some never were.
	RSSBytes   float64 `json:"rssBytes"`
	FreeBytes  float64 `json:"freeBytes"`
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
	// server with the largest difference: the most that was held at first, and the
	// least at last, where that is not known exactly.
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
	what string
	of   func(SoakSample) float64
	// unsure is how much less it may be; nil is nothing.
	unsure func(SoakSample) float64
	share  float64
	slack  float64
	// life says that it begins anew with each server.
	life bool
}

var soakMeasures = []soakMeasure{
	{what: "heap", of: func(s SoakSample) float64 { return s.HeapBytes }, share: 0.15, slack: 4 << 20, life: true},
	{
		what: "resident memory", of: func(s SoakSample) float64 { return s.RSSBytes },
		unsure: func(s SoakSample) float64 { return s.FreeBytes }, share: 0.25, slack: 32 << 20, life: true,
	},
	{what: "goroutines", of: func(s SoakSample) float64 { return s.Goroutines }, slack: 6, life: true},
	{what: "open files", of: func(s SoakSample) float64 { return s.Files }, slack: 48, life: true},
	{what: "snapshots", of: func(s SoakSample) float64 { return s.Snapshots }, slack: 1, life: true},
	{what: "child processes", of: func(s SoakSample) float64 { return s.Children }, slack: 1, life: true},
	{what: "disk", of: func(s SoakSample) float64 { return s.DiskBytes }, share: 0.25, slack: 8 << 20},
	{what: "files on disk", of: func(s SoakSample) float64 { return s.Entries }, share: 0.25, slack: 48},
	{what: "backups", of: func(s SoakSample) float64 { return s.BackupBytes }, share: 0.25, slack: 8 << 20},
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
		var series [][]SoakSample
		life := -1
		for _, s := range samples {
			if len(series) == 0 || m.life && s.Life != life {
				series = append(series, nil)
			}
			life = s.Life
			series[len(series)-1] = append(series[len(series)-1], s)
		}
		var worst *SoakTrend
		for _, of := range series {
			if t := m.trend(of); t != nil && (worst == nil || t.Last-t.Allowed > worst.Last-worst.Allowed) {
				worst = t
			}
		}
		if worst != nil {
			out = append(out, *worst)
		}
	}
	return out
}

// trend returns nil for too few samples.
func (m soakMeasure) trend(samples []SoakSample) *SoakTrend {
	if len(samples) < soakWarmUp+2 {
		return nil
	}
	samples = samples[soakWarmUp:]
	n := min(soakEnd, len(samples)/2)
	least := func(s SoakSample) float64 {
		if m.unsure == nil {
			return m.of(s)
		}
		return max(m.of(s)-m.unsure(s), 0)
	}
	t := &SoakTrend{What: m.what, First: middle(samples[:n], m.of), Last: middle(samples[len(samples)-n:], least)}
	t.Allowed = t.First*(1+m.share) + m.slack
	t.Grows = t.Last > t.Allowed
	return t
}

func middle(samples []SoakSample, of func(SoakSample) float64) float64 {
	var values []float64
	for _, s := range samples {
		values = append(values, of(s))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// String returns the trend, in megabytes if it is of bytes.
func (t SoakTrend) String() string {
	unit, text := 1.0, "%s %.0f -> %.0f, at most %.0f"
	if t.Allowed > 1<<20 {
		unit, text = 1e6, "%s %.1f -> %.1f MB, at most %.1f"
	}
	return fmt.Sprintf(text, t.What, t.First/unit, t.Last/unit, t.Allowed/unit)
}
