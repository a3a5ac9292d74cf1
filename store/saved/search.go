package saved

import (
	"time"

	"github.com/trawlsearch/trawl/store"
)

// Search is a query that a user keeps to run it again.
type Search struct {
	// ID is never used again.
	ID          uint32 `json:"id"`
	Description string `json:"description"`
	Query       string `json:"query"`
	// Owner is a user or an organisation.
	Owner   Subject   `json:"owner"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// Searches are the saved searches of a book.
type Searches struct{ *base }

// All returns all saved searches by ID, but for damaged ones.
func (b Searches) All() ([]*Search, error) {
	return searches.All(b.st, store.RecordRange{}, b.o.Damaged)
}

// Each calls f with all saved searches by ID, but for damaged ones.
func (b Searches) Each(f func(*Search)) error { return each(b.base, searches, f) }

// Get returns the saved search with an ID, or an error that is
// store.ErrNotFound.
func (b Searches) Get(id uint32) (*Search, error) { return searches.Get(b.st, id) }

// Add keeps a search under a new ID.
func (b Searches) Add(s Search) (*Search, error) {
	return &s, b.update(func(b *Book, c *store.Records) (err error) {
		if s.ID, err = b.next(c, "search"); err != nil {
			return err
		}
		s.Created, s.Updated = b.now(), b.now()
		return searches.Put(c, s.ID, &s)
	})
}

// Change has f alter the saved search with an ID.
func (b Searches) Change(id uint32, f func(*Search)) (*Search, error) {
	return change(b.base, searches, id, func(b *Book, _ *store.Records, s *Search) error {
		f(s)
		s.ID, s.Updated = id, b.now()
		return nil
	})
}

// Remove forgets a saved search, with its monitor.
func (b Searches) Remove(id uint32) error {
	return b.update(func(b *Book, c *store.Records) error {
		searches.Delete(c, id)
		return b.Monitors.remove(c, id)
	})
}
