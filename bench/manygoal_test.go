package bench

import (
	"testing"
	"time"
)

func TestManyGoals(t *testing.T) {
	const ms = time.Millisecond
	runs := func(done time.Duration) []PeerRun { return []PeerRun{{Done: done}} }
	index := func(wall time.Duration, peak int64) ManyIndex {
		return ManyIndex{IndexFacts: IndexFacts{Usage: Usage{Wall: wall, PeakOwnBytes: peak}}}
	}
	good := func() *ManyReport {
		zoekt, symbols := index(100*time.Second, 0), index(60*time.Second, 512)
		return &ManyReport{
			SettingBytes: 512, Text: index(25*time.Second, 512), Symbols: &symbols, Zoekt: &zoekt,
			Unchanged: Usage{Wall: 1, CPU: 10 * time.Second, PeakOwnBytes: 512},
			Fleet:     FleetFacts{Repositories: 10_000, Bytes: 1 << 30},
			Bulk:      ManyBulk{PeakBytes: 512, MostShards: 27 + 8, Absent: Percentiles{Count: 1, P99: 10 * ms}},
			Queries: []ManyQuery{
				{Name: absentQuestion, AtOnce: runs(1500 * time.Microsecond), Later: runs(ms)},
				{Name: repoQuestion, AtOnce: runs(ms), Later: runs(ms)},
				{Name: noneQuestion, AtOnce: runs(time.Hour), Later: runs(time.Second)},
				{Name: everyQuestion, AtOnce: runs(time.Hour), Later: runs(time.Hour)}, // has no goal
			},
			Typing:  []ManyTyped{{ManyAsked{Name: "completion, repo:", Took: []time.Duration{20 * ms}}, 20 * ms}},
			Commits: []ManyCommit{{Read: time.Second, Found: 1050 * ms}},
			Restart: ManyRestart{Ready: time.Second},
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*ManyReport)
		missed string
		checks int
	}{
		{"at the limits", func(*ManyReport) {}, "", 17},
		{"without zoekt and symbols", func(r *ManyReport) { r.Zoekt, r.Symbols = nil, nil }, "", 14},
		{"ended early", func(r *ManyReport) { *r = ManyReport{Text: r.Text, SettingBytes: 512} }, "", 1},
		{"slow index", func(r *ManyReport) { r.Text.Wall++ }, "first index, share of zoekt", 17},
		{"slow symbols", func(r *ManyReport) { r.Symbols.Wall++ }, "with symbols and history", 17},
		{"memory", func(r *ManyReport) { r.Text.PeakOwnBytes++; r.Bulk.PeakBytes++ }, "peak memory, text, peak memory, serving", 17},
		{"shards", func(r *ManyReport) { r.Bulk.MostShards++ }, "shards during indexing", 17},
		{"shards apart", func(r *ManyReport) { r.Apart = &ManyApart{Ready: time.Second, PeakBytes: 513} }, "peak memory, shards apart", 19},
		{"a slow query", func(r *ManyReport) { r.Queries[1].Later = runs(2 * ms) }, "repo: of one and a word of all, idle", 17},
		{"a slow revision", func(r *ManyReport) { r.Queries[2].Later = runs(2 * time.Second) }, "revision that none has, idle", 17},
		{"a wrong answer", func(r *ManyReport) { r.Queries[0].AtOnce = nil }, "absent word, at once", 17},
		{"a slow completion", func(r *ManyReport) { r.Typing[0].Took[0]++ }, "completion, repo:", 17},
		{"a slow commit", func(r *ManyReport) { r.Commits[0].Found += ms }, "one commit, from read to found", 17},
	} {
		r := good()
		tt.change(r)
		if missed, n := showMissed(r.check()); missed != tt.missed || n != tt.checks {
			t.Errorf("%s: missed %q of %d goals, want %q of %d", tt.name, missed, n, tt.missed, tt.checks)
		}
	}
}
