package saved

import (
	"time"

	"github.com/trawlsearch/trawl/store"
)

// Service is an external service: a code host that lists repositories.
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

// Services returns all external services by ID. A damaged one is an error: its
// repositories would look as if no service had them.
func (b *Book) Services() ([]*Service, error) {
	return services.All(b.st, store.RecordRange{}, nil)
}

// Service returns the external service with an ID, or an error that is
// store.ErrNotFound.
func (b *Book) Service(id uint32) (*Service, error) { return services.Get(b.st, id) }

// AddService keeps an external service under a new ID.
func (b *Book) AddService(s Service) (*Service, error) {
	return &s, b.update(func(b *Book, c *store.Records) (err error) {
		if s.ID, err = b.next(c, "service"); err != nil {
			return err
		}
		s.Created, s.Updated = b.now().UTC(), b.now().UTC()
		return services.Put(c, s.ID, &s)
	})
}

// ChangeService has change alter an external service.
func (b *Book) ChangeService(id uint32, change func(*Service)) (s *Service, err error) {
	err = b.update(func(b *Book, c *store.Records) error {
		if s, err = b.Service(id); err != nil {
			return err
		}
		change(s)
		s.ID = id
		return services.Put(c, id, s)
	})
	return s, err
}

// RemoveService forgets an external service; its repositories are the caller's
// to remove.
func (b *Book) RemoveService(id uint32) error {
	return b.update(func(b *Book, c *store.Records) error {
		services.Delete(c, id)
		return nil
	})
}
