package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/httpapi/client"
)

// explain prints the documents that a search looked at and its steps, from the
// server's trace. If only people may read the trace, it prints the link.
func (a *app) explain(ctx context.Context, w io.Writer, base, link string, p client.Params) {
	if link == "" {
		fmt.Fprintln(w, "trawl: the server keeps no trace of this search")
		return
	}
	t, err := client.ReadTrace(ctx, base, link, p)
	if err != nil {
		fmt.Fprintf(w, "trawl: the steps of this search are at %s\n", link)
		return
	}
	writeCoverage(w, t)
	writeSteps(w, t.Steps)
}

// writeCoverage prints a line for each revision: how many documents it has, how
// many of them the index left and were tried, and what was not looked at.
func writeCoverage(w io.Writer, t *client.Trace) {
	if len(t.Coverage) == 0 {
		return
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "repository\tcommit\tdocuments\tcandidates\tverified\tnot looked at\n")
	for _, c := range t.Coverage {
		name := c.Repository
		if c.Revision != "" {
			name += "@" + c.Revision
		}
		commit := c.Commit[:min(len(c.Commit), 12)]
		if commit == "" {
			commit = "none"
		}
		var left []string
		for _, u := range c.Unsearched {
			if u.Documents > 0 {
				left = append(left, fmt.Sprintf("%d %s", u.Documents, u.Reason))
			} else {
				left = append(left, u.Reason)
			}
		}
		if len(left) == 0 {
			left = []string{"-"}
		}
		documents := strconv.Itoa(c.Documents)
		if c.Commits {
			documents += " commits"
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\n", name, commit, documents, number(c.Candidates), number(c.Verified), strings.Join(left, ", "))
	}
	_ = out.Flush() // an error here cannot be reported
	if r := t.Rest; r != nil {
		fmt.Fprintf(w, "and %s with %s, %d of them without text\n", progress.CountedAs(r.Repositories, "more repository", "more repositories"), progress.Counted(r.Documents, "document"), r.Unsearchable)
	}
	fmt.Fprintln(w)
}

func number(n *int) string {
	if n == nil {
		return "-"
	}
	return strconv.Itoa(*n)
}

// writeSteps prints the steps of a search: when each began, how long it took
// and what it did.
func writeSteps(w io.Writer, steps []client.TraceStep) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "start ms\ttook ms\tstep\t\n")
	for _, s := range steps {
		var facts []string
		for _, key := range slices.Sorted(maps.Keys(s.Fields)) {
			facts = append(facts, fmt.Sprintf("%s=%v", key, s.Fields[key]))
		}
		fmt.Fprintf(out, "%.2f\t%.2f\t%s\t%s\n", float64(s.Start)/1000, float64(s.Took)/1000, s.Name, strings.Join(facts, " "))
	}
	_ = out.Flush() // an error here cannot be reported
}
