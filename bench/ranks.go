package bench

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Ranks are the places that the wanted files of a judged set had in the answers
// of some version: what another version is compared with.
type Ranks struct {
	// Tree is git's object id of the tree that was searched.
	Tree string
	// Of maps the name of a query to the rank of its file, counted from 1; 0 is
	// not found.
	Of map[string]int
}

// ParseRanks reads what Write wrote: a line "tree ID" and a line "NAME RANK" for
// each query; lines that start with "#" are remarks.
func ParseRanks(text string) (Ranks, error) {
	r := Ranks{Of: map[string]int{}}
	line := 0
	for row := range strings.Lines(text) {
		line++
		row = strings.TrimSpace(row)
		if row == "" || strings.HasPrefix(row, "#") {
			continue
		}
		name, value, _ := strings.Cut(row, " ")
		if name == "tree" {
			r.Tree = value
			continue
		}
		rank, err := strconv.Atoi(value)
		if err != nil || rank < 0 {
			return r, fmt.Errorf("line %d: %q is not a name and a rank", line, row)
		}
		if _, taken := r.Of[name]; taken {
			return r, fmt.Errorf("line %d: name %q is taken", line, name)
		}
		r.Of[name] = rank
	}
	return r, nil
}

// Write writes the ranks of r's queries in the form that ParseRanks reads.
func (r *RankReport) Write(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Places of the wanted files, 0 for not found; trawl-bench rank --update writes this file.\n")
	fmt.Fprintf(&b, "tree %s\n", r.Tree)
	for _, q := range r.Queries {
		fmt.Fprintf(&b, "%s %d\n", q.Name, q.Rank)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
