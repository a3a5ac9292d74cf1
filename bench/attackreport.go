package bench

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// AttackReport is what came of attacks.
type AttackReport struct {
	For         time.Duration `json:"forNanos"`
	Connections int           `json:"connections"`
	// Alone is how long the other client waited for its answers without an
	// attack.
	Alone Percentiles `json:"alone"`
	// AlonePages is the same of its pages.
	AlonePages Percentiles `json:"alonePages"`
	// AloneSyncs is how long syncs of a small repository took.
	AloneSyncs Percentiles `json:"aloneSyncs"`
	// MemoryBytes is the setting memory.
	MemoryBytes int64          `json:"memoryBytes"`
	Attacks     []AttackResult `json:"attacks"`
}

// AttackResult is what came of one.
type AttackResult struct {
	Name string `json:"name"`
	// Wants is "refused" or "bounded".
	Wants string `json:"wants"`
	// Answers counts what its requests were answered with, by kind.
	Answers map[string]int `json:"answers"`
	// Refused is how long refusals took.
	Refused Percentiles `json:"refused"`
	// GrowthBytes is how much larger the server became, PeakBytes the most that it
	// was resident with.
	GrowthBytes int64 `json:"growthBytes"`
	PeakBytes   int64 `json:"peakBytes"`
	// EndsIn is how long the server went on once all clients had left.
	EndsIn time.Duration `json:"endsInNanos"`
	// Others is how long another client waited for matches meanwhile, Pages how
	// long for pages, Syncs how long syncs of a small repository took, and Failed how
	// many of all these failed.
	Others Percentiles `json:"others"`
	Pages  Percentiles `json:"pages"`
	Syncs  Percentiles `json:"syncs"`
	Failed int         `json:"failed"`
}

func (r *AttackResult) tell(answer string) {
	if r.Answers == nil {
		r.Answers = map[string]int{}
	}
	r.Answers[answer]++
}

// The limits of an attack. Another client's median may double, and what is
// shorter than leastMedian is not compared: it is the noise of the machine.
const (
	mostBeyond  = 64 << 20
	mostRefuse  = 100 * time.Millisecond
	mostEnd     = 2 * time.Second
	leastMedian = 25 * time.Millisecond
)

// Wrong lists what is not as it should be.
func (r *AttackReport) Wrong() []string {
	var wrong []string
	say := func(at AttackResult, format string, args ...any) {
		wrong = append(wrong, at.Name+": "+fmt.Sprintf(format, args...))
	}
	slower := func(at AttackResult, what string, alone, beside Percentiles) {
		if limit := max(2*alone.P50, leastMedian); beside.P50 > limit {
			say(at, "another client waits %s for %s, want at most %s", milliseconds(beside.P50), what, milliseconds(limit))
		}
	}
	for _, at := range r.Attacks {
		if limit := r.MemoryBytes + mostBeyond; at.PeakBytes > limit {
			say(at, "%d MiB resident, want at most %d", at.PeakBytes>>20, limit>>20)
		}
		if at.EndsIn > mostEnd {
			say(at, "at work for %s after the clients had left, want at most %s", milliseconds(at.EndsIn), mostEnd)
		}
		slower(at, "matches", r.Alone, at.Others)
		slower(at, "pages", r.AlonePages, at.Pages)
		slower(at, "syncs", r.AloneSyncs, at.Syncs)
		if at.Failed > 0 {
			say(at, "%d queries of another client failed", at.Failed)
		}
		if at.Wants != wantRefused {
			continue
		}
		for answer, n := range at.Answers {
			if !strings.HasPrefix(answer, refused) && answer != unfinished {
				say(at, "%d were %s, want all refused", n, answer)
			}
		}
		if at.Refused.P50 > mostRefuse {
			say(at, "refused in %s, want at most %s", milliseconds(at.Refused.P50), mostRefuse)
		}
	}
	return wrong
}

// Write prints the report for people.
func (r *AttackReport) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "each attack for %s, at most %d connections; another client alone waits p50 %s, p99 %s, for pages %s, %s, and for syncs %s, %s\n\n", r.For, r.Connections,
		milliseconds(r.Alone.P50), milliseconds(r.Alone.P99), milliseconds(r.AlonePages.P50), milliseconds(r.AlonePages.P99),
		milliseconds(r.AloneSyncs.P50), milliseconds(r.AloneSyncs.P99))
	b.WriteString("| attack | what it gets | refused in, p50 and p99 | resident | grown by | ends in | another client, p50 and p99 | its pages | syncs | errors |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, at := range r.Attacks {
		within := "-"
		if at.Refused.Count > 0 {
			within = milliseconds(at.Refused.P50) + ", " + milliseconds(at.Refused.P99)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d MiB | %d MiB | %s | %s, %s | %s, %s | %s, %s | %d |\n", strings.ReplaceAll(at.Name, "|", `\|`), at.told(), within, at.PeakBytes>>20, at.GrowthBytes>>20,
			milliseconds(at.EndsIn), milliseconds(at.Others.P50), milliseconds(at.Others.P99), milliseconds(at.Pages.P50), milliseconds(at.Pages.P99),
			milliseconds(at.Syncs.P50), milliseconds(at.Syncs.P99), at.Failed)
	}
	for _, text := range r.Wrong() {
		fmt.Fprintln(&b, text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// told lists the kinds of answers, the most frequent first.
func (r *AttackResult) told() string {
	kinds := slices.SortedFunc(maps.Keys(r.Answers), func(a, b string) int {
		return cmp.Or(r.Answers[b]-r.Answers[a], strings.Compare(a, b))
	})
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", r.Answers[kind], kind)
	}
	return strings.Join(kinds, "; ")
}
