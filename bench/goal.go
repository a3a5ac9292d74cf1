package bench

import (
	"fmt"
	"math"
	"time"
)

// GoalName names a group of queries that are held against the same limits.
type GoalName string

// The groups. goals describes the queries of each.
const (
	RareLiterals      GoalName = "rare-literal"
	TwoLetters        GoalName = "two-letter"
	CommonLiterals    GoalName = "common-literal"
	Phrases           GoalName = "phrase"
	LiteralRegexps    GoalName = "regexp-literal"
	WeakLiterals      GoalName = "weak-literal"
	Alternations      GoalName = "alternation"
	ShortAlternations GoalName = "short-alternation"
	NoLiterals        GoalName = "no-literal"
	Filters           GoalName = "filter"
)

// goal is what trawl's median time to the last byte may be, for the kernel tree
// on two cores. Zero limits do not apply, and a limit relative to a peer only
// where that peer answered.
type goal struct {
	name GoalName
	// title describes the queries of a group.
	title string
	// ofZoekt and ofRipgrep are the largest share of that peer's median.
	ofZoekt, ofRipgrep float64
	atMost             time.Duration
}

var goals = []goal{
	{name: RareLiterals, title: "absent or rare literal, either case", ofZoekt: 0.7},
	{name: TwoLetters, title: "two-letter literal", atMost: 30 * time.Millisecond},
	{name: CommonLiterals, title: "common literal, all matches", ofZoekt: 0.5},
	{name: Phrases, title: "long phrase, punctuation", ofZoekt: 0.5},
	{name: LiteralRegexps, title: "regexp with literals", ofZoekt: 0.5},
	{name: WeakLiterals, title: "regexp with a weak literal", atMost: 20 * time.Millisecond},
	{name: Alternations, title: "alternation of words, either case", ofZoekt: 0.7},
	{name: ShortAlternations, title: "alternation of short words", atMost: 100 * time.Millisecond},
	{name: NoLiterals, title: "regexp without any literal", ofZoekt: 0.1, ofRipgrep: 1},
	{name: Filters, title: "booleans, file and language filters, paths", ofZoekt: 0.7},
}

func goalNames() []GoalName {
	names := make([]GoalName, len(goals))
	for i, g := range goals {
		names[i] = g.name
	}
	return names
}

// limits says g in words.
func (g goal) limits() string {
	switch {
	case g.ofRipgrep > 0:
		return fmt.Sprintf("<= %g x rg and <= %g x zoekt", g.ofRipgrep, g.ofZoekt)
	case g.ofZoekt > 0:
		return fmt.Sprintf("<= %g x zoekt", g.ofZoekt)
	}
	return "<= " + showDuration(g.atMost)
}

// everyQueryOfZoekt holds for queries without a goal of their own.
const everyQueryOfZoekt = 1

// goalChecks holds the query's median against its goal. No query, whatever its
// group, may take longer than zoekt.
func (q QueryFacts) goalChecks() []Check {
	g := goal{ofZoekt: everyQueryOfZoekt}
	for _, known := range goals {
		if known.name == q.Goal {
			g = known
		}
	}
	if g.ofZoekt == 0 {
		g.ofZoekt = everyQueryOfZoekt
	}
	var checks []Check
	if g.atMost > 0 {
		checks = append(checks, durationCheck("done", q.Done(), g.atMost))
	}
	for _, against := range []struct {
		peer  string
		share float64
	}{{"zoekt", g.ofZoekt}, {"rg", g.ofRipgrep}} {
		if p, ok := q.timed(against.peer); ok && against.share > 0 {
			checks = append(checks, shareCheck("of "+against.peer, float64(q.Done()), float64(p.Done()), against.share))
		}
	}
	return checks
}

// shareCheck wants value to be at most limit times of.
func shareCheck(name string, value, of, limit float64) Check {
	share := value / of
	return Check{name, fmt.Sprintf("%.2f x", share), fmt.Sprintf("<= %g x", limit), share <= limit}
}

// timed returns what a peer made of the query, and whether the times of the two
// can be compared: both were taken, and the peer reads the files of nearly all
// of the answer. One that leaves out the only file asked for is fast at nothing.
func (q QueryFacts) timed(peer string) (PeerFacts, bool) {
	for _, p := range q.Peers {
		if p.Name == peer && len(p.Runs) > 0 {
			return p, len(q.Runs) > 0 && p.Done() > 0 && p.Unread*maxUnreadShare <= q.Lines
		}
	}
	return PeerFacts{}, false
}

// maxUnreadShare is the part of an answer, as one in so many lines, that a peer
// may not read and still be compared with.
const maxUnreadShare = 10

// shareOf returns trawl's median as a share of the peer's, NaN if there is none.
func (q QueryFacts) shareOf(peer string) float64 {
	p, ok := q.timed(peer)
	if !ok {
		return math.NaN()
	}
	return float64(q.Done()) / float64(p.Done())
}

// GoalFacts is how the queries of one group did.
type GoalFacts struct {
	Name   GoalName `json:"name"`
	Title  string   `json:"title"`
	Limits string   `json:"limits"`
	// Queries is how many were judged, Met how many of them reached the goal.
	Queries int `json:"queries"`
	Met     int `json:"met"`
	// Worst is the query furthest from its goal, WorstValue what it reached.
	Worst      string `json:"worst,omitempty"`
	WorstValue string `json:"worstValue,omitempty"`
}

// Goals returns how every group of queries did; groups of which no query can be
// judged, because the peer they are held against is missing, are left out.
func (r *Report) Goals() []GoalFacts {
	var all []GoalFacts
	for _, g := range goals {
		f := GoalFacts{Name: g.name, Title: g.title, Limits: g.limits()}
		worst := -1.0
		for _, q := range r.Queries {
			over, value := q.distance(g)
			if q.Goal != g.name || over < 0 {
				continue
			}
			f.Queries++
			if over <= 1 {
				f.Met++
			}
			if over > worst {
				worst, f.Worst, f.WorstValue = over, q.Name, value
			}
		}
		if f.Queries > 0 {
			all = append(all, f)
		}
	}
	return all
}

// distance returns the query's time as a multiple of what g allows, by the
// strictest of its limits, and that time in g's words; below 0 if none applies.
func (q QueryFacts) distance(g goal) (over float64, value string) {
	over = -1
	add := func(x float64, v string) {
		if x > over {
			over, value = x, v
		}
	}
	if g.atMost > 0 && len(q.Runs) > 0 {
		add(float64(q.Done())/float64(g.atMost), showDuration(q.Done()))
	}
	if s := q.shareOf("zoekt"); g.ofZoekt > 0 && !math.IsNaN(s) {
		add(s/g.ofZoekt, fmt.Sprintf("%.2f x zoekt, %s", s, showDuration(q.Done())))
	}
	if s := q.shareOf("rg"); g.ofRipgrep > 0 && !math.IsNaN(s) {
		add(s/g.ofRipgrep, fmt.Sprintf("%.2f x rg, %s", s, showDuration(q.Done())))
	}
	return over, value
}

// Limits on trawl as a share of what zoekt takes.
const (
	geomeanOfZoekt     = 0.25
	indexTimeOfZoekt   = 0.25
	indexMemoryOfZoekt = 0.4
	diskOfZoekt        = 0.2
)

// checkAgainstZoekt returns the checks of the run as a whole that compare with
// zoekt, as far as it took part.
func (r *Report) checkAgainstZoekt() []Check {
	var checks []Check
	var logs float64
	n := 0
	for _, q := range r.Queries {
		if s := q.shareOf("zoekt"); !math.IsNaN(s) {
			logs += math.Log(s)
			n++
		}
	}
	if n > 0 {
		mean := math.Exp(logs / float64(n))
		checks = append(checks, shareCheck(fmt.Sprintf("share of zoekt, geometric mean of %d queries", n), mean, 1, geomeanOfZoekt))
	}
	z := r.indexOf("zoekt")
	if z == nil || r.Index == nil {
		return checks
	}
	return append(checks,
		shareCheck("share of zoekt, index time", float64(r.Index.Wall), float64(z.Wall), indexTimeOfZoekt),
		shareCheck("share of zoekt, index peak memory", float64(r.Index.ownMemory()), float64(z.ownMemory()), indexMemoryOfZoekt),
		shareCheck("share of zoekt, disk", float64(r.Index.DiskBytes), float64(z.DiskBytes), diskOfZoekt))
}

// indexOf returns what a peer's index took, nil if that is not known.
func (r *Report) indexOf(peer string) *IndexFacts {
	for _, t := range r.Tools {
		if t.Name == peer {
			return t.Index
		}
	}
	return nil
}

// ownMemory is what the process and its children held without mapped files,
// which the kernel takes back when it needs to; where that is not known it is
// all they held.
func (u Usage) ownMemory() int64 {
	if u.PeakTreeAnonBytes > 0 {
		return u.PeakTreeAnonBytes
	}
	return u.PeakTreeRSSBytes
}
