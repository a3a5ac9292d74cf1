package bench

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// AgentsReport shows in how many calls, and by how many bytes, agents found the answers.
type AgentsReport struct {
	Version int       `json:"version"`
	Command string    `json:"command,omitempty"`
	Started time.Time `json:"started"`
	Machine Machine   `json:"machine"`
	Trawl   string    `json:"trawl"`
	// Calls is how many calls an agent made for a question at most.
	Calls     int               `json:"calls"`
	Commits   map[string]string `json:"commits"`
	Questions []AgentsFacts     `json:"questions"`
}

// AgentsFacts is a question and what each agent did.
type AgentsFacts struct {
	Question
	Efforts []AgentsEffort `json:"efforts"`
}

// AgentsEffort is what an agent did for a question. Bytes are those of the answers that it
// read, those of the last call included.
type AgentsEffort struct {
	Agent string `json:"agent"`
	Found bool   `json:"found"`
	Calls int    `json:"calls"`
	Bytes int    `json:"bytes"`
}

// WriteJSON writes r as indented JSON.
func (r *AgentsReport) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// Write prints the report for people: a line for each kind of question, one for each
// repository and one for all, and what was not found.
func (r *AgentsReport) Write(w io.Writer) error {
	groups := map[string]map[string][]AgentsEffort{}
	missed := map[string][]string{}
	var agents []string
	for _, q := range r.Questions {
		for _, e := range q.Efforts {
			if !slices.Contains(agents, e.Agent) {
				agents = append(agents, e.Agent)
			}
			for _, group := range []string{"kind " + q.Kind, "of " + q.Repository, "total"} {
				if groups[group] == nil {
					groups[group] = map[string][]AgentsEffort{}
				}
				groups[group][e.Agent] = append(groups[group][e.Agent], e)
			}
			if !e.Found {
				missed[e.Agent] = append(missed[e.Agent], q.Name)
			}
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d questions, at most %d calls for each; trawl is %s\n\n", len(r.Questions), r.Calls, r.Trawl)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "questions\tagent\tfound\tin one call\tcalls, median\tmean\tbytes, median\tmean")
	for _, group := range sortedKeys(groups) {
		for _, agent := range agents {
			fmt.Fprintf(t, "%s\t%s\t%s\n", strings.TrimPrefix(group, "kind "), agent, effortOf(groups[group][agent]))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, agent := range agents {
		if len(missed[agent]) > 0 {
			fmt.Fprintf(&b, "\n%s did not find %s\n", agent, strings.Join(missed[agent], ", "))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// effortOf sums up what an agent did: what it did in vain counts, too.
func effortOf(efforts []AgentsEffort) string {
	found, first := 0, 0
	var calls, sizes []int
	for _, e := range efforts {
		if e.Found {
			found++
			if e.Calls == 1 {
				first++
			}
		}
		calls, sizes = append(calls, e.Calls), append(sizes, e.Bytes)
	}
	middle := func(all []int) (median int, mean float64) {
		slices.Sort(all)
		sum := 0
		for _, n := range all {
			sum += n
		}
		return (all[(len(all)-1)/2] + all[len(all)/2]) / 2, float64(sum) / float64(len(all))
	}
	medianCalls, meanCalls := middle(calls)
	medianBytes, meanBytes := middle(sizes)
	return fmt.Sprintf("%d of %d\t%d\t%d\t%.1f\t%d\t%.0f", found, len(efforts), first, medianCalls, meanCalls, medianBytes, meanBytes)
}
