package bench

import (
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// ManyReport is what came out of a run over many repositories.
type ManyReport struct {
	Version  int               `json:"version"`
	Started  time.Time         `json:"started"`
	Command  string            `json:"command,omitempty"`
	Machine  Machine           `json:"machine"`
	Versions map[string]string `json:"versions"`
	// Memory is trawl's setting of that name, SettingBytes what it says.
	Memory       string     `json:"memory"`
	SettingBytes int64      `json:"settingBytes"`
	Runs         int        `json:"runs"`
	Fleet        FleetFacts `json:"fleet"`
	// Generated is the time of making the repositories.
	Generated time.Duration `json:"generatedNanos"`
	// Text is the first index without definitions and commits, Symbols one with
	// both, Zoekt that of zoekt without definitions; Unchanged is a second run of
	// the command of Text.
	Text      ManyIndex  `json:"text"`
	Symbols   *ManyIndex `json:"symbols,omitempty"`
	Zoekt     *ManyIndex `json:"zoekt,omitempty"`
	Unchanged Usage      `json:"unchanged"`
	Bulk      ManyBulk   `json:"bulk"`
	Apart     *ManyApart `json:"apart,omitempty"`
	// ZoektKept is when the run began that made zoekt's index, if that was an
	// earlier one.
	ZoektKept time.Time `json:"zoektKept,omitzero"`
	// ZoektReady is how long zoekt's server took to be ready, ZoektServes the most
	// it was resident with.
	ZoektReady  time.Duration `json:"zoektReadyNanos,omitempty"`
	ZoektServes int64         `json:"zoektServesBytes,omitempty"`
	Queries     []ManyQuery   `json:"queries"`
	// Operator are the times of what shows all repositories.
	Operator []ManyAsked `json:"operator"`
	// Typing are those of what a page asks while a person types.
	Typing  []ManyTyped  `json:"typing"`
	Commits []ManyCommit `json:"commits"`
	Restart ManyRestart  `json:"restart"`
	Checks  []Check      `json:"checks"`
	// Problems are wrong answers, trawl's or a peer's.
	Problems []string `json:"problems"`
}

// ManyIndex is an index of all repositories and what it took.
type ManyIndex struct {
	IndexFacts
	Shards int `json:"shards"`
	// Each holds the times of repositories of a tool that runs a process for each
	// of them; Failed counts the processes that ended with an error.
	Each   Percentiles `json:"each,omitzero"`
	Failed int         `json:"failed,omitempty"`
}

// ManyBulk is a server that indexes all repositories and is asked meanwhile.
type ManyBulk struct {
	// Took is the time until the last repository was indexed, Busy how long the
	// server went on then with other work.
	Took time.Duration `json:"tookNanos"`
	Busy time.Duration `json:"busyNanos"`
	// Absent are the times of searches for a word that is nowhere.
	Absent Percentiles `json:"absent"`
	// PeakBytes is the most the server itself was resident with, until the end of
	// the queries; TreeBytes counts its children, too.
	PeakBytes int64 `json:"peakBytes"`
	TreeBytes int64 `json:"treeBytes"`
	// MostShards is the most shards that were seen meanwhile, Shards how many there
	// were at the end of the queries.
	MostShards int `json:"mostShards"`
	Shards     int `json:"shards"`
}

// ManyAsked is something that an operator asks a server for.
type ManyAsked struct {
	Name string `json:"name"`
	// Took are the times of runs behind a first one, Bytes the size of an answer.
	Took  []time.Duration `json:"tookNanos"`
	Bytes int             `json:"bytes"`
}

// ManyTyped is something that a page asks for while a person types, and how long that is
// to take.
type ManyTyped struct {
	ManyAsked
	Goal time.Duration `json:"goalNanos"`
}

// addPeaks notes sizes that were seen.
func (b *ManyBulk) addPeaks(p treePeaks) {
	b.PeakBytes, b.TreeBytes = max(b.PeakBytes, p.own), max(b.TreeBytes, p.total)
}

// ManyQuery is a query and its times: once everything was indexed, when the
// server was idle, and of zoekt. A tool with a wrong answer has no times.
type ManyQuery struct {
	Name    string    `json:"name"`
	Text    string    `json:"text"`
	Matches int       `json:"matches"`
	AtOnce  []PeerRun `json:"atOnce"`
	Later   []PeerRun `json:"later"`
	Zoekt   []PeerRun `json:"zoekt,omitempty"`
}

// ManyRestart is a server that was started on an index that is there.
type ManyRestart struct {
	Ready time.Duration `json:"readyNanos"`
	// First is the time of its first search for a word of one repository.
	First time.Duration `json:"firstNanos"`
}

func runDone(r PeerRun) time.Duration  { return r.Done }
func runFirst(r PeerRun) time.Duration { return r.First }

// WriteJSON writes r as indented JSON.
func (r *ManyReport) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// Missed returns how many goals the run missed.
func (r *ManyReport) Missed() int { return countMissed(r.Checks) }

// Write prints the report for people.
func (r *ManyReport) Write(w io.Writer) error {
	var b bytes.Buffer
	r.writeHead(&b)
	r.writeIndexes(&b)
	r.writeServer(&b)
	r.writeQueries(&b)
	r.writeOperator(&b)
	r.writeCommits(&b)
	writeVerdict(&b, r.Checks, r.Problems, r.Missed())
	_, err := w.Write(b.Bytes())
	return err
}

func (r *ManyReport) writeHead(w io.Writer) {
	f := r.Fleet
	fmt.Fprintf(w, "machine       %s, %d cores, %s/%s\n", r.Machine.CPU, r.Machine.Cores, r.Machine.OS, r.Machine.Arch)
	for _, program := range sortedKeys(r.Versions) {
		fmt.Fprintf(w, "%-12s  %s\n", program, r.Versions[program])
	}
	fmt.Fprintf(w, "repositories  %d of seed %d: %d empty, %d forks, %d commits, %d more branches; made in %s, packs of %s\n",
		f.Repositories, f.Seed, f.Empty, f.Forks, f.Commits, f.Branches, showDuration(r.Generated), showBytes(f.PackBytes))
	fmt.Fprintf(w, "files         %d, %s; %d in the largest\n\n", f.Files, showBytes(f.Bytes), f.LargestFiles)
}

// writeIndexes writes a row for each index that was made.
func (r *ManyReport) writeIndexes(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "index\ttime\tprocessor\tpeak of the process\tof all processes\tshards\tdisk\tmedian of one\tp99\tmost\tfailed")
	row := func(name string, i *ManyIndex) {
		if i == nil {
			return
		}
		each := "-\t-\t-"
		if i.Each.Count > 0 {
			each = fmt.Sprintf("%s\t%s\t%s", showDuration(i.Each.P50), showDuration(i.Each.P99), showDuration(i.Each.Max))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%d\n", name, showDuration(i.Wall), showDuration(i.CPU),
			showBytes(i.PeakOwnBytes), showBytes(i.PeakTreeRSSBytes), i.Shards, showBytes(i.DiskBytes), each, i.Failed)
	}
	row("trawl, text", &r.Text)
	row("trawl, symbols and history", r.Symbols)
	row("zoekt", r.Zoekt)
	u := r.Unchanged
	fmt.Fprintf(t, "trawl, nothing changed\t%s\t%s\t%s\t%s\t\t\t\t\t\t\n", showDuration(u.Wall), showDuration(u.CPU),
		showBytes(u.PeakOwnBytes), showBytes(u.PeakTreeRSSBytes))
	t.Flush()
	if !r.ZoektKept.IsZero() {
		fmt.Fprintf(w, "zoekt's index was made by the run of %s\n", r.ZoektKept.Format(time.DateTime))
	}
}

// writeServer writes how the server fared while it indexed, and how soon the
// next one was ready, as far as the run came.
func (r *ManyReport) writeServer(w io.Writer) {
	fmt.Fprintln(w)
	if b := r.Bulk; b.Absent.Count > 0 {
		all := "not all indexed"
		if b.Took > 0 {
			all = fmt.Sprintf("all indexed after %s, idle %s later", showDuration(b.Took), showDuration(b.Busy))
		}
		fmt.Fprintf(w, "serve         %s; most memory %s of %s, all processes %s; %d shards at most, %d in the end\n",
			all, showBytes(b.PeakBytes), showBytes(r.SettingBytes), showBytes(b.TreeBytes), b.MostShards, b.Shards)
		fmt.Fprintf(w, "meanwhile     absent word %d times: p50 %s, p99 %s, most %s\n",
			b.Absent.Count, showDuration(b.Absent.P50), showDuration(b.Absent.P99), showDuration(b.Absent.Max))
	}
	if r.Restart.Ready > 0 {
		fmt.Fprintf(w, "restart       ready after %s, first rare word %s\n", showDuration(r.Restart.Ready), showDuration(r.Restart.First))
	}
	if a := r.Apart; a != nil {
		fmt.Fprintf(w, "apart         %d shards: ready after %s, first absent word %s; %d shards after %s, meanwhile absent word p50 %s, p99 %s; most memory %s\n",
			a.Shards, showDuration(a.Ready), showDuration(a.First), a.Left, showDuration(a.Merged), showDuration(a.Absent.P50), showDuration(a.Absent.P99), showBytes(a.PeakBytes))
	}
	if r.ZoektReady > 0 {
		fmt.Fprintf(w, "zoekt         ready after %s, most memory %s\n", showDuration(r.ZoektReady), showBytes(r.ZoektServes))
	}
	fmt.Fprintln(w)
}

// writeQueries writes medians in milliseconds.
func (r *ManyReport) writeQueries(w io.Writer) {
	if len(r.Queries) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "query\tmatches\tat once: first ms\tdone ms\tidle: first ms\tdone ms\tzoekt: first ms\tdone ms")
	for _, q := range r.Queries {
		fmt.Fprintf(t, "%s\t%d", q.Name, q.Matches)
		for _, runs := range [][]PeerRun{q.AtOnce, q.Later, q.Zoekt} {
			fmt.Fprintf(t, "\t%s\t%s", orDash(median(runs, runFirst)), orDash(median(runs, runDone)))
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	fmt.Fprintln(w)
}

func (r *ManyReport) writeOperator(w io.Writer) {
	writeAsked(w, "an operator's", r.Operator)
	typing := make([]ManyAsked, len(r.Typing))
	for i, t := range r.Typing {
		typing[i] = t.ManyAsked
	}
	writeAsked(w, "as one types", typing)
}

func writeAsked(w io.Writer, head string, all []ManyAsked) {
	if len(all) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s\tms\tbytes\n", head)
	for _, a := range all {
		fmt.Fprintf(t, "%s\t%s\t%d\n", a.Name, orDash(a.median()), a.Bytes)
	}
	t.Flush()
	fmt.Fprintln(w)
}

func (r *ManyReport) writeCommits(w io.Writer) {
	if len(r.Commits) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "commit in\tread after\tfound after\tsync ended after")
	for _, c := range r.Commits {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", c.Repository, showDuration(c.Read), showDuration(c.Found), showDuration(c.Synced))
	}
	t.Flush()
	fmt.Fprintln(w)
}
