package bench

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// Kind groups queries that share a target and a place in the report.
type Kind string

// The kinds of queries.
const (
	Literal    Kind = "literal"
	Regexp     Kind = "regexp"
	Boolean    Kind = "boolean"
	Path       Kind = "path"
	Repository Kind = "repository"
	Limited    Kind = "limited"
)

// Frequency says how often a query's text is expected in the corpus. Only rare
// and absent ones carry a target of their own.
type Frequency string

// The frequencies that matter; the empty one is everything else.
const (
	Absent Frequency = "absent"
	Rare   Frequency = "rare"
)

// Scope says which part of two answers must be the same.
type Scope string

// The scopes of a comparison.
const (
	// Lines compares (path, line) pairs.
	Lines Scope = "lines"
	// Files compares the paths of files whose text matches.
	Files Scope = "files"
	// Paths compares paths that match by name; peers only list files.
	Paths Scope = "paths"
	// Nothing compares no answer: the peers have no such question.
	Nothing Scope = "nothing"
)

// Phase is a part of a run that asks some of the queries only.
type Phase string

// The phases that a query can be marked for.
const (
	// ColdPhase asks with nothing in memory.
	ColdPhase Phase = "cold"
	// ClientsPhase asks from several clients at once.
	ClientsPhase Phase = "clients"
	// GrowthPhase asks on smaller and larger corpora.
	GrowthPhase Phase = "growth"
)

// Query is one question to trawl, and the same question in the words of tools
// that read files line by line.
type Query struct {
	Name      string    `json:"name"`
	Kind      Kind      `json:"kind"`
	Frequency Frequency `json:"frequency,omitempty"`
	// Goal names the group of queries with which this one is held against the
	// peers; the empty one has no goal of its own.
	Goal GoalName `json:"goal,omitempty"`
	// Phases are the further parts of a run that ask this query.
	Phases []Phase `json:"phases,omitempty"`
	// PatternType is the t parameter of the request.
	PatternType string `json:"patternType"`
	// Text is the query without the count:all that is sent before it.
	Text string `json:"text"`
	// Results bounds the result count of trawl's answer.
	Results Bounds `json:"results"`

	Scope Scope `json:"scope"`
	// Part reports whether trawl may leave lines out, as under a count limit;
	// every line it does give must still be one of the peer's.
	Part bool `json:"part,omitempty"`
	// Terms are what a line must hold: any of them is enough.
	Terms []Term `json:"terms,omitempty"`
	// All restricts the answer to files that hold every one of Terms.
	All bool `json:"all,omitempty"`
	// Without excludes files that hold any of these.
	Without []Term `json:"without,omitempty"`
	// Globs are path patterns as in .gitignore, "!" first for exclusion.
	// Letter case never matters in them.
	Globs []string `json:"globs,omitempty"`
	// PathRegexps must all match a path of an answer in scope Paths.
	PathRegexps []string `json:"pathRegexps,omitempty"`
}

// Bounds is an inclusive interval; a negative Max is no bound.
type Bounds struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

// Contain reports whether n lies in b.
func (b Bounds) Contain(n int) bool { return n >= b.Min && (b.Max < 0 || n <= b.Max) }

func (b Bounds) String() string {
	switch {
	case b.Max < 0:
		return fmt.Sprintf("at least %d", b.Min)
	case b.Min == b.Max:
		return fmt.Sprintf("exactly %d", b.Min)
	}
	return fmt.Sprintf("%d to %d", b.Min, b.Max)
}

var (
	caseYes  = regexp.MustCompile(`(?i)(^|\s)case:(y|yes)(\s|$)`)
	hasCount = regexp.MustCompile(`(?i)(^|[\s(])count:`)
	countOf  = regexp.MustCompile(`(?i)(?:^|[\s(])count:([0-9]+)`)
)

// CaseSensitive reports whether the query asks for exact letter case.
func (q Query) CaseSensitive() bool { return caseYes.MatchString(q.Text) }

// Exhaustive returns the text to send: everything is asked for unless the query
// sets a limit itself. The filter stands first because an or between patterns
// lifts filters from its first operand only when they precede its patterns.
func (q Query) Exhaustive() string {
	if hasCount.MatchString(q.Text) {
		return q.Text
	}
	return "count:all " + q.Text
}

// Limited returns the text that asks for no more than n results, or fewer if the
// query says so itself.
func (q Query) Limited(n int) string {
	if hasCount.MatchString(q.Text) {
		return q.Text
	}
	return fmt.Sprintf("count:%d %s", n, q.Text)
}

// Limit returns the number of results that the query asks for, 0 for all.
func (q Query) Limit() int {
	m := countOf.FindStringSubmatch(q.Text)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0
	}
	return n
}

// In reports whether the query is marked for a phase beyond the timed queries.
func (q Query) In(p Phase) bool { return slices.Contains(q.Phases, p) }

// SpansLines reports whether a match may hold a newline, which line-based peers
// find only with an option.
func (q Query) SpansLines() bool {
	for _, t := range append(q.Without[:len(q.Without):len(q.Without)], q.Terms...) {
		if t.spansLines() {
			return true
		}
	}
	return false
}
