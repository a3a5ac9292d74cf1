package answer

import (
	"fmt"

	"github.com/trawlsearch/trawl/query"
)

// Sink receives the matches of a search. Send is called from one goroutine; an
// error it returns ends the search, a *YieldError until it is run again with its
// bookmark. The matches belong to the receiver.
type Sink interface {
	Send(matches []query.Match) error
}

// SinkFunc is a function as a Sink.
type SinkFunc func([]query.Match) error

// Send calls f.
func (f SinkFunc) Send(matches []query.Match) error { return f(matches) }

// YieldError is the error with which Sink.Send has the search yield: end now, and
// go on later from its bookmark.
type YieldError struct {
	// Delivered is how many of the matches the sink took.
	Delivered int
}

// Error says that the search is to go on later.
func (e *YieldError) Error() string {
	return fmt.Sprintf("search yielded after %d matches of a batch", e.Delivered)
}
