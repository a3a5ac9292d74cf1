package saved

import (
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// Search is a query that somebody keeps to run it again.
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

func (s *Search) number() uint32 { return s.ID }

// Searches returns all saved searches by ID.
func (b *Book) Searches() ([]*Search, error) {
	return sound[Search](b, store.RecordSavedSearch)
}

// Search returns the saved search with an ID, or an error that is
// store.ErrNotFound.
func (b *Book) Search(id uint32) (*Search, error) {
	s, err := get[Search](b, store.RecordSavedSearch, id4(id))
	if err != nil {
		return nil, fmt.Errorf("saved search %d: %w", id, err)
	}
	return s, nil
}

// AddSearch keeps a search under a new ID.
func (b *Book) AddSearch(s Search) (*Search, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.st.BeginRecords()
	var err error
	if s.ID, err = b.next(&c, "search"); err != nil {
		return nil, err
	}
	s.Created, s.Updated = b.now().UTC(), b.now().UTC()
	if err := put(&c, store.RecordSavedSearch, id4(s.ID), s); err != nil {
		return nil, err
	}
	return &s, b.st.CommitRecords(&c)
}

// ChangeSearch has change alter the saved search with an ID.
func (b *Book) ChangeSearch(id uint32, change func(*Search)) (*Search, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.st.BeginRecords()
	s, err := b.Search(id)
	if err != nil {
		return nil, err
	}
	change(s)
	s.ID, s.Updated = id, b.now().UTC()
	if err := put(&c, store.RecordSavedSearch, id4(id), s); err != nil {
		return nil, err
	}
	return s, b.st.CommitRecords(&c)
}

// RemoveSearch forgets a saved search.
func (b *Book) RemoveSearch(id uint32) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.st.BeginRecords()
	c.Delete(store.RecordSavedSearch, id4(id))
	return b.st.CommitRecords(&c)
}
