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
	// secrets; SetConfig and FullConfig of Services know about them.
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

// Services are the external services of a book.
type Services struct{ *base }

// All returns all external services by ID. A damaged one is an error: its
// repositories would look as if no service had them.
func (b Services) All() ([]*Service, error) {
	return services.All(b.st, store.RecordRange{}, nil)
}

// Get returns the external service with an ID, or an error that is
// store.ErrNotFound.
func (b Services) Get(id uint32) (*Service, error) { return services.Get(b.st, id) }

// Add keeps an external service under a new ID.
func (b Services) Add(s Service) (*Service, error) {
	return &s, b.update(func(b *Book, c *store.Records) (err error) {
		if s.ID, err = b.next(c, "service"); err != nil {
			return err
		}
		s.Created, s.Updated = b.now(), b.now()
		return services.Put(c, s.ID, &s)
	})
}

// Declare keeps a service of the configuration file, and reports whether it
// differs from what was kept. Nodes with the same file keep one between them.
func (b Services) Declare(s Service) (out *Service, changed bool, err error) {
	err = b.update(func(b *Book, c *store.Records) error {
		all, err := b.Services.All()
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
			added.Created = b.now()
			out = &added
		case out.Kind == s.Kind && out.Config == s.Config:
			changed = false
			return nil
		default:
			out.Kind, out.Config, out.DisplayName = s.Kind, s.Config, s.DisplayName
		}
		out.Updated = b.now()
		return services.Put(c, out.ID, out)
	})
	return out, changed, err
}

// Change has f alter an external service.
func (b Services) Change(id uint32, f func(*Service) error) (*Service, error) {
	return change(b.base, services, id, func(_ *Book, _ *store.Records, s *Service) error {
		err := f(s)
		s.ID = id
		return err
	})
}

// Remove forgets an external service; its repositories are the caller's
// to remove.
func (b Services) Remove(id uint32) error {
	return b.update(func(b *Book, c *store.Records) error {
		services.Delete(c, id)
		return nil
	})
}

// SetConfig gives a service a configuration. shown is what remains of it without
// secrets; where that differs the record has the whole only sealed. With an error the
// service is as it was.
func (b Services) SetConfig(v *Service, config, shown string) error {
	kept, sealed, err := b.o.Key.seal(sealedService, config, shown)
	if err == nil {
		v.Config, v.Sealed = kept, sealed
	}
	return err
}

// FullConfig returns the configuration of a service with its secrets.
func (b Services) FullConfig(v *Service) (string, error) {
	return b.o.Key.unseal(sealedService, v.Config, v.Sealed)
}
