package httpapi

import (
	"net/http"
	"regexp"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/stream"
	"github.com/trawlsearch/trawl/httpapi/stream/event"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/groups"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
)

// groupsPath is where the results of a search are counted by what they have in common.
const groupsPath = "/.api/search/groups"

const (
	// groupsHolds is the memory of an answer: 10,000 names and their counts.
	groupsHolds = 12 << 20
	// groupsShown is how many groups an answer has.
	groupsShown = 100
)

// groupsJSON is an answer.
type groupsJSON struct {
	Groups []groupJSON `json:"groups"`
	// GroupsCount counts the groups, and Others the results of those that are left out.
	GroupsCount int `json:"groupsCount"`
	Others      int `json:"others"`
	// Without counts the results that belong to no group.
	Without int `json:"without"`
	// Exact says that the counts are those of the whole answer.
	Exact    bool           `json:"exact"`
	Progress event.Progress `json:"progress"`
}

type groupJSON struct {
	Value      string `json:"value"`
	Repository string `json:"repository,omitempty"`
	Count      int    `json:"count"`
	// Filter asks for the results of the group, "" where none does.
	Filter string `json:"filter,omitempty"`
}

// serveGroups counts the results of a search, which it finds as a stream would.
func (s searchRoutes) serveGroups(w http.ResponseWriter, r *http.Request) error {
	by := groups.By(r.URL.Query().Get("by"))
	switch by {
	case groups.Repository, groups.File, groups.Author, groups.Capture:
	default:
		return &Error{Status: http.StatusBadRequest, Message: "by must be repo, file, author or capture"}
	}
	p, err := stream.DecodeParams(r)
	if err != nil {
		return &Error{Status: http.StatusBadRequest, Message: err.Error()}
	}
	release, err := s.admit(w, r)
	if err != nil {
		return err
	}
	defer release()
	q, err := p.Parse()
	if err != nil {
		return refusal(err)
	}
	counter, err := groups.New(by, q)
	if err != nil {
		return &Error{Status: http.StatusBadRequest, Message: err.Error()}
	}
	results := report.New(s.now)
	actor := auth.From(r.Context())
	tr := s.traces.Start(w.Header(), r, p.Query, results)
	sum := &recordOf(r.Context()).search
	sum.TraceID = tr.ID
	o := search.Options{Display: -1, Report: results, Trace: &tr.Trace, ID: tr.ID}
	o.AskedBy(actor.ClientKey(), actor.Visible())
	work := WorkOf(r.Context())
	work.Rest() // the search has a slot of its own
	var out search.Outcome
	err = func() error {
		sum.Outcome = stream.Failed // what a panic leaves
		defer func() {
			results.Finish(false)
			sum.Matches = results.Progress().Matches
			s.traces.Finish(tr, sum.Outcome)
		}()
		out = s.Searcher.Search(r.Context(), q, o, answer.SinkFunc(func(matches []query.Match) error {
			for _, m := range matches {
				counter.Add(m)
			}
			return nil
		}))
		if out.Err == nil {
			sum.Outcome = stream.Done
		}
		return out.Err
	}()
	if err != nil {
		return refusal(err)
	}
	if err := work.Resume(r.Context()); err != nil {
		return err
	}
	return ServeJSON(w, r, newGroupsJSON(by, counter, event.NewProgress(results.Progress(), tr.URL, true), out.Alert == nil || out.Alert.Advice))
}

// refusal is the answer for a query that cannot be run.
func refusal(err error) error {
	alert, message, ok := stream.Explain(err)
	if !ok {
		return err
	}
	if alert != nil {
		message = alert.Title + ": " + alert.Description
	}
	return &Error{Status: http.StatusBadRequest, Message: message}
}

func newGroupsJSON(by groups.By, counter *groups.Counter, progress event.Progress, whole bool) groupsJSON {
	largest, n, others, without, all := counter.Counts(groupsShown)
	out := groupsJSON{Groups: []groupJSON{}, GroupsCount: n, Others: others, Without: without, Exact: all && whole && len(progress.Skipped) == 0, Progress: progress}
	for _, g := range largest {
		out.Groups = append(out.Groups, groupJSON{g.Value, g.Repository, g.Count, filterOf(by, g)})
	}
	return out
}

// filterOf is the filter that asks for a group.
func filterOf(by groups.By, g groups.Group) string {
	exact := func(field, value string) string {
		return syntax.FormatFilter(query.Filter{Field: field, Value: "^" + regexp.QuoteMeta(value) + "$"})
	}
	switch by {
	case groups.Repository:
		return exact("repo", g.Value)
	case groups.File:
		return exact("repo", g.Repository) + " " + exact("file", g.Value)
	case groups.Author:
		return exact("author", g.Value)
	}
	return ""
}
