package bench

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(i+1))
	}
	for _, tt := range []struct {
		times []time.Duration
		q     float64
		want  time.Duration
	}{
		{nil, 0.5, 0},
		{hundred[:1], 0.99, 1},
		{hundred, 0.5, 50},
		{hundred, 0.95, 95},
		{hundred, 0.99, 99},
		{hundred, 1, 100},
		{hundred[:10], 0.99, 10},
	} {
		if got := quantile(tt.times, tt.q); got != tt.want {
			t.Errorf("quantile %g of %d times = %d, want %d", tt.q, len(tt.times), got, tt.want)
		}
	}
}

func TestPhaseChecks(t *testing.T) {
	ms := time.Millisecond
	served := func(tool string, clients, searches int, p99 time.Duration) ClientsFacts {
		return ClientsFacts{Tool: tool, Clients: clients, Wall: time.Second, Searches: searches, P99: p99}
	}
	grown := func(factor float64, first, done time.Duration) GrowthFacts {
		return GrowthFacts{Factor: factor, Queries: []QueryFacts{{Runs: []Answer{{First: first, Done: done}}}}}
	}
	cold := func(tool string, done time.Duration) *ColdFacts {
		return &ColdFacts{Queries: []ColdQuery{{Tool: tool, Query: "q", Rounds: []ColdRound{{PeerRun: PeerRun{Done: done}}}}}}
	}
	rare := []QueryFacts{{Query: Query{Name: "q", Frequency: Rare}}}
	for _, tt := range []struct {
		name   string
		checks []Check
		missed string
		want   int
	}{
		// Clients, at the largest number only
		{"as fast as asked", (&Report{Clients: []ClientsFacts{served("trawl", 1, 1, 9*ms), served("trawl", 16, 200, 5*ms),
			served("zoekt", 1, 9, ms), served("zoekt", 16, 100, 10*ms)}}).checkClients(), "", 2},
		{"too slow", (&Report{Clients: []ClientsFacts{served("trawl", 16, 199, 6*ms), served("zoekt", 16, 100, 10*ms)}}).checkClients(),
			"share of zoekt, throughput, 16 clients, share of zoekt, p99, 16 clients", 2},
		{"no zoekt", (&Report{Clients: []ClientsFacts{served("trawl", 16, 199, 6*ms)}}).checkClients(), "", 0},

		// Growth, where a size and its half are there
		{"flat", (&Report{Growth: []GrowthFacts{grown(0.5, 4*ms, 10*ms), grown(1, 5*ms, 20*ms)}}).checkGrowth(), "", 2},
		{"steep", (&Report{Growth: []GrowthFacts{grown(0.5, 4*ms, 10*ms), grown(1, 6*ms, 21*ms)}}).checkGrowth(),
			"growth from 0.5 to 1, done, growth from 0.5 to 1, first match", 2},
		{"no match", (&Report{Growth: []GrowthFacts{grown(1, 0, 10*ms), grown(2, 0, 10*ms)}}).checkGrowth(), "", 1},
		{"no half", (&Report{Growth: []GrowthFacts{grown(1, ms, ms), grown(4, ms, ms)}}).checkGrowth(), "", 0},

		// Cold, trawl's rare literals only
		{"warm enough", (&Report{Queries: rare, Cold: cold("trawl", 150*ms)}).checkCold(), "", 1},
		{"too cold", (&Report{Queries: rare, Cold: cold("trawl", 151*ms)}).checkCold(), "cold, q", 1},
		{"another tool", (&Report{Queries: rare, Cold: cold("rg", 151*ms)}).checkCold(), "", 0},

		// Memory, indexing and answering
		{"kept", (&Report{Memory: []MemoryFacts{{Setting: "1", SettingBytes: 9, Index: Usage{PeakOwnBytes: 9}, PeakBytes: 9}}}).checkMemory(), "", 2},
		{"broken", (&Report{Memory: []MemoryFacts{{Setting: "1", SettingBytes: 9, Index: Usage{PeakOwnBytes: 10}, PeakBytes: 10}}}).checkMemory(),
			"indexing with memory 1, answering with memory 1", 2},
	} {
		if missed, n := showMissed(tt.checks); missed != tt.missed || n != tt.want {
			t.Errorf("%s: missed %q of %d checks, want %q of %d", tt.name, missed, n, tt.missed, tt.want)
		}
	}
}

// fakeEngine answers with a function.
type fakeEngine struct{ run func() error }

func (fakeEngine) name() string { return "fake" }
func (fakeEngine) cannot(q Query) string {
	return map[bool]string{true: "does not want to"}[q.Name == "no"]
}
func (fakeEngine) reads(workspace) []string                           { return nil }
func (e fakeEngine) start(context.Context, workspace) (engine, error) { return e, nil }
func (fakeEngine) answer(context.Context, Query) (LineSet, error)     { return nil, nil }
func (fakeEngine) skipped(context.Context) (map[string]bool, error)   { return nil, nil }
func (fakeEngine) server() *process                                   { return nil }
func (fakeEngine) stop() error                                        { return nil }
func (e fakeEngine) ask(context.Context, Query, int) (PeerRun, error) {
	return PeerRun{Done: 1}, e.run()
}

func TestServeClientsCountsErrors(t *testing.T) {
	asked := 0
	tool := fakeEngine{func() error {
		if asked++; asked > 1 {
			return errors.New("tired")
		}
		return nil
	}}
	f, err := serveClients(t.Context(), contestant{tool, tool}, []Query{{Name: "yes"}, {Name: "no"}}, 1, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if f.Queries != 1 || f.Errors == 0 || f.Errors != f.Searches || f.Error != "tired" || f.PerSecond() != 0 {
		t.Errorf("facts = %+v, want one query and nothing but errors", f)
	}
	if f, err = serveClients(t.Context(), contestant{tool, tool}, []Query{{Name: "no"}}, 1, time.Millisecond); err != nil || f.Searches != 0 {
		t.Errorf("without a question: %+v, error %v; want no search", f, err)
	}
}

// What can be read from disk again may be forgotten, and is then still there.
func TestPageCache(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	// Not the whole cache: other tests run.
	cache := newPageCache().ofFiles()
	if err := cache.empty([]string{dir}); err != nil || cache.method == "" {
		t.Errorf("empty cache of %s by %q: error %v", dir, cache.method, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(text) != "text" {
		t.Errorf("file = %q, error %v", text, err)
	}
}

func TestLineLimit(t *testing.T) {
	reached := 0
	l := &lineLimit{left: 3, reached: func() { reached++ }}
	for i, part := range []string{"a\nb", "\nc", "d", "\ne\nf\n"} {
		if _, err := io.WriteString(l, part); err != nil {
			t.Fatal(err)
		}
		if want := i / 3; reached != want {
			t.Errorf("after %d parts: reached %d times, want %d", i+1, reached, want)
		}
	}
}
