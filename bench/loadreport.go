package bench

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// LoadReport is what came out of a run under load.
type LoadReport struct {
	Seed    uint64        `json:"seed"`
	Streams int           `json:"streams"`
	Rate    float64       `json:"rate"`
	For     time.Duration `json:"forNanos"`
	// Opened counts streams over the run, StreamBytes what was read of them.
	Opened      int   `json:"opened"`
	StreamBytes int64 `json:"streamBytes"`
	// Failed counts the failures, Errors lists the first.
	Failed int      `json:"failed"`
	Errors []string `json:"errors,omitempty"`
	// Queries are times from asking to the last byte, Cancelled from leaving until
	// the server had ended the request.
	Queries   Percentiles `json:"queries"`
	Cancelled Percentiles `json:"cancelled"`
	// SettingBytes is the setting memory, PeakBytes the most the server was
	// resident with, RestBytes what it was at the end, the streams still open.
	SettingBytes int64 `json:"settingBytes"`
	PeakBytes    int64 `json:"peakBytes"`
	RestBytes    int64 `json:"restBytes"`
	// MostHeld is the most bytes that waited for one client in the server.
	MostHeld int `json:"mostHeld"`
}

// Percentiles are of times.
type Percentiles struct {
	Count int           `json:"count"`
	P50   time.Duration `json:"p50Nanos"`
	P95   time.Duration `json:"p95Nanos"`
	P99   time.Duration `json:"p99Nanos"`
	Max   time.Duration `json:"maxNanos"`
}

func percentiles(all []time.Duration) Percentiles {
	n := len(all)
	if n == 0 {
		return Percentiles{}
	}
	slices.Sort(all)
	return Percentiles{n, all[n/2], all[n*95/100], all[n*99/100], all[n-1]}
}

// The limits of a run under load.
const (
	mostCancel = 50 * time.Millisecond
	mostWaits  = 1 << 20
)

// Wrong lists what is not as it should be.
func (r *LoadReport) Wrong() []string {
	var wrong []string
	if r.Failed > 0 {
		wrong = append(wrong, fmt.Sprintf("%d errors, want none", r.Failed))
	}
	if r.PeakBytes > r.SettingBytes {
		wrong = append(wrong, fmt.Sprintf("%d MiB of memory, the setting is %d MiB", r.PeakBytes>>20, r.SettingBytes>>20))
	}
	if r.Cancelled.P99 > mostCancel {
		wrong = append(wrong, fmt.Sprintf("a query whose client left ends after %s at the 99th percentile, want at most %s", milliseconds(r.Cancelled.P99), mostCancel))
	}
	if r.MostHeld > mostWaits {
		wrong = append(wrong, fmt.Sprintf("%d bytes waited for one client, want at most %d", r.MostHeld, mostWaits))
	}
	return wrong
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// row is a line about times for people.
func (p Percentiles) row(name string) string {
	return fmt.Sprintf("%-24s %7d   p50 %s   p95 %s   p99 %s   most %s\n", name, p.Count, milliseconds(p.P50), milliseconds(p.P95), milliseconds(p.P99), milliseconds(p.Max))
}

// Write prints the report for people.
func (r *LoadReport) Write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d slow streams open and %.0f queries a second for %s; seed %d\n"+
		"%-24s %7d   %d KB read\n%s%s%-24s %7d MiB most, %d MiB at the end, setting %d MiB\n%-24s %7d KiB\n%-24s %7d\n",
		r.Streams, r.Rate, r.For, r.Seed,
		"streams opened", r.Opened, r.StreamBytes/1000,
		r.Queries.row("queries"), r.Cancelled.row("cancelled"),
		"memory", r.PeakBytes>>20, r.RestBytes>>20, r.SettingBytes>>20,
		"most held for one client", r.MostHeld>>10, "errors", r.Failed)
	for _, text := range append(slices.Clone(r.Errors), r.Wrong()...) {
		if err == nil {
			_, err = fmt.Fprintln(w, text)
		}
	}
	return err
}
