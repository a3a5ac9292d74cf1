package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/report"
)

// traceHolds is the memory of the page of a trace.
const traceHolds = 8 << 20

// maxShownSteps is how many steps the page shows; as JSON it has all.
const maxShownSteps = 2000

// traceData is the data of the page of a trace.
type traceData struct {
	ID, Query, Outcome string
	Start              time.Time
	Took               time.Duration
	Progress           query.Progress
	Steps              []traceStep
	// MoreSteps counts those that the page does not show.
	MoreSteps int
	Coverage  []report.Coverage
	Rest      report.Rest
}

// traceStep is a row of the page, with a bar from At over Width, both in
// thousandths of the whole.
type traceStep struct {
	report.Step
	At, Width int
}

// serveTrace shows what a search did, while it runs and for a while after.
func (s searchRoutes) serveTrace(w http.ResponseWriter, r *http.Request) error {
	tr := s.traces.Find(mux.Vars(r)["id"], auth.From(r.Context()))
	if tr == nil {
		return &Error{Status: http.StatusNotFound, Message: "no trace with this id: only the newest searches are kept"}
	}
	data := traceData{ID: tr.ID, Query: tr.Query, Start: tr.Start.UTC()}
	data.Outcome, data.Took, data.Progress = tr.State(s.now())
	data.Coverage, data.Rest = tr.Coverage()
	if r.URL.Query().Get("format") == "json" {
		return ServeJSON(w, r, newTraceJSON(data, tr.Steps()))
	}
	data.Steps = traceSteps(tr.Steps(), data.Took)
	if data.MoreSteps = max(len(data.Steps)-maxShownSteps, 0); data.MoreSteps > 0 {
		data.Steps = data.Steps[:maxShownSteps]
	}
	return s.ServePage(w, r, pages, web.View{Page: "trace.html", Compress: true, Data: data})
}

// traceJSON is the page for programs.
type traceJSON struct {
	ID      string          `json:"id"`
	Query   string          `json:"query"`
	Outcome string          `json:"outcome,omitempty"`
	Start   time.Time       `json:"start"`
	Took    int64           `json:"took_us"`
	Steps   []traceStepJSON `json:"steps"`
	// Coverage counts the searched documents by repository, Rest those of the
	// repositories that do not fit. Both are empty before the search is over.
	Coverage []coverageJSON `json:"coverage,omitempty"`
	Rest     *restJSON      `json:"rest,omitempty"`
}

// coverageJSON is search.Coverage, whose numbers are of commits where it says
// so. Candidates and Verified are left out for users who may not see them.
type coverageJSON struct {
	Repository string           `json:"repository"`
	Revision   string           `json:"revision,omitempty"`
	Commit     string           `json:"commit"`
	Commits    bool             `json:"commits,omitempty"`
	Documents  int              `json:"documents"`
	Candidates *int             `json:"candidates,omitempty"`
	Verified   *int             `json:"verified,omitempty"`
	Unsearched []unsearchedJSON `json:"unsearched"`
}

// unsearchedJSON has no number of documents where it is not known.
type unsearchedJSON struct {
	Reason    string `json:"reason"`
	Documents int    `json:"documents,omitempty"`
}

// restJSON is search.Rest.
type restJSON struct {
	Repositories int `json:"repositories"`
	Documents    int `json:"documents"`
	Unsearchable int `json:"unsearchable"`
}

func newCoverageJSON(c report.Coverage) coverageJSON {
	out := coverageJSON{
		Repository: c.Repository, Revision: c.Revision, Commit: c.Commit, Commits: c.Commits, Documents: c.Documents, Unsearched: []unsearchedJSON{},
	}
	if c.Candidates >= 0 {
		out.Candidates, out.Verified = &c.Candidates, &c.Verified
	}
	for _, u := range c.Unsearched {
		out.Unsearched = append(out.Unsearched, unsearchedJSON(u))
	}
	return out
}

// traceStepJSON has times in microseconds; fields that are whole numbers are
// numbers.
type traceStepJSON struct {
	Name   string         `json:"name"`
	Start  int64          `json:"start_us"`
	Took   int64          `json:"took_us"`
	Fields map[string]any `json:"fields"`
}

func newTraceJSON(d traceData, steps []report.Step) traceJSON {
	out := traceJSON{ID: d.ID, Query: d.Query, Outcome: d.Outcome, Start: d.Start, Took: d.Took.Microseconds(), Steps: []traceStepJSON{}}
	for _, st := range steps {
		j := traceStepJSON{Name: st.Name, Start: st.Start.Microseconds(), Took: st.Took.Microseconds(), Fields: map[string]any{}}
		for _, f := range st.Fields {
			j.Fields[f.Key] = f.Value
			if n, err := strconv.ParseInt(f.Value, 10, 64); err == nil {
				j.Fields[f.Key] = n
			}
		}
		out.Steps = append(out.Steps, j)
	}
	for _, c := range d.Coverage {
		out.Coverage = append(out.Coverage, newCoverageJSON(c))
	}
	if d.Rest.Repositories > 0 {
		out.Rest = (*restJSON)(&d.Rest)
	}
	return out
}

// traceSteps places the steps in the time that the search took.
func traceSteps(steps []report.Step, took time.Duration) []traceStep {
	whole := max(took, 1)
	for _, st := range steps {
		whole = max(whole, st.Start+st.Took)
	}
	out := make([]traceStep, len(steps))
	for i, st := range steps {
		out[i] = traceStep{
			Step:  st,
			At:    int(1000 * st.Start / whole),
			Width: max(int(1000*st.Took/whole), 2),
		}
	}
	return out
}

// Millis formats when a step began and how long it took, in milliseconds.
func (t traceStep) Millis() [2]float64 {
	return [2]float64{millis(t.Start), millis(t.Took)}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
