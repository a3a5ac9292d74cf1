package search

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/syntax"
)

// QueryAlert is the alert for a query that cannot be searched.
func QueryAlert(err error) *query.Alert {
	a := &query.Alert{Title: "Unable To Process Query", Description: query.Capitalize(query.Shorten(err.Error()))}
	var broken *query.SyntaxError
	if errors.As(err, &broken) && broken.Proposed != "" {
		a.Proposed = []query.ProposedQuery{{Description: "the query mended", Query: broken.Proposed}}
	}
	if errors.Is(err, syntax.ErrMissingOperand) {
		a.Description = "I'm having trouble understanding that query. Putting parentheses around the search pattern may help."
	}
	return a
}

// alert is what a search that is over says to a person, the most important
// first, or nil.
func (r *run) alert(timedOut bool) *query.Alert {
	if a := r.trouble(timedOut); a != nil {
		return a
	}
	return r.mistyped()
}

// trouble is the alert for what kept a search from finding anything, or all of
// it.
func (r *run) trouble(timedOut bool) *query.Alert {
	if a := r.scope.Alert(); a != nil {
		return a
	}
	if a := r.unownedAlert(); a != nil {
		return a
	}
	if r.out.Matches() > 0 {
		return nil
	}
	if timedOut && !r.task.NamesTimedOut() {
		return r.timeoutAlert()
	}
	if r.scope.HasPassedOver() {
		return nil
	}
	for _, b := range r.basics {
		if b.Repositories.Len() > 0 || !b.Documents && b.Commits == nil {
			return nil
		}
	}
	return r.noRepositories()
}

func (r *run) noRepositories() *query.Alert {
	if len(r.basics) == 0 {
		return nil
	}
	if r.task.Visible.Len() == 0 {
		return &query.Alert{Title: "No repositories or code hosts configured",
			Description: "To start searching code, add a repository: `trawl index PATH` or `trawl repo add PATH`."}
	}
	if a := r.emptyContext(); a != nil {
		return a
	}
	a := &query.Alert{Title: "No repositories found",
		Description: "Try using a different `repo:<regexp>` filter to see results"}
	forks, archived := r.scope.LeftOut()
	if forks > 0 {
		a.Proposed = append(a.Proposed, r.propose("include forked repositories in your query.", syntax.WithFilter(r.q.Text, "fork", "yes")))
	}
	if archived > 0 {
		a.Proposed = append(a.Proposed, r.propose("include archived repositories in your query.", syntax.WithFilter(r.q.Text, "archived", "yes")))
	}
	if len(a.Proposed) > 0 {
		a.Description = "Try altering the query or use a different `repo:<regexp>` filter to see results"
	}
	return a
}

// emptyContext is the alert for repo: filters that match nothing within a search
// context; nil if that is not so.
func (r *run) emptyContext() *query.Alert {
	if len(r.q.Basics) != 1 {
		return nil
	}
	b := r.q.Basics[0]
	name := b.Value("context")
	if name == "" || name == globalContext || len(b.Values("repo")) == 0 {
		return nil
	}
	rest := syntax.WithoutFilter(r.q.Text, r.q.PatternType, "context")
	return &query.Alert{
		Title:    "No repositories found for your query within the context " + query.Shorten(name),
		Proposed: []query.ProposedQuery{r.propose("search in the global context", "context:"+globalContext+" "+strings.TrimSpace(rest))},
	}
}

func (r *run) timeoutAlert() *query.Alert {
	used := r.task.Now().Sub(r.task.Start)
	longer := report.LongerTimeout(2 * used)
	rest := syntax.WithoutFilter(r.q.Text, r.q.PatternType, "timeout")
	return &query.Alert{
		Title:       "Timed out while searching",
		Description: fmt.Sprintf("We weren't able to find any results in %s.", used.Round(time.Second)),
		Proposed:    []query.ProposedQuery{r.propose("query with longer timeout", "timeout:"+longer.String()+" "+strings.TrimSpace(rest))},
	}
}

// propose makes a query that reads as the running one does. A pattern type
// that text names already is named once, at the end.
func (r *run) propose(description, text string) query.ProposedQuery {
	return query.ProposedQuery{Description: description, Query: syntax.InType(text, r.q.PatternType)}
}

// mistyped is the alert for parts of the query that may not mean what they were
// meant to; nil if there are none.
func (r *run) mistyped() *query.Alert {
	a := &query.Alert{Title: "The query may be mistyped", Advice: true}
	var messages []string
	for _, w := range append(slices.Clone(r.q.Warnings), r.unmatched()...) {
		if w.Plausible && r.out.Matches() > 0 {
			continue
		}
		messages = append(messages, w.Message)
		if w.Proposed != "" {
			a.Proposed = append(a.Proposed, query.ProposedQuery{Description: "as it may be meant", Query: w.Proposed})
		}
	}
	if len(messages) == 0 {
		return nil
	}
	a.Description = strings.Join(messages, "\n\n")
	return a
}

// unmatched warns of repo: filters that match the name of no repository, in
// basic queries that have nothing to search.
func (r *run) unmatched() []query.Warning {
	var out []query.Warning
	warned := map[int]bool{}
	for _, b := range r.basics {
		if b.Repositories.Len()+b.LeftOut.Len() > 0 {
			continue
		}
		for _, f := range b.Values("repo") {
			if f.Negated || f.Predicate != nil || warned[f.Span.Start] {
				continue
			}
			name, _, _ := query.SplitRepoRevs(f.Value)
			m, err := match.CompileLines(name, true, false)
			if err != nil || r.task.Visible.NamedIDs(m).Len() > 0 {
				continue
			}
			warned[f.Span.Start] = true
			out = append(out, query.Warning{Message: fmt.Sprintf("No repository matches `repo:%s`.", query.Shorten(f.Value)), Span: f.Span})
		}
	}
	return out
}

// unownedAlert says that owners were asked for where there are none; nil if
// that is not so.
func (r *run) unownedAlert() *query.Alert {
	tested := slices.ContainsFunc(r.basics, func(b *target.Query) bool { return len(b.Owners) > 0 })
	a := &query.Alert{Kind: "unowned-results", Title: "Some results have no owners"}
	switch {
	case r.scope.HasNoOwners() && (tested || r.out.FoundUnowned()):
		a.Description = "None of the repositories searched has a CODEOWNERS file, so nothing in them is owned. "
	case r.out.FoundUnowned():
		a.Description = "Some of the files found belong to nobody: their repository has no CODEOWNERS file, or none that names them. "
	default:
		return nil
	}
	a.Description += "It stands at the root, or in `.github`, `.gitlab` or `docs`."
	return a
}
