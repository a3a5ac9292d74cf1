package bench

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// CodeHostReport is what came out of a run with a code host.
type CodeHostReport struct {
	Version int       `json:"version"`
	Started time.Time `json:"started"`
	Command string    `json:"command,omitempty"`
	Machine Machine   `json:"machine"`
	Trawl   string    `json:"trawl"`
	// Memory is trawl's setting of that name, SettingBytes what it says.
	Memory       string     `json:"memory"`
	SettingBytes int64      `json:"settingBytes"`
	Fleet        FleetFacts `json:"fleet"`
	// All is the time from the start of the server, whose data directory is empty, until
	// all repositories of the host were searchable.
	All time.Duration `json:"allNanos"`
	// Every is the time between a push that was found and the next.
	Every time.Duration `json:"everyNanos"`
	// Beside and After are the times from a push to a search that finds it, before All and
	// behind it.
	Beside Percentiles `json:"beside"`
	After  Percentiles `json:"after"`
	// Requests is how many requests the API of the host had, Refused how many of them it
	// refused since none were left.
	Requests int `json:"requests"`
	Refused  int `json:"refused"`
	// PeakBytes is the most the server itself was resident with; TreeBytes counts its
	// children, too.
	PeakBytes int64 `json:"peakBytes"`
	TreeBytes int64 `json:"treeBytes"`
	// Log is the end of what the server logged from the level warn on.
	Log    string  `json:"log"`
	Checks []Check `json:"checks"`
}

// pushLimit is how long a push may take to be found.
const pushLimit = 5 * time.Second

func (r *CodeHostReport) check() []Check {
	checks := []Check{
		durationCheck("push until found, p99", r.After.P99, pushLimit),
		bytesCheck("resident", r.PeakBytes, r.SettingBytes),
		{"requests beyond the limit", fmt.Sprint(r.Refused), "none", r.Refused == 0},
		{"lines of the log", fmt.Sprint(strings.Count(r.Log, "\n") + min(len(r.Log), 1)), "none", r.Log == ""},
	}
	if r.Beside.Count > 0 {
		checks = append(checks, durationCheck("push until found while others are indexed, p99", r.Beside.P99, pushLimit))
	}
	return checks
}

// Missed returns how many goals were missed.
func (r *CodeHostReport) Missed() int { return countMissed(r.Checks) }

// WriteJSON writes r as indented JSON.
func (r *CodeHostReport) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// Write prints the report for people.
func (r *CodeHostReport) Write(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d repositories of seed %d, %d of them empty, %d files, %s of text; memory %s; trawl is %s\n\n",
		r.Fleet.Repositories, r.Fleet.Seed, r.Fleet.Empty, r.Fleet.Files, showBytes(r.Fleet.Bytes), r.Memory, r.Trawl)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "all searchable after\t%s\n", r.All.Round(100*time.Millisecond))
	fmt.Fprintf(t, "requests of the host's API\t%d, %d refused\n", r.Requests, r.Refused)
	fmt.Fprintf(t, "resident at most\t%s, with its children %s\n", showBytes(r.PeakBytes), showBytes(r.TreeBytes))
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(&b, "\npushes until found\n%s%s", r.Beside.row("while others are indexed"), r.After.row("behind that"))
	if r.Log != "" {
		fmt.Fprintf(&b, "\nthe log ends with\n%s\n", r.Log)
	}
	b.WriteByte('\n')
	writeVerdict(&b, r.Checks, nil, r.Missed())
	_, err := w.Write(b.Bytes())
	return err
}
