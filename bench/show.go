package bench

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteText writes r as tables for people.
func (r *Report) WriteText(w io.Writer) error {
	var b bytes.Buffer
	r.writeHead(&b)
	b.WriteString("\n")
	writeChecks(&b, r.Checks)
	b.WriteString("\n")
	writeGoals(&b, r.Goals())
	r.writeQueries(&b)
	r.writeCold(&b)
	r.writeClients(&b)
	r.writeMemory(&b)
	r.writeGrowth(&b)
	r.writeProblems(&b)
	fmt.Fprintf(&b, "\n%d queries, %d problems, %d targets missed\n", len(r.Queries), len(r.Problems), r.Missed())
	_, err := w.Write(b.Bytes())
	return err
}

func (r *Report) writeHead(w io.Writer) {
	c := r.Corpus
	fmt.Fprintf(w, "machine  %s, %d cores, %s/%s\n", r.Machine.CPU, r.Machine.Cores, r.Machine.OS, r.Machine.Arch)
	for _, program := range sortedKeys(r.Versions) {
		fmt.Fprintf(w, "%-7s  %s\n", program, r.Versions[program])
	}
	fmt.Fprintf(w, "corpus   %s at %.12s: %d files, %s; %d text files, %s\n",
		c.Path, c.Commit, c.Files, showBytes(c.Bytes), c.Text, showBytes(c.TextBytes))
	fmt.Fprintf(w, "skipped  %s; %d text files, %s, are not compared for that reason\n",
		showCounts(c.Skipped), c.SkippedText, showBytes(c.SkippedTextBytes))
	if i := r.Index; i != nil {
		fmt.Fprintf(w, "index    %s, CPU %s, largest process %s, all processes %s (%s without mapped files), disk %s\n",
			showDuration(i.Wall), showDuration(i.CPU), showBytes(i.PeakRSSBytes), showBytes(i.PeakTreeRSSBytes),
			showBytes(i.PeakTreeAnonBytes), showBytes(i.DiskBytes))
	}
	if r.Resync != nil {
		var rounds []string
		for _, u := range r.Resync.Rounds {
			rounds = append(rounds, showDuration(u.Wall))
		}
		fmt.Fprintf(w, "resync   %s\n", strings.Join(rounds, ", "))
	}
	fmt.Fprintf(w, "serve    ready after %s, peak memory %s (%s without mapped files at the end)\n",
		showDuration(r.Server.Ready), showBytes(r.Server.PeakRSSBytes), showBytes(r.Server.AnonBytes))
	for _, t := range r.Tools {
		t.writeHead(w)
	}
}

// writeHead writes the time and memory that a peer took to get ready, if it has
// an index.
func (t *ToolFacts) writeHead(w io.Writer) {
	if i := t.Index; i != nil {
		fmt.Fprintf(w, "%-7s  index %s, CPU %s, all processes %s (%s without mapped files), disk %s\n", t.Name,
			showDuration(i.Wall), showDuration(i.CPU), showBytes(i.PeakTreeRSSBytes), showBytes(i.PeakTreeAnonBytes), showBytes(i.DiskBytes))
	}
	if s := t.Server; s != nil {
		fmt.Fprintf(w, "%-7s  serve ready after %s, peak memory %s (%s without mapped files at the end)\n", t.Name,
			showDuration(s.Ready), showBytes(s.PeakRSSBytes), showBytes(s.AnonBytes))
	}
	if t.UnreadText > 0 {
		fmt.Fprintf(w, "%-7s  does not read %d text files, %s, that trawl searches\n", t.Name, t.UnreadText, showBytes(t.UnreadTextBytes))
	}
}

// writeGoals writes the results of the groups of queries beside those of the
// peers.
func writeGoals(w io.Writer, goals []GoalFacts) {
	if len(goals) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "goal\tlimit\tmet\tworst\tat")
	for _, g := range goals {
		fmt.Fprintf(t, "%s\t%s\t%d of %d\t%s\t%s\n", g.Title, g.Limits, g.Met, g.Queries, g.Worst, g.WorstValue)
	}
	t.Flush()
	fmt.Fprintln(w)
}

func showCounts(counts map[string]int) string {
	if len(counts) == 0 {
		return "nothing"
	}
	var parts []string
	for _, reason := range sortedKeys(counts) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[reason], reason))
	}
	return strings.Join(parts, ", ")
}

func writeChecks(w io.Writer, checks []Check) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "target\tvalue\tlimit\tmet")
	for _, c := range checks {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", c.Name, c.Value, c.Target, passFail(c.Passed))
	}
	t.Flush()
}

// writeVerdict ends a report.
func writeVerdict(w io.Writer, checks []Check, problems []string, missed int) {
	writeChecks(w, checks)
	for _, p := range problems {
		fmt.Fprintf(w, "\nERROR  %s\n", p)
	}
	fmt.Fprintf(w, "\n%d problems, %d goals missed\n", len(problems), missed)
}

func passFail(passed bool) string {
	if passed {
		return "pass"
	}
	return "FAIL"
}

// writeQueries writes one row per query; times are medians in milliseconds.
func (r *Report) writeQueries(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "query\tresults\tlines\tfirst ms\tdone ms\tmin\tmax\tserver\tlists\tcandidates\tblocks\tread")
	for _, name := range r.peerNames() {
		fmt.Fprintf(t, "\t%s ms\tsame", name)
	}
	fmt.Fprintln(t, "\ttarget")
	for _, q := range r.Queries {
		fmt.Fprintln(t, strings.Join(q.row(), "\t"))
	}
	t.Flush()
}

func (r *Report) peerNames() []string {
	var names []string
	if len(r.Queries) > 0 {
		for _, p := range r.Queries[0].Peers {
			names = append(names, p.Name)
		}
	}
	return names
}

func (q QueryFacts) row() []string {
	first := "-"
	if q.First() > 0 {
		first = showMillis(q.First())
	}
	lines := "-"
	if q.Scope != Nothing {
		lines = fmt.Sprint(q.Lines)
	}
	low, high := extremes(q.Runs)
	row := []string{q.Name, fmt.Sprint(q.results()), lines, first, showMillis(q.Done()), showMillis(low),
		showMillis(high), fmt.Sprint(q.serverMillis()), fmt.Sprint(q.Work.Lists), fmt.Sprint(q.Work.Candidates),
		fmt.Sprint(q.Work.Blocks), showBytes(q.Work.Bytes)}
	for _, p := range q.Peers {
		if p.Cannot != "" {
			row = append(row, "-", "-")
			continue
		}
		row = append(row, showMillis(p.Done()), p.agreement(q.Part))
	}
	target := "-"
	if len(q.Checks) > 0 {
		target = passFail(countMissed(q.Checks) == 0)
	}
	return append(row, target)
}

// agreement is one word on how the answers compare.
func (p PeerFacts) agreement(part bool) string {
	switch {
	case !p.Agrees():
		return "NO"
	case p.Unread > 0:
		return fmt.Sprintf("-%d", p.Unread)
	case p.Partial || part:
		return "part"
	}
	return "yes"
}

func (q QueryFacts) results() int {
	if len(q.Runs) == 0 {
		return 0
	}
	return q.Runs[0].Results
}

func (q QueryFacts) serverMillis() int {
	return int(median(q.Runs, func(a Answer) time.Duration { return time.Duration(a.ServerMillis) }))
}

func extremes(runs []Answer) (low, high time.Duration) {
	for i, a := range runs {
		if i == 0 || a.Done < low {
			low = a.Done
		}
		high = max(high, a.Done)
	}
	return low, high
}

// writeProblems spells out what is wrong, with the places that differ.
func (r *Report) writeProblems(w io.Writer) {
	for _, p := range r.Problems {
		fmt.Fprintf(w, "\nERROR  %s\n", p)
	}
	for _, q := range r.Queries {
		for _, p := range q.Peers {
			writePlaces(w, fmt.Sprintf("%s: only %s", q.Name, p.Name), p.Difference.MissingAt)
			writePlaces(w, q.Name+": only trawl", p.Difference.ExtraAt)
		}
	}
}

func writePlaces(w io.Writer, title string, places []LinePosition) {
	if len(places) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	for _, p := range places {
		fmt.Fprintf(w, "  %s:%d: %q\n", p.Path, p.Line, p.Text)
	}
}
