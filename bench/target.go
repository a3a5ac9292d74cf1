package bench

import (
	"fmt"
	"slices"
	"time"
)

// The targets, for the Linux kernel tree on a machine with two cores. On other
// corpora they are shown all the same and mean what the reader makes of them.
const (
	indexTarget   = 45 * time.Second
	resyncTarget  = 2 * time.Second
	memoryTarget  = 1 << 30
	diskTarget    = 600e6
	preciseTarget = 2 * time.Millisecond
	firstTarget   = 10 * time.Millisecond
)

// Check is a figure held against a target.
type Check struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Target string `json:"target"`
	Passed bool   `json:"passed"`
}

func durationCheck(name string, value, limit time.Duration) Check {
	return Check{name, showDuration(value), "<= " + showDuration(limit), value <= limit}
}

func bytesCheck(name string, value, limit int64) Check {
	return Check{name, showBytes(value), "<= " + showBytes(limit), value <= limit}
}

// checkRun returns the checks of the run as a whole.
func (r *Report) checkRun() []Check {
	var checks []Check
	if r.Index != nil {
		checks = append(checks,
			durationCheck("index time", r.Index.Wall, indexTarget),
			bytesCheck("index peak memory", r.Index.PeakTreeRSSBytes, memoryTarget),
			bytesCheck("disk", r.Index.DiskBytes, diskTarget))
	}
	if r.Resync != nil {
		wall := median(r.Resync.Rounds, func(u Usage) time.Duration { return u.Wall })
		checks = append(checks, durationCheck(fmt.Sprintf("resync of %d files", r.Resync.FilesChanged), wall, resyncTarget))
	}
	return slices.Concat(checks, r.checkAgainstZoekt(), r.checkCold(), r.checkClients(), r.checkMemory(), r.checkGrowth())
}

// check returns the checks of one query.
func (q QueryFacts) check() []Check {
	var checks []Check
	if q.Frequency != "" {
		checks = append(checks, durationCheck("done", q.Done(), preciseTarget))
	}
	if q.hasLiteral() && q.First() > 0 {
		checks = append(checks, durationCheck("first match", q.First(), firstTarget))
	}
	return append(checks, q.goalChecks()...)
}

// hasLiteral reports whether an index has something to go by: every query for
// text does that is not said to be without.
func (q Query) hasLiteral() bool { return len(q.Terms) > 0 && q.Goal != NoLiterals }

// Missed returns how many targets the run missed.
func (r *Report) Missed() int {
	n := countMissed(r.Checks)
	for _, q := range r.Queries {
		n += countMissed(q.Checks)
	}
	return n
}

func countMissed(checks []Check) int {
	n := 0
	for _, c := range checks {
		if !c.Passed {
			n++
		}
	}
	return n
}

// showDuration prints d with three digits or so, in the unit people compare in.
func showDuration(d time.Duration) string {
	if d >= 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	if d >= time.Second {
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return showMillis(d) + " ms"
}

// showMillis prints d in milliseconds without the unit.
func showMillis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms >= 100:
		return fmt.Sprintf("%.0f", ms)
	case ms >= 10:
		return fmt.Sprintf("%.1f", ms)
	}
	return fmt.Sprintf("%.2f", ms)
}

// showBytes prints n in decimal units, as disks are sold.
func showBytes(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.2f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}
