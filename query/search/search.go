package search

import (
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
)

// Options are the parts of a request that are not in the query text.
type Options struct {
	// ContextLines is how many lines around a match its chunk carries.
	ContextLines int
	// Display is the most results sent to the sink; negative is no limit.
	Display int
	// DefaultCount is the count limit of a query that names none; 0 is 10000.
	DefaultCount int
	// Debug asks for a ranking explanation on each match.
	Debug bool
	// Visible reports which repositories exist for the client; nil is all.
	// The others leave no trace in the answer.
	Visible func(*store.Repository) bool
	// PublicVisible says that Visible is true of every repository without readers.
	// Then a search asks it about the others only.
	PublicVisible bool
	// Only, if not 0, is the ID of the one repository that may exist for the client.
	Only uint32
	// Contexts returns what the search context of a name stands for to the client:
	// alternatives of filters that all hold, none for a context that does not exist. nil
	// knows that of all repositories only.
	Contexts func(name string) ([][]query.Filter, error)
	// Report, if set, is kept up to date while the search runs.
	Report *report.Report
	// Trace, if set, records the work.
	Trace *report.Trace
	// ID names the search for an observer, "" if it has no name.
	ID string
	// Asker names the client, for a fair order of waiting searches.
	Asker string
	// Bookmark, if set, is where the search begins, and is moved when its sink
	// yields; without one a sink does not.
	Bookmark *Bookmark
}

// AskedBy sets for whom the search is: client names them, and visible reports which
// repositories exist for them, nil for all. It is true of those without readers.
func (o *Options) AskedBy(client string, visible func(*store.Repository) bool) {
	o.Asker, o.Visible, o.PublicVisible = client, visible, visible != nil
}

// Outcome is how a search ended. Both fields nil is the usual case; limits and
// timeouts are in the Report, not here.
type Outcome struct {
	Alert *query.Alert
	Err   error
}
