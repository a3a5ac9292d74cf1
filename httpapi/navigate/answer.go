package navigate

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
)

// What of an answer is kept, and when a search ends.
const (
	maxKept      = 400
	maxKeptBytes = 1 << 20
	defaultCount = 1_000
)

// ErrBusy says that other requests go first for longer than a client waits.
var ErrBusy = errors.New("the server is busy with other requests, or with others of the client")

// Answer is what a search found, as far as it is kept.
type Answer struct {
	Query   string
	Matches []query.Match
	// Report has the counts, what was skipped and the filters; Alert is nil if all is well.
	Report *report.Report
	Alert  *query.Alert
	// Total counts the matches, those that are not kept too.
	Total int
	held  int
}

// Send implements answer.Sink.
func (a *Answer) Send(matches []query.Match) error {
	for _, m := range matches {
		a.Total++
		if len(a.Matches) >= maxKept || a.held >= maxKeptBytes {
			continue
		}
		a.held += weight(m)
		a.Matches = append(a.Matches, m)
	}
	return nil
}

// weight is about how many bytes a match holds.
func weight(m query.Match) int {
	n := 300
	switch m := m.(type) {
	case *query.FileMatch:
		for _, c := range m.Chunks {
			n += len(c.Content) + 24*len(c.Ranges)
		}
		n += 80 * len(m.Symbols)
	case *query.CommitMatch:
		n += len(m.Message) + len(m.Body) + 24*len(m.Ranges)
	}
	return n
}

// Files are the matches that are files.
func (a *Answer) Files() []*query.FileMatch {
	var out []*query.FileMatch
	for _, m := range a.Matches {
		if f, ok := m.(*query.FileMatch); ok {
			out = append(out, f)
		}
	}
	return out
}

// Incomplete reports whether there may be more than was found.
func (a *Answer) Incomplete() bool { return a.Report.LimitHit() || a.Total > len(a.Matches) }

// prefer moves the files to the front whose definitions stand in a container.
func (a *Answer) prefer(container string) {
	if container == "" {
		return
	}
	var first, others []query.Match
	for _, m := range a.Matches {
		if file, ok := m.(*query.FileMatch); ok && anyIn(file.Symbols, container) {
			first = append(first, m)
		} else {
			others = append(others, m)
		}
	}
	a.Matches = append(first, others...)
}

func anyIn(symbols []query.Symbol, container string) bool {
	for _, s := range symbols {
		if standsIn(s.Container, container) {
			return true
		}
	}
	return false
}

// standsIn reports whether a symbol's container is the one that was written, as far
// as either was written.
func standsIn(container, written string) bool {
	return container != "" && written != "" && (strings.HasSuffix(container, written) || strings.HasSuffix(written, container))
}

// Finder searches for the clients of requests.
type Finder struct {
	Searcher httpapi.Searcher
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Count is how many matches are searched for where a query has no count; 0 is 1,000.
	Count int
}

// Search runs a query as the stream would, for the client and in its turn. The error
// is a *query.SyntaxError or *query.ContextError for a query that is wrong, and ErrBusy.
// A search that breaks off is an answer that is incomplete.
func (f *Finder) Search(ctx context.Context, text, patternType string, contextLines int, trace *httpapi.RequestTrace) (*Answer, error) {
	pt, err := syntax.ParsePatternType("V3", patternType)
	if err != nil {
		return nil, err
	}
	q, err := syntax.Parse(text, pt)
	if err != nil {
		return nil, err
	}
	now := f.Now
	if now == nil {
		now = time.Now
	}
	actor := auth.From(ctx)
	o := search.Options{
		Report: report.New(now), Display: -1, ContextLines: contextLines, DefaultCount: cmp.Or(f.Count, defaultCount),
	}
	o.AskedBy(actor.ClientKey(), actor.Visible())
	trace.Search(&o)
	out := &Answer{Query: text, Report: o.Report}
	work := httpapi.WorkOf(ctx)
	work.Rest()
	outcome := f.Searcher.Search(ctx, q, o, out)
	if err := work.Resume(ctx); err != nil && ctx.Err() == nil {
		return nil, ErrBusy
	}
	o.Report.Finish(false)
	out.Alert = outcome.Alert
	if err := outcome.Err; err != nil && ctx.Err() == nil {
		if wrongQuery(err) || len(out.Matches) == 0 {
			return nil, err
		}
		o.Report.Skips().MarkIncomplete()
	}
	return out, ctx.Err()
}

func wrongQuery(err error) bool {
	var wrong *query.SyntaxError
	var scope *query.ContextError
	return errors.As(err, &wrong) || errors.As(err, &scope)
}
