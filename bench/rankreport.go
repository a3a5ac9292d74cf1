package bench

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// RankReportVersion is the number of the JSON form of a RankReport.
const RankReportVersion = 1

// RankReport shows how early the answers to a judged set have the wanted files.
type RankReport struct {
	Version int    `json:"version"`
	Trawl   string `json:"trawl"`
	Corpus  string `json:"corpus"`
	// Tree is git's object id of what was searched.
	Tree  string `json:"tree"`
	Files int    `json:"files"`
	// Queries stand in the order of the set.
	Queries []RankFacts `json:"queries"`
	// Kinds are the scores by kind, in the order of the set; All is that of
	// all queries, each counting the same.
	Kinds []RankScore `json:"kinds"`
	All   RankScore   `json:"all"`
	// OtherTree says that the ranks before are those of another tree, so that
	// small differences mean nothing.
	OtherTree bool `json:"otherTree,omitempty"`
	// Problems are what makes the figures doubtful.
	Problems []string `json:"problems,omitempty"`
}

// RankFacts is one query and where in its answer the wanted file stood.
type RankFacts struct {
	Judged
	// Rank counts from 1; 0 is not among the results looked through. Before is
	// that of the ranks compared with, -1 for none.
	Rank   int `json:"rank"`
	Before int `json:"before"`
	// Top are the first paths of the answer; a repository has an empty one.
	Top     []string `json:"top"`
	Results int      `json:"results"`
}

// RankScore sums up queries.
type RankScore struct {
	Kind    string `json:"kind"`
	Queries int    `json:"queries"`
	// MRR is the mean of 1/rank, First and Five the shares of queries whose
	// file came first and among the first five.
	MRR   float64 `json:"mrr"`
	First float64 `json:"first"`
	Five  float64 `json:"five"`
	// Before is the MRR of the ranks compared with, over the queries that have
	// one; Compared counts those.
	Before   float64 `json:"before"`
	Compared int     `json:"compared"`
	// Now is the MRR over the same queries.
	Now float64 `json:"now"`
}

func (r *RankReport) problem(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// sum compares with the ranks before and fills in the scores.
func (r *RankReport) sum(before Ranks) {
	r.OtherTree = before.Tree != "" && before.Tree != r.Tree
	var kinds []string
	byKind := map[string][]RankFacts{}
	for i := range r.Queries {
		q := &r.Queries[i]
		q.Before = -1
		if rank, known := before.Of[q.Name]; known {
			q.Before = rank
		}
		if byKind[q.Kind] == nil {
			kinds = append(kinds, q.Kind)
		}
		byKind[q.Kind] = append(byKind[q.Kind], *q)
	}
	for _, kind := range kinds {
		r.Kinds = append(r.Kinds, rankScore(kind, byKind[kind]))
	}
	r.All = rankScore("all", r.Queries)
}

func rankScore(kind string, queries []RankFacts) RankScore {
	s := RankScore{Kind: kind, Queries: len(queries)}
	if len(queries) == 0 {
		return s
	}
	for _, q := range queries {
		s.MRR += reciprocal(q.Rank)
		if q.Rank == 1 {
			s.First++
		}
		if q.Rank >= 1 && q.Rank <= 5 {
			s.Five++
		}
		if q.Before >= 0 {
			s.Compared++
			s.Before += reciprocal(q.Before)
			s.Now += reciprocal(q.Rank)
		}
	}
	n := float64(len(queries))
	s.MRR, s.First, s.Five = s.MRR/n, s.First/n, s.Five/n
	s.Before, s.Now = s.Before/float64(max(s.Compared, 1)), s.Now/float64(max(s.Compared, 1))
	return s
}

func reciprocal(rank int) float64 {
	if rank <= 0 {
		return 0
	}
	return 1 / float64(rank)
}

// Worse reports whether the mean reciprocal rank is lower than before, over the
// queries that were judged then too. Sums of the same terms in the same order
// are the same, so any difference is one of ranks.
func (r *RankReport) Worse() bool { return r.All.Now < r.All.Before }

// WriteJSON writes r as indented JSON.
func (r *RankReport) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// WriteText writes r as tables for people.
func (r *RankReport) WriteText(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "trawl   %s\ncorpus  %s, tree %.12s: %d files\n\n", r.Trawl, r.Corpus, r.Tree, r.Files)
	r.writeRanks(&b)
	b.WriteString("\n")
	r.writeScores(&b)
	if r.OtherTree {
		b.WriteString("\nThe ranks before are those of another tree: small differences mean nothing.\n")
	}
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "\nproblem: %s\n", p)
	}
	if r.Worse() {
		b.WriteString("\nThe mean reciprocal rank is lower than before.\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (r *RankReport) writeRanks(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "kind\tquery\trank\tbefore\tresults\tfirst in the answer")
	for _, q := range r.Queries {
		top := ""
		if len(q.Top) > 0 {
			top = cmp.Or(q.Top[0], "(the repository)")
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\n", q.Kind, q.Text, showRank(q.Rank), q.change(), q.Results, top)
	}
	t.Flush()
}

func showRank(rank int) string {
	if rank == 0 {
		return "-"
	}
	return fmt.Sprint(rank)
}

// change is the rank before, marked when the one now is another.
func (q RankFacts) change() string {
	switch {
	case q.Before < 0:
		return "new"
	case q.Before == q.Rank:
		return showRank(q.Before)
	case reciprocal(q.Rank) > reciprocal(q.Before):
		return showRank(q.Before) + " better"
	}
	return showRank(q.Before) + " WORSE"
}

func (r *RankReport) writeScores(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "kind\tqueries\tMRR\tfirst\tamong five\tMRR before\tnow, same queries")
	for _, s := range append(slices.Clone(r.Kinds), r.All) {
		fmt.Fprintf(t, "%s\t%d\t%.3f\t%.0f%%\t%.0f%%\t%s\n", s.Kind, s.Queries, s.MRR, 100*s.First, 100*s.Five, s.compared())
	}
	t.Flush()
}

func (s RankScore) compared() string {
	if s.Compared == 0 {
		return strings.Join([]string{"-", "-"}, "\t")
	}
	return fmt.Sprintf("%.3f\t%.3f", s.Before, s.Now)
}
