package progress

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/ingest"
)

// phases says in words what a phase does; one that takes no time has none.
var phases = map[string]string{
	"wait":    "waiting for another repository",
	"claimed": "waiting: another node reads it",
	"fetch":   "fetching",
	"list":    "comparing with what is indexed",
	"index":   "indexing",
	"merge":   "merging",
	"rebuild": "rewriting",
	"symbols": "reading symbols",
	"history": "reading",
	"check":   "verifying",
	"import":  "storing text",

	backup.PhaseWait:    "waiting for a prune there to end, or to do nothing for a minute, as one that was killed",
	backup.PhaseWatch:   "a backup seems to be made there: waiting for a sign of it, for up to a minute",
	backup.PhaseSend:    "backing up",
	backup.PhaseVerify:  "verifying",
	backup.PhaseRestore: "restoring",
}

// status is one line about how far a sync is.
func status(p ingest.Progress) string {
	text, known := phases[p.Phase]
	switch {
	case !known:
		return ""
	case p.Total > 0 && (p.Phase == "check" || p.Phase == "import" || strings.HasPrefix(p.Phase, "backup-")):
		return fmt.Sprintf("%s %s of %s", text, Size(int64(p.Done)), Size(int64(p.Total)))
	case p.Total > 0:
		unit := "documents"
		if p.Phase == "history" {
			unit = "commits"
		}
		return fmt.Sprintf("%s %s of %s %s, %s", text, Count(p.Done), Count(p.Total), unit, Size(p.Bytes))
	case p.Note != "":
		return text + ": " + p.Note
	}
	return text
}

// outcome is one line about what a sync did.
func outcome(s Summary) string {
	if s.Note != "" {
		return s.Note + " in " + shortly(s.Took)
	}
	if !s.changed() {
		return "up to date, " + Counted(s.Documents, "document")
	}
	return fmt.Sprintf("%s, %s of text (%s written, %s removed) in %s",
		Counted(s.Documents, "document"), Size(s.TextBytes), Count(s.Added), Count(s.Removed), shortly(s.Took))
}

// Size writes a number of bytes for people: three digits and a unit.
func Size(bytes int64) string {
	if bytes < 1000 {
		return strconv.FormatInt(bytes, 10) + " B"
	}
	f := float64(bytes)
	for _, unit := range []string{"kB", "MB", "GB", "TB"} {
		f /= 1000
		if f < 9.95 {
			return fmt.Sprintf("%.1f %s", f, unit)
		}
		if f < 999.5 || unit == "TB" {
			return fmt.Sprintf("%.0f %s", f, unit)
		}
	}
	panic("progress: the last unit has no upper end")
}

// Count writes n with a comma every three digits.
func Count(n int) string {
	digits := strconv.Itoa(n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Counted writes n with the word for what is counted, which takes an s for more
// or less than one.
func Counted(n int, one string) string { return CountedAs(n, one, one+"s") }

// CountedAs is Counted with the word for more or less than one.
func CountedAs(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// shortly writes a duration with about three digits.
func shortly(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
