package target

import (
	"sync"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/store"
)

// Shown is what matches carry of repositories, the same for all basic queries of a
// search. It is safe for concurrent use.
type Shown struct {
	mu   sync.Mutex // guards byID
	byID map[uint32]*query.Repository
}

// NewShown returns what matches of a search carry, which is made when it is asked for.
func NewShown() *Shown { return &Shown{byID: map[uint32]*query.Repository{}} }

// Of returns what matches carry of a repository, always the same.
func (s *Shown) Of(r *store.Repository) *query.Repository {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[r.ID] == nil {
		s.byID[r.ID] = &query.Repository{
			ID: r.ID, Name: r.Name, Stars: r.Stars, LastFetched: r.Fetched(), Description: r.Description,
			Fork: r.Fork, Archived: r.Archived, Private: r.Private, Topics: r.Topics, Metadata: r.Metadata,
		}
	}
	return s.byID[r.ID]
}
