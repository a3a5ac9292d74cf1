package bench

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// MinedReport shows how early the answers to a mined set have the wanted files.
type MinedReport struct {
	Queries []MinedFacts
}

// MinedFacts is one query and one who was asked.
type MinedFacts struct {
	Judged
	Snapshot, Engine string
	// Rank counts from 1; 0 is not among the files looked through. Files are those
	// of the answer.
	Rank, Files int
	Took        time.Duration
	Top         []string
}

// ask asks all queries of a set.
func (r *MinedReport) ask(set []minedSnapshot, engine string, answer func(snapshot string, q Judged) ([]string, error)) error {
	for _, s := range set {
		for _, q := range s.queries {
			start := time.Now()
			paths, err := answer(s.name, q)
			if err != nil {
				return err
			}
			facts := MinedFacts{Judged: q, Snapshot: s.name, Engine: engine, Took: time.Since(start), Top: paths[:min(len(paths), topShown)]}
			facts.Rank, facts.Files = placeOf(paths, q.Want)
			r.Queries = append(r.Queries, facts)
		}
	}
	return nil
}

// minedGroup is what one line of the report sums up.
type minedGroup struct{ half, repository, engine string }

// WriteText writes a table for people.
func (r *MinedReport) WriteText(w io.Writer) error {
	groups := map[minedGroup][]MinedFacts{}
	for _, q := range r.Queries {
		repository := q.Snapshot[:strings.LastIndexByte(q.Snapshot, '-')]
		for _, name := range []string{repository, "all"} {
			g := minedGroup{q.Kind, name, q.Engine}
			groups[g] = append(groups[g], q)
		}
	}
	keys := make([]minedGroup, 0, len(groups))
	for g := range groups {
		keys = append(keys, g)
	}
	slices.SortFunc(keys, func(a, b minedGroup) int {
		return cmp.Or(cmp.Compare(b.half, a.half), cmp.Compare(a.repository, b.repository), cmp.Compare(a.engine, b.engine))
	})
	var b bytes.Buffer
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "half\trepository\tasked\tqueries\tfound\tMRR\tof those found\tfirst\tamong five\tmedian")
	for _, g := range keys {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", g.half, g.repository, g.engine, minedScore(groups[g]))
	}
	t.Flush()
	_, err := w.Write(b.Bytes())
	return err
}

func minedScore(queries []MinedFacts) string {
	found, first, five, sum := 0, 0, 0, 0.0
	took := make([]time.Duration, 0, len(queries))
	for _, q := range queries {
		took = append(took, q.Took)
		sum += reciprocal(q.Rank)
		if q.Rank > 0 {
			found++
		}
		if q.Rank == 1 {
			first++
		}
		if q.Rank >= 1 && q.Rank <= 5 {
			five++
		}
	}
	slices.Sort(took)
	n := float64(len(queries))
	return fmt.Sprintf("%d\t%d\t%.3f\t%.3f\t%.0f%%\t%.0f%%\t%.1f ms", len(queries), found, sum/n, sum/float64(max(found, 1)),
		100*float64(first)/n, 100*float64(five)/n, float64(took[len(took)/2].Microseconds())/1000)
}

// WriteQueries writes the places of each query, a line each.
func (r *MinedReport) WriteQueries(w io.Writer) error {
	var b bytes.Buffer
	for _, q := range r.Queries {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\n", q.Kind, q.Engine, q.Name, q.Rank, q.Files, q.Text, strings.Join(q.Want, " "), strings.Join(q.Top, " "))
	}
	_, err := w.Write(b.Bytes())
	return err
}
