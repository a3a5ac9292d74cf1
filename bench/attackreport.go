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
	// Alone is how long another client waited for its answers when nobody
	// attacked.
	Alone   Percentiles    `json:"alone"`
	Attacks []AttackResult `json:"attacks"`
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
	// GrowthBytes is how much larger the server became.
	GrowthBytes int64 `json:"growthBytes"`
	// Others is how long another client waited meanwhile, Failed how often it
	// was not answered.
	Others Percentiles `json:"others"`
	Failed int         `json:"failed"`
}

func (r *AttackResult) tell(answer string) {
	if r.Answers == nil {
		r.Answers = map[string]int{}
	}
	r.Answers[answer]++
}

// The limits of an attack.
const (
	mostGrowth = 256 << 20
	mostRefuse = 100 * time.Millisecond
)

// Wrong lists what is not as it should be. How long another client waits is not
// judged, since what an attack is answered with takes processors.
func (r *AttackReport) Wrong() []string {
	var wrong []string
	say := func(at AttackResult, format string, args ...any) {
		wrong = append(wrong, at.Name+": "+fmt.Sprintf(format, args...))
	}
	for _, at := range r.Attacks {
		if at.GrowthBytes > mostGrowth {
			say(at, "%d MiB more memory, want at most %d", at.GrowthBytes>>20, mostGrowth>>20)
		}
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
	fmt.Fprintf(&b, "each attack for %s, at most %d connections; another client alone waits p50 %s, p99 %s\n\n", r.For, r.Connections, milliseconds(r.Alone.P50), milliseconds(r.Alone.P99))
	b.WriteString("| attack | what it gets | refused in, p50 and p99 | memory grows by | another client, p50 and p99 | its errors |\n|---|---|---|---|---|---|\n")
	for _, at := range r.Attacks {
		within := "-"
		if at.Refused.Count > 0 {
			within = milliseconds(at.Refused.P50) + ", " + milliseconds(at.Refused.P99)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d MiB | %s, %s | %d |\n", strings.ReplaceAll(at.Name, "|", `\|`), at.told(), within, at.GrowthBytes>>20,
			milliseconds(at.Others.P50), milliseconds(at.Others.P99), at.Failed)
	}
	for _, text := range r.Wrong() {
		fmt.Fprintln(&b, text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// told lists the answers, the most frequent first.
func (r *AttackResult) told() string {
	kinds := slices.SortedFunc(maps.Keys(r.Answers), func(a, b string) int {
		return cmp.Or(r.Answers[b]-r.Answers[a], strings.Compare(a, b))
	})
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", r.Answers[kind], kind)
	}
	return strings.Join(kinds, "; ")
}
