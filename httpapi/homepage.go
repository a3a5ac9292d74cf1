package httpapi

import "time"

// Home is what the search page shows before anything is searched, of what its
// reader may see.
type Home struct {
	// SetUp says that there is no user yet, SiteAdmin that the reader is one.
	SetUp, SiteAdmin bool
	Recent           []HomeRepository
	Examples         []Example
	Indexing         HomeIndexing
}

// Example is a query to begin with.
type Example struct{ Query, About string }

// HomeRepository is one of the repositories that were indexed last.
type HomeRepository struct {
	Name, Path, Description string
	Documents               int
	Indexed                 time.Time
}

// HomeIndexing tells how far indexing is.
type HomeIndexing struct {
	Repositories int `json:"repositories"`
	Indexed      int `json:"indexed"`
	// Waiting are those that have never been indexed, Failing those whose last sync
	// failed.
	Waiting int        `json:"waiting"`
	Failing int        `json:"failing"`
	Running []HomeSync `json:"running,omitempty"`
}

// HomeSync is a sync at work. Total is 0 in phases whose end is not known.
type HomeSync struct {
	Name  string `json:"name"`
	Phase string `json:"phase"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

// Busy reports whether there is progress to show.
func (h HomeIndexing) Busy() bool { return h.Waiting > 0 || len(h.Running) > 0 }

// Words says what a sync does now.
func (s HomeSync) Words() string {
	switch s.Phase {
	case "", "fetch":
		return "fetching"
	case "index":
		return "indexing"
	case "commit":
		return "writing"
	case "wait":
		return "waiting for memory or for another repository"
	}
	return "comparing with what is indexed"
}
