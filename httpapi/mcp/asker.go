package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/graphql/budget"
	"github.com/trawlsearch/trawl/httpapi/navigate"
	"github.com/trawlsearch/trawl/query"
)

// asker asks the other interfaces of the server for the client of a call.
type asker struct {
	e *Endpoint
	x *exchange
}

// document runs a GraphQL document and reads its data into v. Fields that failed are null
// in it; the error is the first message.
func (a *asker) document(ctx context.Context, v any, document string, variables map[string]any) error {
	for name, value := range variables {
		if n, ok := value.(int); ok {
			variables[name] = float64(n) // as JSON has it
		}
	}
	data, messages, err := a.e.GraphQL.Run(ctx, a.x.base, document, variables)
	switch {
	case errors.Is(err, budget.ErrBusy):
		return errBusy
	case err != nil:
		return explain(err)
	case len(messages) > 0:
		return instruct("%s", shorten(messages[0], 600))
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("read the answer of GraphQL: %w", err)
	}
	return nil
}

var errBusy error = &instruction{"the server is busy with other requests, or with others of yours: try again in a few seconds, one call at a time."}

// explain keeps of an error what the client may know.
func explain(err error) error {
	var known *httpapi.Error
	var denied *auth.Denied
	switch {
	case errors.As(err, &known):
		return instruct("%s", known.Message)
	case errors.As(err, &denied):
		return instruct("%s", denied.Message)
	}
	return err
}

// found is what a search found, as far as it is kept.
type found struct {
	*navigate.Answer
	// context is how many lines around matches it has.
	context int
}

// matchesWanted is how many matches are searched for: enough that a few large files
// with hundreds of them do not end a search.
const matchesWanted = 10_000

// search runs a query as the stream would, for the client and in its turn.
func (a *asker) search(ctx context.Context, text, patternType string, contextLines int) (*found, error) {
	finder := navigate.Finder{Searcher: a.e.Searcher, Now: a.e.Now, Count: matchesWanted}
	answer, err := finder.Search(ctx, text, patternType, contextLines, a.x.trace)
	switch {
	case errors.Is(err, navigate.ErrBusy):
		return nil, errBusy
	case err != nil:
		return nil, explainQuery(text, err)
	}
	return &found{answer, contextLines}, nil
}

// explainQuery tells what is wrong with a query and how it is mended.
func explainQuery(text string, err error) error {
	var wrong *query.SyntaxError
	var scope *query.ContextError
	switch {
	case errors.As(err, &scope):
		return instruct("%s: leave out context:.", scope.Error())
	case !errors.As(err, &wrong):
		return err
	}
	var b strings.Builder
	b.WriteString("the query is not understood")
	if wrong.Span.End > wrong.Span.Start && wrong.Span.End <= len(text) {
		fmt.Fprintf(&b, " at %q", shorten(text[wrong.Span.Start:wrong.Span.End], 100))
	}
	b.WriteString(": " + wrong.Error())
	switch {
	case wrong.Proposed != "":
		b.WriteString(". Try: " + shorten(wrong.Proposed, 300))
	case wrong.Hint != "":
		b.WriteString(". Try: " + shorten(wrong.Hint, 300))
	}
	return instruct("%s. The prompt query_language tells the syntax; quote a pattern that looks like a filter.", strings.TrimSuffix(b.String(), "."))
}

// counted says how much was found.
func (f *found) counted() string {
	n := f.Report.Progress().Matches
	out := plural(n, "match")
	if f.Report.LimitHit() {
		out = fmt.Sprintf("%d+ matches", n)
	}
	return out
}

// tell adds to a page what the search left out and how it is narrowed.
func (f *found) tell(p *page, narrow bool) {
	progress := f.Report.Progress()
	if a := f.Alert; a != nil {
		p.note("Note: %s. %s", strings.TrimSuffix(a.Title, "."), a.Description)
		for _, q := range a.Proposed[:min(len(a.Proposed), 3)] {
			p.note("Try: %s (%s)", q.Query, q.Description)
		}
	}
	for _, s := range progress.Skipped[:min(len(progress.Skipped), 6)] {
		text := "Left out: " + strings.TrimSuffix(s.Title, ".") + ". " + s.Message
		if s.SuggestedQuery != "" {
			text += " Add to the query: " + s.SuggestedQuery
		}
		p.note("%s", text)
	}
	if !narrow {
		return
	}
	filters := f.Report.Filters()
	slices.SortStableFunc(filters, func(a, b query.SuggestedFilter) int { return b.Count - a.Count })
	var some []string
	for _, s := range filters[:min(len(filters), 8)] {
		some = append(some, fmt.Sprintf("%s (%d)", shorten(s.Value, 120), s.Count))
	}
	if len(some) > 0 {
		p.note("Narrow with: %s", strings.Join(some, ", "))
	}
}
