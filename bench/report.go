package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
)

// ReportVersion is the number of the JSON form of a Report. It grows when a
// field changes its meaning or goes; a new field alone does not change it.
const ReportVersion = 1

// Report is everything a run found out.
type Report struct {
	Version int       `json:"version"`
	Started time.Time `json:"started"`
	// Command repeats the run, if its starter gave one.
	Command string  `json:"command,omitempty"`
	Machine Machine `json:"machine"`
	// Versions are what the programs call themselves, by program.
	Versions map[string]string `json:"versions"`
	Corpus   CorpusFacts       `json:"corpus"`
	// Index and Resync are nil when an existing data directory was used.
	Index  *IndexFacts `json:"index,omitempty"`
	Resync *Resync     `json:"resync,omitempty"`
	Server ServerFacts `json:"server"`
	// Tools are the peers that took part, in their order.
	Tools []*ToolFacts `json:"tools,omitempty"`
	// Queries stand in the order of the query file.
	Queries []QueryFacts `json:"queries"`
	// Cold, Clients, Memory and Growth are there if the run was asked for them.
	Cold    *ColdFacts     `json:"cold,omitempty"`
	Clients []ClientsFacts `json:"clients,omitempty"`
	Memory  []MemoryFacts  `json:"memory,omitempty"`
	Growth  []GrowthFacts  `json:"growth,omitempty"`
	// Checks are the targets of the run as a whole.
	Checks []Check `json:"checks"`
	// Problems are what makes the run's figures doubtful: answers that
	// disagree or are incomplete. A good run has none.
	Problems []string `json:"problems"`
}

// Machine is where a run happened.
type Machine struct {
	OS          string `json:"os"`
	Arch        string `json:"arch"`
	CPU         string `json:"cpu"`
	Cores       int    `json:"cores"`
	MemoryBytes int64  `json:"memoryBytes,omitempty"`
}

// CorpusFacts describes what was searched.
type CorpusFacts struct {
	Path   string `json:"path"`
	Commit string `json:"commit"`
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"`
	// Text counts the files that every tool reads, Wide those in UTF-16,
	// Binary those with a NUL byte, Irregular links and submodules.
	Text      int   `json:"text"`
	TextBytes int64 `json:"textBytes"`
	Wide      int   `json:"wide"`
	Binary    int   `json:"binary"`
	Irregular int   `json:"irregular"`
	// Skipped counts, by reason, the files trawl says it does not search, and
	// SkippedText those of them that are text: they are left out of every
	// comparison, so a large number makes agreement cheap.
	Skipped          map[string]int `json:"skipped"`
	SkippedText      int            `json:"skippedText"`
	SkippedTextBytes int64          `json:"skippedTextBytes"`
}

// IndexFacts is what indexing the corpus from nothing took.
type IndexFacts struct {
	Usage
	DiskBytes int64 `json:"diskBytes"`
	// DiskParts are the bytes below each entry of the data directory.
	DiskParts map[string]int64 `json:"diskParts"`
}

// ServerFacts is what serving the queries took.
type ServerFacts struct {
	// Ready is the time from starting the process to its first readiness.
	Ready time.Duration `json:"readyNanos"`
	// PeakRSSBytes is the peak over all queries, 0 where it is not known.
	PeakRSSBytes int64 `json:"peakRSSBytes"`
	AnonBytes    int64 `json:"anonBytes"`
}

// ToolFacts is a peer and what it took to make it ready.
type ToolFacts struct {
	Name string `json:"name"`
	// Index is nil for a tool without one and for one that was reused.
	Index *IndexFacts `json:"index,omitempty"`
	// Server is nil for tools that are a command.
	Server *ServerFacts `json:"server,omitempty"`
	// UnreadText counts the text files that trawl searches and the tool, as it
	// says itself, does not: large ones, say. No answer of it is compared there.
	UnreadText      int   `json:"unreadText"`
	UnreadTextBytes int64 `json:"unreadTextBytes"`
}

// tool returns the facts of the peer called name, new ones for a new name.
func (r *Report) tool(name string) *ToolFacts {
	for _, t := range r.Tools {
		if t.Name == name {
			return t
		}
	}
	t := &ToolFacts{Name: name}
	r.Tools = append(r.Tools, t)
	return t
}

// QueryFacts is one query and what every tool made of it.
type QueryFacts struct {
	Query
	// Runs are the timed ones, all warm.
	Runs []Answer `json:"runs"`
	// Lines is the size of the answer in its scope, over all files.
	Lines int         `json:"lines"`
	Work  Work        `json:"work"`
	Peers []PeerFacts `json:"peers"`
	// Checks are the targets of this query, none for most.
	Checks []Check `json:"checks,omitempty"`
}

// PeerFacts is what one peer made of a query.
type PeerFacts struct {
	Name string `json:"name"`
	// Cannot says why the peer was not asked; the other fields are then zero.
	Cannot string    `json:"cannot,omitempty"`
	Runs   []PeerRun `json:"runs,omitempty"`
	Lines  int       `json:"lines"`
	// Partial reports that the peer's answer was only required to be part of
	// trawl's, because the peer sees one line at a time.
	Partial bool `json:"partial,omitempty"`
	// Unread counts the lines of trawl's answer in files that the peer does
	// not read: so much less it had to find.
	Unread     int        `json:"unread,omitempty"`
	Difference Difference `json:"difference"`
}

// Agrees reports whether the peer found the same as trawl, as far as the query
// and the peer let them.
func (p PeerFacts) Agrees() bool { return p.Difference.Empty() }

// First returns the median time to the first match, 0 if there was none.
func (q QueryFacts) First() time.Duration {
	return median(q.Runs, func(a Answer) time.Duration { return a.First })
}

// Done returns the median time to the end of the answer.
func (q QueryFacts) Done() time.Duration {
	return median(q.Runs, func(a Answer) time.Duration { return a.Done })
}

// Done returns the median time to the end of the peer's answer.
func (p PeerFacts) Done() time.Duration {
	return median(p.Runs, func(r PeerRun) time.Duration { return r.Done })
}

// median returns the middle value of f over runs, the mean of two middle ones
// for an even number, 0 for none.
func median[T any](runs []T, f func(T) time.Duration) time.Duration {
	if len(runs) == 0 {
		return 0
	}
	values := make([]time.Duration, len(runs))
	for i, r := range runs {
		values[i] = f(r)
	}
	slices.Sort(values)
	mid := len(values) / 2
	if len(values)%2 == 1 {
		return values[mid]
	}
	return (values[mid-1] + values[mid]) / 2
}

// WriteJSON writes r as indented JSON.
func (r *Report) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// writeJSON writes a report as indented JSON.
func writeJSON(w io.Writer, report any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(report)
}

// ReadReport reads what WriteJSON wrote, of this version only.
func ReadReport(in io.Reader) (*Report, error) {
	var r Report
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	if r.Version != ReportVersion {
		return nil, fmt.Errorf("read report: it has version %d, this program reads %d", r.Version, ReportVersion)
	}
	return &r, nil
}
