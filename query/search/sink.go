package search

import "github.com/trawlsearch/trawl/query"

// Sink receives what a search confirms. Send is called from one goroutine; an
// error it returns ends the search, a *YieldError until it is run again with its
// bookmark. The matches belong to the receiver.
type Sink interface {
	Send(matches []query.Match) error
}

// SinkFunc is a function as a Sink.
type SinkFunc func([]query.Match) error

// Send calls f.
func (f SinkFunc) Send(matches []query.Match) error { return f(matches) }
