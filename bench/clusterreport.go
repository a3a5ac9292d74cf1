package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"text/tabwriter"
	"time"
)

// ClusterReport is what came out of a run of a cluster.
type ClusterReport struct {
	Version  int               `json:"version"`
	Started  time.Time         `json:"started"`
	Command  string            `json:"command,omitempty"`
	Machine  Machine           `json:"machine"`
	Versions map[string]string `json:"versions"`
	Nodes    int               `json:"nodes"`
	Seed     uint64            `json:"seed"`
	Fleet    FleetFacts        `json:"fleet"`
	// Filled is the time until all nodes searched all repositories.
	Filled time.Duration `json:"filledNanos"`
	// Visible are the times from a small change that one node acknowledged until all
	// others showed it.
	Visible Percentiles `json:"visible"`
	// Found are the times from the end of a sync on one node until all found the
	// commit, FoundSinceAsked those since the sync was asked for.
	Found           Percentiles `json:"found"`
	FoundSinceAsked Percentiles `json:"foundSinceAsked"`
	// Revoked are the times from the end of a token on one node until all refused it.
	Revoked Percentiles `json:"revoked"`
	// Away is for how long the database and the objects were away.
	Away   time.Duration  `json:"awayNanos"`
	Grace  time.Duration  `json:"graceNanos"`
	Faults []ClusterFault `json:"faults"`
	// Drawn is whether the faults were drawn, and nothing else was timed.
	Drawn bool          `json:"drawn"`
	Sizes *ClusterSizes `json:"sizes,omitempty"`
	// Queries is how many answers were compared, with Matches matches, Different those
	// that nodes answered differently.
	Queries   int      `json:"queries"`
	Matches   int      `json:"matches"`
	Different []string `json:"different,omitempty"`
	// Throughput are answers a second of one node, of two, and so on. Share is the part of
	// a processor that each node was held to, 0 for none. NoThroughput says why there are
	// no answers.
	Throughput   []float64 `json:"throughput,omitempty"`
	Share        float64   `json:"share,omitempty"`
	NoThroughput string    `json:"noThroughput,omitempty"`
	// Acknowledged counts changes that had to stay, Unsure those without an answer.
	Acknowledged int      `json:"acknowledged"`
	Unsure       int      `json:"unsure"`
	Checks       []Check  `json:"checks"`
	Problems     []string `json:"problems"`
}

// The goals of a cluster.
const (
	visibleGoal = 500 * time.Millisecond
	revokedGoal = 300 * time.Millisecond
	movedGoal   = 15 * time.Second
	goodGoal    = 2 * time.Second
)

// throughputGoals are those of so many nodes, as a multiple of one.
var throughputGoals = map[int]float64{2: 1.8, 4: 3.4}

// check returns the goals, as far as the run came.
func (r *ClusterReport) check() []Check {
	var checks []Check
	add := func(measured bool, name string, value, limit time.Duration) {
		if measured {
			checks = append(checks, durationCheck(name, value, limit))
		}
	}
	add(r.Visible.Count > 0, "change visible on all nodes, p99", r.Visible.P99, visibleGoal)
	add(r.Found.Count > 0, "synced commit found on all nodes, p99", r.Found.P99, visibleGoal)
	add(r.Revoked.Count > 0, "token refused by all nodes, p99", r.Revoked.P99, revokedGoal)
	add(r.Revoked.Count > 0, "token refused by all nodes, longest", r.Revoked.Max, mostRevoked)
	if r.Drawn {
		checks = append(checks, Check{"drawn faults after which something was lost, out of order or taken", fmt.Sprintf("%d problems in %d faults", len(r.Problems), len(r.Faults)), "0", len(r.Problems) == 0})
	}
	for _, goal := range []struct {
		fault, name string
		limit       time.Duration
	}{
		{faultKilled, "work of a killed node moved, longest", movedGoal},
		{faultDatabase, "good again with the database, longest", goodGoal},
	} {
		longest, any := r.longest(goal.fault)
		add(any && !r.Drawn, goal.name, longest, goal.limit)
	}
	if r.Queries > 0 {
		n := len(r.Different)
		checks = append(checks, Check{"answers that differ at one version", fmt.Sprintf("%d of %d", n, r.Queries), "0", n == 0})
	}
	for i, rate := range r.Throughput {
		if goal := throughputGoals[i+1]; goal > 0 {
			times := rate / r.Throughput[0]
			checks = append(checks, Check{fmt.Sprintf("throughput of %d nodes", i+1), fmt.Sprintf("%.2fx", times), fmt.Sprintf(">= %.1fx", goal), times >= goal})
		}
	}
	return checks
}

// longest returns the longest time of a fault, if it happened.
func (r *ClusterReport) longest(fault string) (longest time.Duration, any bool) {
	for _, f := range r.Faults {
		if f.Name == fault {
			longest, any = max(longest, f.Took), true
		}
	}
	return longest, any
}

// Missed returns how many goals the run missed.
func (r *ClusterReport) Missed() int { return countMissed(r.Checks) }

// WriteJSON writes r as indented JSON.
func (r *ClusterReport) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// Write prints the report for people.
func (r *ClusterReport) Write(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "machine       %s, %d cores, %s/%s\n", r.Machine.CPU, r.Machine.Cores, r.Machine.OS, r.Machine.Arch)
	for _, program := range sortedKeys(r.Versions) {
		fmt.Fprintf(&b, "%-12s  %s\n", program, r.Versions[program])
	}
	fmt.Fprintf(&b, "cluster       %d nodes, %d repositories of seed %d, searched on all after %s\n\n", r.Nodes, r.Fleet.Repositories, r.Seed, showDuration(r.Filled))
	r.writeTimes(&b)
	r.writeFaults(&b)
	if r.Queries > 0 {
		fmt.Fprintf(&b, "answers       %d of %d the same on all nodes, %d matches\n", r.Queries-len(r.Different), r.Queries, r.Matches)
	}
	if r.NoThroughput != "" {
		fmt.Fprintf(&b, "throughput    %s\n", r.NoThroughput)
	}
	held := ""
	if r.Share > 0 {
		held = fmt.Sprintf(", each held to %.2f of a processor", r.Share)
	}
	for i, rate := range r.Throughput {
		fmt.Fprintf(&b, "throughput    %d nodes%s: %.0f answers a second\n", i+1, held, rate)
	}
	if s := r.Sizes; s != nil {
		s.write(&b)
	}
	fmt.Fprintf(&b, "changes       %d acknowledged, %d without an answer\n\n", r.Acknowledged, r.Unsure)
	writeVerdict(&b, r.Checks, r.Problems, r.Missed())
	_, err := w.Write(b.Bytes())
	return err
}

func (r *ClusterReport) writeTimes(w io.Writer) {
	if r.Drawn {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "until all nodes have it\ttimes\tp50\tp99\tmost")
	for _, row := range []struct {
		name  string
		times Percentiles
	}{
		{"small change, since acknowledged", r.Visible}, {"commit, since synced", r.Found},
		{"commit, since its sync was asked for", r.FoundSinceAsked}, {"end of a token, since acknowledged", r.Revoked},
	} {
		p := row.times
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\n", row.name, p.Count, showDuration(p.P50), showDuration(p.P99), showDuration(p.Max))
	}
	t.Flush()
	fmt.Fprintln(w)
}

func (r *ClusterReport) writeFaults(w io.Writer) {
	if len(r.Faults) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if r.Drawn {
		r.writeDrawn(t)
	} else {
		fmt.Fprintln(t, "fault\tsearches answered\trefused\tall well after\tnote")
		for _, f := range r.Faults {
			fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\n", f.Name, f.Answered, f.Refused, showDuration(f.Took), f.Note)
		}
	}
	t.Flush()
	fmt.Fprintln(w)
}

// writeDrawn prints a line for each kind of fault.
func (r *ClusterReport) writeDrawn(w io.Writer) {
	kinds := map[string][]ClusterFault{}
	for _, f := range r.Faults {
		name := f.Name
		if strings.Contains(name, secondFault) {
			name = "two at once"
		}
		kinds[name] = append(kinds[name], f)
	}
	fmt.Fprintln(w, "fault\ttimes\tsearches answered\trefused\tended tokens refused\tall well after: p50\tmost")
	for _, name := range sortedKeys(kinds) {
		var answered, refused, ended int64
		var took []time.Duration
		for _, f := range kinds[name] {
			answered, refused, ended, took = answered+f.Answered, refused+f.Refused, ended+f.Ended, append(took, f.Took)
		}
		p := percentiles(took)
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%s\t%s\n", name, p.Count, answered, refused, ended, showDuration(p.P50), showDuration(p.Max))
	}
}

// postgresVersion returns what the program of a database calls itself.
func postgresVersion(ctx context.Context, d *clusterDatabase) string {
	return firstLine(exec.CommandContext(ctx, d.postgres, "--version"))
}
