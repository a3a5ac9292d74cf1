package httpapi

import (
	"context"
	"net/http"
	"time"
)

// Observer is called for every request, to count or trace it. Its methods are
// called from many goroutines and return at once.
type Observer interface {
	// Begin is called first for each request, which goes on with the returned
	// context.
	Begin(r *http.Request) context.Context
	// Answered is called with that context when the answer is over.
	Answered(ctx context.Context, a Answered)
}

// Answered is called when a request is over.
type Answered struct {
	Method string
	// Route is the template of the path, "none" where there was no route. There
	// are as many as Routes has, whatever is asked for.
	Route  string
	Status int
	Took   time.Duration
	// QueryID names the search and Outcome is one of stream.Outcomes, if it was a
	// stream; else they are "".
	QueryID, Outcome string
}

// observe reports the end of a request to the observer, if there is one.
func (s middleware) observe(ctx context.Context, method string, rec *record, status int, took time.Duration) {
	if s.Observer == nil {
		return
	}
	s.Observer.Answered(ctx, Answered{
		Method: method, Route: rec.route, Status: status, Took: took, QueryID: rec.search.TraceID, Outcome: rec.search.Outcome,
	})
}
