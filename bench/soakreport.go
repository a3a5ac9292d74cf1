package bench

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// SoakReport is what came out of a long run.
type SoakReport struct {
	Seed     uint64        `json:"seed"`
	For      time.Duration `json:"forNanos"`
	Rounds   int           `json:"rounds"`
	Changes  int           `json:"changes"`
	Searches int           `json:"searches"`
	Backups  int           `json:"backups"`
	Restarts int           `json:"restarts"`
	// Kills are the restarts that the server did not know of before.
	Kills   int          `json:"kills"`
	Samples []SoakSample `json:"samples"`
	// Growth is by figure.
	Growth []SoakGrowth `json:"growth"`
	// Failures are wrong answers and what else ended the run.
	Failures []string `json:"failures,omitempty"`
}

// SoakGrowth is how a figure developed, the rounds of warming up left out.
type SoakGrowth struct {
	Name   string  `json:"name"`
	First  float64 `json:"first"`
	Last   float64 `json:"last"`
	Growth float64 `json:"growth"`
	Most   float64 `json:"most"`
}

// judge computes the growth of every figure.
func (r *SoakReport) judge() {
	var warm []SoakSample
	for _, s := range r.Samples {
		if s.Age > warmUp {
			warm = append(warm, s)
		}
	}
	for _, f := range soakFigures {
		g := SoakGrowth{Name: f.name, Growth: f.growth(r.Samples), Most: f.most}
		if n := len(warm); n > 0 {
			g.First, g.Last = *f.of(&warm[0]), *f.of(&warm[n-1])
		}
		r.Growth = append(r.Growth, g)
	}
}

// Wrong lists what is not as it should be.
func (r *SoakReport) Wrong() []string {
	wrong := append([]string(nil), r.Failures...)
	for _, g := range r.Growth {
		if g.Growth > g.Most {
			wrong = append(wrong, fmt.Sprintf("%s grows", g.Name))
		}
	}
	return wrong
}

// Write prints the report for people.
func (r *SoakReport) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, seed %d: %d rounds, %d changes, %d searches, %d backups, %d restarts, %d of them kills\n\n%-22s %10s %10s %10s %10s\n",
		r.For, r.Seed, r.Rounds, r.Changes, r.Searches, r.Backups, r.Restarts, r.Kills, "after a round", "first", "last", "grows by", "may grow")
	for _, g := range r.Growth {
		unit := 1.0
		if strings.HasSuffix(g.Name, "MB") {
			unit = 1e6
		}
		fmt.Fprintf(&b, "%-22s %10.1f %10.1f %10.1f %10.1f\n", g.Name, g.First/unit, g.Last/unit, g.Growth/unit, g.Most/unit)
	}
	for _, text := range r.Wrong() {
		fmt.Fprintln(&b, text)
	}
	if len(r.Wrong()) == 0 {
		fmt.Fprintln(&b, "nothing grows, and every answer was right")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
