package bench

import (
	"testing"
	"time"
)

// raced is a query of a group with medians for trawl and peers; 0 is a peer
// that was not asked.
func raced(name string, g GoalName, trawl, zoekt, rg time.Duration) QueryFacts {
	q := QueryFacts{Query: Query{Name: name, Goal: g}, Runs: []Answer{{Done: trawl}}}
	for peer, took := range map[string]time.Duration{"zoekt": zoekt, "rg": rg} {
		if took > 0 {
			q.Peers = append(q.Peers, PeerFacts{Name: peer, Runs: []PeerRun{{Done: took}}})
		}
	}
	return q
}

// unread has the peers leave out n of 100 lines.
func unread(q QueryFacts, n int) QueryFacts {
	q.Lines = 100
	for i := range q.Peers {
		q.Peers[i].Unread = n
	}
	return q
}

func TestGoalChecks(t *testing.T) {
	ms := time.Millisecond
	for _, tt := range []struct {
		query  QueryFacts
		missed string
		checks int
	}{
		// A share of zoekt's time, if zoekt was asked
		{raced("", CommonLiterals, 5*ms, 10*ms, 1*ms), "", 1},
		{raced("", CommonLiterals, 6*ms, 10*ms, 0), "of zoekt", 1},
		{raced("", CommonLiterals, 6*ms, 0, 1*ms), "", 0},

		// A peer that does not read the files of the answer is no measure
		{unread(raced("", CommonLiterals, 6*ms, 10*ms, 0), 10), "of zoekt", 1},
		{unread(raced("", CommonLiterals, 6*ms, 10*ms, 0), 11), "", 0},

		// Without a goal of its own a query may not be slower than zoekt
		{raced("", "", 10*ms, 10*ms, 0), "", 1},
		{raced("", "", 11*ms, 10*ms, 0), "of zoekt", 1},

		// A time
		{raced("", WeakLiterals, 20*ms, 0, 0), "", 1},
		{raced("", WeakLiterals, 21*ms, 20*ms, 0), "done, of zoekt", 2},

		// Two peers
		{raced("", NoLiterals, 10*ms, 100*ms, 10*ms), "", 2},
		{raced("", NoLiterals, 11*ms, 200*ms, 10*ms), "of rg", 2},
	} {
		if missed, n := showMissed(tt.query.goalChecks()); missed != tt.missed || n != tt.checks {
			t.Errorf("%s, %v: missed %q of %d checks, want %q of %d",
				tt.query.Goal, tt.query.Done(), missed, n, tt.missed, tt.checks)
		}
	}
}

func TestReportGoals(t *testing.T) {
	ms := time.Millisecond
	r := Report{Queries: []QueryFacts{
		raced("a", CommonLiterals, 4*ms, 10*ms, 0),
		raced("b", CommonLiterals, 9*ms, 10*ms, 0),
		raced("c", CommonLiterals, 9*ms, 0, 0), // not judged
		raced("d", TwoLetters, 3*ms, 0, 0),
	}}
	want := []GoalFacts{
		{TwoLetters, "two-letter literal", "<= 30.0 ms", 1, 1, "d", "3.00 ms"},
		{CommonLiterals, "common literal, all matches", "<= 0.5 x zoekt", 2, 1, "b", "0.90 x zoekt, 9.00 ms"},
	}
	got := r.Goals()
	if len(got) != len(want) {
		t.Fatalf("goals = %+v, want %+v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("goal %d = %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestCheckAgainstZoekt(t *testing.T) {
	index := func(seconds int, memory, disk int64) *IndexFacts {
		return &IndexFacts{Usage: Usage{Wall: time.Duration(seconds) * time.Second, PeakTreeAnonBytes: memory}, DiskBytes: disk}
	}
	for _, tt := range []struct {
		name   string
		report Report
		missed string
		checks int
	}{
		{"no zoekt", Report{Index: index(1, 1, 1)}, "", 0},
		{"at the limits", Report{Index: index(25, 40, 20), Tools: []*ToolFacts{{Name: "zoekt", Index: index(100, 100, 100)}},
			Queries: []QueryFacts{raced("", "", 1, 2, 0), raced("", "", 1, 8, 0)}}, "", 4},
		{"beyond", Report{Index: index(26, 41, 21), Tools: []*ToolFacts{{Name: "zoekt", Index: index(100, 100, 100)}},
			Queries: []QueryFacts{raced("", "", 1, 2, 0), raced("", "", 1, 7, 0)}},
			"share of zoekt, geometric mean of 2 queries, share of zoekt, index time, share of zoekt, index peak memory, share of zoekt, disk", 4},
	} {
		if missed, n := showMissed(tt.report.checkAgainstZoekt()); missed != tt.missed || n != tt.checks {
			t.Errorf("%s: missed %q of %d checks, want %q of %d", tt.name, missed, n, tt.missed, tt.checks)
		}
	}
}
