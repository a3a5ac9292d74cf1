package print

import (
	"fmt"
	"io"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/client"
)

// Notes writes what a person should know of a search beside its matches: the
// alert, which may be nil, and a line for each reason why the answer may be
// incomplete.
func Notes(w io.Writer, alert *client.Alert, p client.Progress, found int) {
	if alert != nil {
		writeAlert(w, *alert)
	}
	if found == 0 && len(p.Skipped) > 0 {
		note(w, "nothing was found in what was searched, but not everything was:")
	}
	for _, s := range p.Skipped {
		note(w, skipped(s))
	}
}

func writeAlert(w io.Writer, a client.Alert) {
	text := a.Title
	if a.Description != "" {
		text += ": " + a.Description
	}
	note(w, text)
	for _, q := range a.ProposedQueries {
		text := "try: " + q.Query
		if q.Description != "" {
			text += "  (" + q.Description + ")"
		}
		note(w, text)
	}
}

// skipped is one reason with what to add to the query to have it otherwise.
func skipped(s client.Skipped) string {
	first, _, _ := strings.Cut(s.Message, "\n")
	text := s.Title
	if first != "" {
		text += ": " + strings.ReplaceAll(first, "`", "")
	}
	if s.Suggested != nil && !strings.Contains(s.Message, "`"+s.Suggested.QueryExpression+"`") {
		text += " [add " + s.Suggested.QueryExpression + "]"
	}
	return text
}

// note writes one line, and ignores an error of the terminal.
func note(w io.Writer, text string) {
	_, _ = fmt.Fprintf(w, "trawl: %s\n", visible(strings.ReplaceAll(text, "\n", " "), true))
}
