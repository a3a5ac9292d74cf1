package httpapi

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/report"
)

// RequestTrace is the trace of a request that may search several times, such as
// one of GraphQL: the steps of its first search.
type RequestTrace struct {
	kept    *trace
	server  *Server
	results *report.Report
	taken   atomic.Bool
}

// StartTrace begins the trace of a request, and names it in headers as streams
// do. The name stands for the request on the trace's page.
func StartTrace(w http.ResponseWriter, r *http.Request, name string) *RequestTrace {
	s := recordOf(r.Context()).server
	if s == nil {
		return nil // a handler that is called without a server
	}
	t := &RequestTrace{server: s, results: report.New(s.now)}
	actor := auth.From(r.Context())
	t.kept = s.traces.start(actor, actor.ClientKey(), name, t.results)
	t.kept.tell(w.Header(), s.baseURL(r))
	return t
}

// tell puts the trace into the headers of an answer, and returns the URL of its page.
func (t *trace) tell(h http.Header, base string) (url string) {
	url = base + "/-/trace/" + t.ID
	values := [...]string{t.ID, t.Span, url}
	h["X-Trace"], h["X-Trace-Span"], h["X-Trace-Url"] = values[:1:1], values[1:2:2], values[2:]
	return url
}

// Search has the options of a search record into the trace, if it is the first.
func (t *RequestTrace) Search(o *search.Options) {
	if t == nil || !t.taken.CompareAndSwap(false, true) {
		return
	}
	o.Trace, o.ID, o.Report = &t.kept.Trace, t.kept.ID, t.results
}

// End ends the trace with a word for how the request ended.
func (t *RequestTrace) End(ctx context.Context, outcome string) {
	if t == nil {
		return
	}
	if ctx.Err() != nil {
		outcome = streamCancelled
	}
	t.server.traces.finish(t.kept, outcome)
}
