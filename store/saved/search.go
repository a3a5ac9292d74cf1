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

// Searches returns all saved searches by ID, but for damaged ones.
func (b *Book) Searches() ([]*Search, error) {
	return searches.All(b.st, store.RecordRange{}, b.leaveOut)
}

// EachSearch calls f with all saved searches by ID, but for damaged ones.
func (b *Book) EachSearch(f func(*Search)) error {
	return searches.Each(b.st, store.RecordRange{}, b.leaveOut, func(_ uint32, s *Search) (bool, error) {
		f(s)
		return true, nil
	})
}

// Search returns the saved search with an ID, or an error that is
// store.ErrNotFound.
func (b *Book) Search(id uint32) (*Search, error) { return searches.Get(b.st, id) }

// AddSearch keeps a search under a new ID.
func (b *Book) AddSearch(s Search) (*Search, error) {
	return &s, b.update(func(b *Book, c *store.Records) (err error) {
		if s.ID, err = b.next(c, "search"); err != nil {
			return err
		}
		s.Created, s.Updated = b.now().UTC(), b.now().UTC()
		return searches.Put(c, s.ID, &s)
	})
}

// ChangeSearch has change alter the saved search with an ID.
func (b *Book) ChangeSearch(id uint32, change func(*Search)) (s *Search, err error) {
	err = b.update(func(b *Book, c *store.Records) error {
		if s, err = b.Search(id); err != nil {
			return err
		}
		change(s)
		s.ID, s.Updated = id, b.now().UTC()
		return searches.Put(c, id, s)
	})
	return s, err
}

// RemoveSearch forgets a saved search, with its monitor.
func (b *Book) RemoveSearch(id uint32) error {
	return b.update(func(b *Book, c *store.Records) error {
		searches.Delete(c, id)
		return b.removeMonitor(c, id)
	})
}
