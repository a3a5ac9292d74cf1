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
	// Config is JSON with comments. Sealed is the whole of it where Config lacks
	// secrets; Book.SetConfig and Book.FullConfig know about them.
	Config string `json:"config"`
	Sealed []byte `json:"sealed,omitempty"`
	// Declared is what the configuration file calls the service, "" for one that was
	// added over the API. Its secrets are in the file, or where that says.
	Declared string    `json:"declared,omitempty"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
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

// DeclareService keeps a service of the configuration file, and reports whether it
// differs from what was kept. Nodes with the same file keep one between them.
func (b *Book) DeclareService(s Service) (out *Service, changed bool, err error) {
	err = b.update(func(b *Book, c *store.Records) error {
		all, err := b.Services()
		if err != nil {
			return err
		}
		out, changed = nil, true
		for _, v := range all {
			if v.Declared == s.Declared {
				out = v
			}
		}
		switch {
		case out == nil:
			added := s
			if added.ID, err = b.next(c, "service"); err != nil {
				return err
			}
			added.Created = b.now().UTC()
			out = &added
		case out.Kind == s.Kind && out.Config == s.Config:
			changed = false
			return nil
		default:
			out.Kind, out.Config, out.DisplayName = s.Kind, s.Config, s.DisplayName
		}
		out.Updated = b.now().UTC()
		return services.Put(c, out.ID, out)
	})
	return out, changed, err
}

// ChangeService has change alter an external service.
func (b *Book) ChangeService(id uint32, change func(*Service) error) (s *Service, err error) {
	err = b.update(func(b *Book, c *store.Records) error {
		if s, err = b.Service(id); err != nil {
			return err
		}
		if err := change(s); err != nil {
			return err
		}
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
