package bench_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/bench"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sampleReport has one of everything that a report can show.
func sampleReport() *bench.Report {
	answers := func(first, done time.Duration, results int) []bench.Answer {
		return []bench.Answer{
			{First: first, Done: done, ServerMillis: 2, Results: results, Bytes: 900},
			{First: first * 2, Done: done * 2, ServerMillis: 4, Results: results, Bytes: 900},
			{First: first, Done: done + time.Microsecond, ServerMillis: 2, Results: results, Bytes: 900},
		}
	}
	peer := func(name string, done time.Duration, lines int) bench.PeerFacts {
		return bench.PeerFacts{Name: name, Lines: lines, Runs: []bench.PeerRun{{First: done / 2, Done: done}}}
	}
	wrong := peer("rg", 1250*time.Millisecond, 4)
	wrong.Difference = bench.Difference{
		Missing: 2, MissingAt: []bench.LinePosition{{Path: "a.c", Line: 3, Text: "\tx"}, {Path: "a.c", Line: 9, Text: "y"}},
		Extra: 1, ExtraAt: []bench.LinePosition{{Path: "b.c", Line: 1, Text: "z"}},
	}
	partial := peer("git-grep", 2*time.Second, 1)
	partial.Partial = true
	zoekt := peer("zoekt", 4*time.Millisecond, 3)
	zoekt.Unread = 1
	index := func(wall time.Duration, memory, disk int64) *bench.IndexFacts {
		return &bench.IndexFacts{
			Usage: bench.Usage{Wall: wall, CPU: wall, PeakRSSBytes: memory, PeakTreeRSSBytes: memory, PeakTreeAnonBytes: memory / 2}, DiskBytes: disk,
		}
	}
	grown := func(factor float64, done time.Duration) bench.GrowthFacts {
		return bench.GrowthFacts{
			Factor: factor, Corpus: bench.CorpusFacts{Path: "/src", TextBytes: int64(12000 * factor)}, Index: *index(done*9, 1e8, 1e7),
			Tools: []*bench.ToolFacts{{Name: "rg"}, {Name: "zoekt", Index: index(done*90, 1e9, 1e8)}},
			Queries: []bench.QueryFacts{{
				Query: bench.Query{Name: "good", Kind: bench.Literal, Scope: bench.Lines}, Runs: answers(done/2, done, 4),
				Peers: []bench.PeerFacts{peer("rg", done*3, 4), {Name: "zoekt", Cannot: "asleep"}},
			}},
		}
	}
	return &bench.Report{
		Command:  "trawl-bench run --corpus /src --full",
		Version:  bench.ReportVersion,
		Started:  time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC),
		Machine:  bench.Machine{OS: "linux", Arch: "amd64", CPU: "Fast One", Cores: 2, MemoryBytes: 8 << 30},
		Versions: map[string]string{"trawl": "trawl 1", "rg": "ripgrep 13", "git": "git version 2"},
		Corpus: bench.CorpusFacts{Path: "/src", Commit: "0123456789abcdef", Files: 9, Bytes: 12345, Text: 6, TextBytes: 12000,
			Wide: 1, Binary: 1, Irregular: 1, Skipped: map[string]int{"binary": 1, "too large": 2},
			SkippedText: 2, SkippedTextBytes: 5000},
		Index: &bench.IndexFacts{
			Usage: bench.Usage{Wall: 46 * time.Second, CPU: 60 * time.Second, PeakRSSBytes: 5e8, PeakTreeRSSBytes: 7e8,
				PeakTreeAnonBytes: 6e8},
			DiskBytes: 468e6, DiskParts: map[string]int64{"store": 468e6},
		},
		Resync: &bench.Resync{FilesChanged: 10, Rounds: []bench.Usage{{Wall: 900 * time.Millisecond}, {Wall: 1200 * time.Millisecond}}},
		Server: bench.ServerFacts{Ready: 150 * time.Millisecond, PeakRSSBytes: 2e8, AnonBytes: 1e8},
		Tools: []*bench.ToolFacts{
			{Name: "rg"}, {Name: "git-grep"},
			{Name: "zoekt", Index: index(102*time.Second, 17e8, 2728e6), UnreadText: 84, UnreadTextBytes: 351e6,
				Server: &bench.ServerFacts{Ready: 20 * time.Millisecond, PeakRSSBytes: 3e8, AnonBytes: 2e8}},
		},
		Cold: &bench.ColdFacts{Method: "slept over it", Queries: []bench.ColdQuery{
			{Tool: "trawl", Query: "good", Rounds: []bench.ColdRound{
				{Ready: 9 * time.Millisecond, PeerRun: bench.PeerRun{First: 40 * time.Millisecond, Done: 50 * time.Millisecond}}}},
			{Tool: "rg", Query: "good", Rounds: []bench.ColdRound{{PeerRun: bench.PeerRun{Done: 5 * time.Second}}}},
		}},
		Clients: []bench.ClientsFacts{
			{Tool: "trawl", Clients: 1, Queries: 3, Limit: 500, Wall: time.Second, Searches: 500, P50: 2 * time.Millisecond,
				P95: 3 * time.Millisecond, P99: 4 * time.Millisecond, Max: 5 * time.Millisecond},
			{Tool: "zoekt", Clients: 1, Queries: 3, Limit: 500, Wall: time.Second, Searches: 100, Errors: 1, Error: "no answer",
				P50: 9 * time.Millisecond, P95: 10 * time.Millisecond, P99: 11 * time.Millisecond, Max: 12 * time.Millisecond},
		},
		Memory: []bench.MemoryFacts{{
			Setting: "512MiB", SettingBytes: 512 << 20, Index: bench.Usage{Wall: 20 * time.Second, PeakOwnBytes: 4e8},
			ReadyBytes: 3e7, PeakBytes: 2e8, IdleBytes: 5e7, Rest: 5 * time.Second,
			Queries: []bench.MemoryQuery{{Name: "good", Done: 2 * time.Millisecond}, {Name: "wrong", Done: 200 * time.Millisecond}},
		}},
		Growth: []bench.GrowthFacts{grown(0.5, 10*time.Millisecond), grown(1, 15*time.Millisecond)},
		Queries: []bench.QueryFacts{
			{
				Query: bench.Query{Name: "good", Kind: bench.Literal, Goal: bench.CommonLiterals, Scope: bench.Lines}, Lines: 40,
				Runs: answers(800*time.Microsecond, 1500*time.Microsecond, 5),
				Work: bench.Work{Lists: 3, Candidates: 12, Blocks: 10, Bytes: 40960},
				Peers: []bench.PeerFacts{
					peer("rg", 300*time.Millisecond, 4), peer("git-grep", 400*time.Millisecond, 4), zoekt},
				Checks: []bench.Check{{Name: "first match", Value: "0.80 ms", Target: "<= 10.0 ms", Passed: true}},
			},
			{
				Query: bench.Query{Name: "wrong", Kind: bench.Regexp, Scope: bench.Lines}, Lines: 30,
				Runs: answers(12*time.Millisecond, 150*time.Millisecond, 3), Peers: []bench.PeerFacts{wrong, partial, zoekt},
				Checks: []bench.Check{{Name: "done", Value: "150 ms", Target: "<= 2.00 ms"}},
			},
			{
				Query: bench.Query{Name: "alone", Kind: bench.Repository, Scope: bench.Nothing},
				Runs:  answers(0, 300*time.Microsecond, 0),
				Peers: []bench.PeerFacts{{Name: "rg", Cannot: "no such question"}, {Name: "git-grep", Cannot: "no such question"},
					{Name: "zoekt", Cannot: "no such question"}},
			},
		},
		Checks: []bench.Check{
			{Name: "index time", Value: "46.0 s", Target: "<= 45.0 s"},
			{Name: "disk", Value: "468.0 MB", Target: "<= 600.0 MB", Passed: true},
		},
		Problems: []string{"query wrong: 2 lines that rg finds are missing, 1 are extra"},
	}
}

func TestReportGoldens(t *testing.T) {
	r := sampleReport()
	for name, write := range map[string]func(io.Writer) error{
		"report.txt": r.WriteText, "report.json": r.WriteJSON, "report.bench": r.WriteBenchmarks,
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := write(&got); err != nil {
				t.Fatal(err)
			}
			checkGolden(t, name, got.Bytes())
		})
	}
}

func checkGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (rewrite with -update); got:\n%s\nwant:\n%s", file, got, want)
	}
}

func TestReportSurvivesJSON(t *testing.T) {
	want := sampleReport()
	var text bytes.Buffer
	if err := want.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	got, err := bench.ReadReport(&text)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("report after JSON:\n got %+v\nwant %+v", got, want)
	}
}

func TestReadReportErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "EOF"},
		{"[]", "cannot unmarshal"},
		{`{"version":2}`, "it has version 2, this program reads 1"},
	} {
		_, err := bench.ReadReport(strings.NewReader(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("read %q: error = %v, want one with %q", tt.text, err, tt.want)
		}
	}
}

func TestReportMissed(t *testing.T) {
	if got := sampleReport().Missed(); got != 2 {
		t.Errorf("missed targets = %d, want 2: one of the run, one of a query", got)
	}
}

func TestQueryFactsMedians(t *testing.T) {
	ms := time.Millisecond
	for _, tt := range []struct {
		done []time.Duration
		want time.Duration
	}{
		{nil, 0},
		{[]time.Duration{3 * ms}, 3 * ms},
		{[]time.Duration{9 * ms, 1 * ms, 2 * ms}, 2 * ms},
		{[]time.Duration{4 * ms, 1 * ms, 9 * ms, 2 * ms}, 3 * ms},
	} {
		var q bench.QueryFacts
		for _, d := range tt.done {
			q.Runs = append(q.Runs, bench.Answer{Done: d})
		}
		if got := q.Done(); got != tt.want {
			t.Errorf("median of %v = %v, want %v", tt.done, got, tt.want)
		}
	}
}
