package saved

import (
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// Service is an external service: a place that tells which repositories there
// are.
type Service struct {
	// ID is never used again.
	ID          uint32 `json:"id"`
	Kind        string `json:"kind"`
	DisplayName string `json:"displayName"`
	// Config is JSON with comments; it may hold credentials.
	Config  string    `json:"config"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	// Creator and Updater are IDs of users, 0 for the operator.
	Creator uint32 `json:"creator,omitempty"`
	Updater uint32 `json:"updater,omitempty"`
	// LastSync is when it was last asked, LastError why that failed, empty after
	// a success. Warning is what did not go well although it answered.
	LastSync  time.Time `json:"lastSync,omitzero"`
	LastError string    `json:"lastError,omitempty"`
	Warning   string    `json:"warning,omitempty"`
	// Repositories are the IDs of those that it has.
	Repositories []uint32 `json:"repositories,omitempty"`
}

// Services returns all external services by ID.
func (b *Book) Services() ([]*Service, error) {
	return all[Service](b, store.RecordRange{Kind: store.RecordService})
}

// Service returns the external service with an ID, or an error that is
// store.ErrNotFound.
func (b *Book) Service(id uint32) (*Service, error) {
	s, err := get[Service](b, store.RecordService, id4(id))
	if err != nil {
		return nil, fmt.Errorf("external service %d: %w", id, err)
	}
	return s, nil
}

// AddService keeps an external service under a new ID.
func (b *Book) AddService(s Service) (*Service, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.st.BeginRecords()
	var err error
	if s.ID, err = b.next(&c, "service"); err != nil {
		return nil, err
	}
	s.Created, s.Updated = b.now().UTC(), b.now().UTC()
	if err := put(&c, store.RecordService, id4(s.ID), s); err != nil {
		return nil, err
	}
	return &s, b.st.CommitRecords(&c)
}

// ChangeService has change alter an external service.
func (b *Book) ChangeService(id uint32, change func(*Service)) (*Service, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.st.BeginRecords()
	s, err := b.Service(id)
	if err != nil {
		return nil, err
	}
	change(s)
	s.ID = id
	if err := put(&c, store.RecordService, id4(id), s); err != nil {
		return nil, err
	}
	return s, b.st.CommitRecords(&c)
}

// RemoveService forgets an external service; its repositories are the caller's
// to remove.
func (b *Book) RemoveService(id uint32) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.st.BeginRecords()
	c.Delete(store.RecordService, id4(id))
	return b.st.CommitRecords(&c)
}
