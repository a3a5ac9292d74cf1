package event

import "github.com/trawlsearch/trawl/query"

// Progress is the payload of a progress event.
type Progress struct {
	Done              bool          `json:"done"`
	RepositoriesCount int           `json:"repositoriesCount,omitempty"`
	MatchCount        int           `json:"matchCount"`
	DurationMs        int64         `json:"durationMs"`
	Skipped           []wireSkipped `json:"skipped"`
	Trace             string        `json:"trace,omitempty"`
}

// Failure is the payload of an error event.
type Failure struct {
	Message string `json:"message"`
}

// The payloads of the other small events. Those of matches are written by Encoder.
type (
	wireSkipped struct {
		Reason    string         `json:"reason"`
		Title     string         `json:"title"`
		Message   string         `json:"message"`
		Severity  string         `json:"severity"`
		Suggested *wireSuggested `json:"suggested,omitempty"`
	}

	wireSuggested struct {
		Title           string `json:"title"`
		QueryExpression string `json:"queryExpression"`
	}

	wireFilter struct {
		Value      string           `json:"value"`
		Label      string           `json:"label"`
		Count      int              `json:"count"`
		Exhaustive bool             `json:"exhaustive"`
		Kind       query.FilterKind `json:"kind"`
	}

	wireAlert struct {
		Title           string              `json:"title"`
		Description     string              `json:"description,omitempty"`
		Kind            string              `json:"kind,omitempty"`
		ProposedQueries []wireProposedQuery `json:"proposedQueries"`
	}

	wireProposedQuery struct {
		Description string `json:"description,omitempty"`
		Query       string `json:"query"`
	}
)

// NewProgress returns the payload with the URL of a trace, "" for none. A search is
// done only if final.
func NewProgress(p query.Progress, trace string, final bool) Progress {
	w := Progress{
		Done:       final,
		MatchCount: p.Matches,
		DurationMs: p.Took.Milliseconds(),
		Skipped:    make([]wireSkipped, 0, len(p.Skipped)),
		Trace:      trace,
	}
	if final {
		w.RepositoriesCount = p.Repositories
	}
	for _, s := range p.Skipped {
		entry := wireSkipped{Reason: s.Reason, Title: s.Title, Message: s.Message, Severity: s.Severity}
		if s.SuggestedQuery != "" {
			entry.Suggested = &wireSuggested{s.SuggestedTitle, s.SuggestedQuery}
		}
		w.Skipped = append(w.Skipped, entry)
	}
	return w
}

func wireFilters(filters []query.SuggestedFilter, final bool) []wireFilter {
	out := make([]wireFilter, len(filters))
	for i, f := range filters {
		out[i] = wireFilter{f.Value, f.Label, f.Count, f.Exhaustive && final, f.Kind}
	}
	return out
}

// newWireAlert leaves ProposedQueries null when there are none, as clients
// expect.
func newWireAlert(a *query.Alert) wireAlert {
	w := wireAlert{Title: a.Title, Description: a.Description, Kind: a.Kind}
	for _, p := range a.Proposed {
		w.ProposedQueries = append(w.ProposedQueries, wireProposedQuery{p.Description, p.Query})
	}
	return w
}
