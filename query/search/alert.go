package search

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

// QueryAlert is the alert for a query that cannot be searched.
func QueryAlert(err error) *query.Alert {
	a := &query.Alert{Title: "Unable To Process Query", Description: upperFirst(query.Shorten(err.Error()))}
	if errors.Is(err, syntax.ErrMissingOperand) {
		a.Description = "I'm having trouble understanding that query. Putting parentheses around the search pattern may help."
	}
	return a
}

func upperFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// alert is what a search that is over tells a person, the most important
// first, or nil.
func (r *run) alert(timedOut bool) *query.Alert {
	if a := r.sel.lacking.alert(); a != nil {
		return a
	}
	if r.sel.invalid != "" {
		return invalidRevisionAlert(r.sel.invalid)
	}
	if a := r.unownedAlert(); a != nil {
		return a
	}
	if r.out.sent > 0 {
		return nil
	}
	if timedOut && !r.named {
		return r.timeoutAlert()
	}
	if r.sel.passedOver {
		return nil
	}
	for _, b := range r.basics {
		if len(b.targets) > 0 || !b.docs && b.commits == nil {
			return nil
		}
	}
	return r.noRepositories()
}

func (r *run) noRepositories() *query.Alert {
	if len(r.basics) == 0 {
		return nil
	}
	if len(r.repos) == 0 {
		return &query.Alert{Title: "No repositories or code hosts configured",
			Description: "To start searching code, add a repository: `trawl index PATH` or `trawl repo add PATH`."}
	}
	a := &query.Alert{Title: "No repositories found",
		Description: "Try using a different `repo:<regexp>` filter to see results"}
	if len(r.sel.forks) > 0 {
		a.Proposed = append(a.Proposed, r.propose("include forked repositories in your query.", syntax.WithFilter(r.q.Text, "fork", "yes")))
	}
	if len(r.sel.archived) > 0 {
		a.Proposed = append(a.Proposed, r.propose("include archived repositories in your query.", syntax.WithFilter(r.q.Text, "archived", "yes")))
	}
	if len(a.Proposed) > 0 {
		a.Description = "Try altering the query or use a different `repo:<regexp>` filter to see results"
	}
	return a
}

func (r *run) timeoutAlert() *query.Alert {
	used := r.set.Now().Sub(r.start)
	longer := longerTimeout(2 * used)
	rest := syntax.WithoutFilter(r.q.Text, r.q.PatternType, "timeout")
	return &query.Alert{
		Title:       "Timed out while searching",
		Description: fmt.Sprintf("We weren't able to find any results in %s.", used.Round(time.Second)),
		Proposed:    []query.ProposedQuery{r.propose("query with longer timeout", "timeout:"+longer.String()+" "+strings.TrimSpace(rest))},
	}
}

// longerTimeout rounds up to whole hours, minutes or seconds, the largest unit
// that fits, and to at least two seconds.
func longerTimeout(d time.Duration) time.Duration {
	d = max(d, 2*time.Second)
	unit := time.Second
	switch {
	case d >= time.Hour:
		unit = time.Hour
	case d >= time.Minute:
		unit = time.Minute
	}
	return (d + unit - 1) / unit * unit
}

// propose makes a query that reads as the running one does. A pattern type
// that text names already is named once, at the end.
func (r *run) propose(description, text string) query.ProposedQuery {
	text = syntax.WithoutFilter(text, r.q.PatternType, "patterntype")
	return query.ProposedQuery{Description: description, Query: syntax.WithFilter(text, "patternType", string(r.q.PatternType))}
}
