package httpapi

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/trawlsearch/trawl/httpapi/stream"
	"github.com/trawlsearch/trawl/httpapi/trace"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/report"
)

// RequestTrace is the trace of a request that may search several times, such as
// one of GraphQL: the steps of its first search.
type RequestTrace struct {
	kept    *trace.Trace
	server  *Server
	results *report.Report
	taken   atomic.Bool
	ended   atomic.Bool
}

// StartTrace begins the trace of a request, and names it in headers as streams
// do. The name stands for the request on the trace's page.
func StartTrace(w http.ResponseWriter, r *http.Request, name string) *RequestTrace {
	s := recordOf(r.Context()).server
	if s == nil {
		return nil // a handler that is called without a server
	}
	t := &RequestTrace{server: s, results: report.New(s.now)}
	t.kept = s.traces.Start(w.Header(), r, name, t.results)
	return t
}

// Search has the options of a search record into the trace, if it is the first.
func (t *RequestTrace) Search(o *search.Options) {
	if t == nil || !t.taken.CompareAndSwap(false, true) {
		return
	}
	o.Trace, o.ID, o.Report = &t.kept.Trace, t.kept.ID, t.results
}

// End ends the trace with a word for how the request ended, unless it has ended.
func (t *RequestTrace) End(ctx context.Context, outcome string) {
	if t == nil || !t.ended.CompareAndSwap(false, true) {
		return
	}
	if ctx.Err() != nil {
		outcome = stream.Cancelled
	}
	t.server.traces.Finish(t.kept, outcome)
}
