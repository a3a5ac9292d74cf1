package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/trawlsearch/trawl/query/search"
)

// writeSteps prints the steps of a search: when each began, how long it took
// and what it did.
func writeSteps(w io.Writer, steps []search.Step) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "start ms\ttook ms\tstep\t\n")
	for _, s := range steps {
		var facts []string
		for _, f := range s.Fields {
			facts = append(facts, f.Key+"="+f.Value)
		}
		fmt.Fprintf(out, "%.2f\t%.2f\t%s\t%s\n",
			float64(s.Start.Microseconds())/1000, float64(s.Took.Microseconds())/1000, s.Name, strings.Join(facts, " "))
	}
	_ = out.Flush() // there is nobody else to tell
}
