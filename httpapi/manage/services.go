package manage

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/saved"
)

// ServiceHosts asks external services.
type ServiceHosts interface {
	// SyncService has an external service asked soon.
	SyncService(id uint32)
	// RemoveService forgets an external service, and the repositories that only
	// it has.
	RemoveService(ctx context.Context, id uint32) error
	// PreviewService asks a service, which need not be one of the book, and returns what
	// that would change.
	PreviewService(ctx context.Context, v *saved.Service) (ServicePreview, error)
}

// ServicePreview is what asking a service would change, by the names of repositories.
type ServicePreview struct {
	Added, Renamed, Changed, Hidden, Removed []string
	// Warnings describe what cannot be taken or read.
	Warnings []string
}

// Services are the external services, for site admins.
type Services struct {
	*Kept
	Hosts ServiceHosts
	Actor *auth.Actor
}

const (
	actionServiceAdd    = "service.add"
	actionServiceUpdate = "service.update"
	actionServiceDelete = "service.delete"
)

// maxDisplayName is how many bytes the name of a service has at most.
const maxDisplayName = 255

// previewTimeout is how long a host may take for a preview.
const previewTimeout = time.Minute

// ErrNoService says that there is no such service.
const ErrNoService = notFound("external service not found")

// All returns all services by ID.
func (s *Services) All() ([]*saved.Service, error) {
	if err := auth.RequireSiteAdmin(s.Actor); err != nil {
		return nil, err
	}
	return s.Book.Services.All()
}

// With returns those that have a repository.
func (s *Services) With(repository uint32) ([]*saved.Service, error) {
	all, err := s.All()
	return slices.DeleteFunc(all, func(v *saved.Service) bool { return !slices.Contains(v.Repositories, repository) }), err
}

// Find returns a service, or ErrNoService.
func (s *Services) Find(id uint32) (*saved.Service, error) {
	if err := auth.RequireSiteAdmin(s.Actor); err != nil {
		return nil, err
	}
	v, err := s.Book.Services.Get(id)
	if isNotFound(err) {
		err = ErrNoService
	}
	return v, err
}

func checkDisplayName(name string) error {
	if strings.TrimSpace(name) == "" || len(name) > maxDisplayName {
		return refuse("the display name is empty or longer than %d bytes", maxDisplayName)
	}
	return nil
}

// newService is one that is not kept yet.
func (s *Services) newService(kind, config string) (*saved.Service, error) {
	if err := auth.RequireSiteAdmin(s.Actor); err != nil {
		return nil, err
	}
	if _, err := hosts.ParseConfig(kind, config); err != nil {
		return nil, refuse("%s", err.Error())
	}
	if _, err := hosts.Restore(config, "{}"); err != nil {
		return nil, refuse("%s", err.Error())
	}
	return &saved.Service{Kind: kind, Creator: s.Actor.UserID(), Updater: s.Actor.UserID()}, nil
}

// Add keeps a service, which is asked in a moment.
func (s *Services) Add(kind, name, config string) (*saved.Service, error) {
	if err := auth.RequireSiteAdmin(s.Actor); err != nil {
		return nil, err
	}
	if err := checkDisplayName(name); err != nil {
		return nil, err
	}
	added, err := s.newService(kind, config)
	if err != nil {
		return nil, err
	}
	added.DisplayName = name
	if err := s.Book.Services.SetConfig(added, config, hosts.Redact(config)); err != nil {
		return nil, refuse("%s", err.Error())
	}
	v, err := s.Book.Services.Add(*added)
	if err != nil {
		return nil, err
	}
	s.Hosts.SyncService(v.ID)
	return v, s.log(actionServiceAdd, v)
}

var errDeclared = refuse("this service is declared in the configuration file: change it there")

// Change gives a service another name or configuration; nil leaves either as it is. In a
// configuration the word for secrets stands for those that the service has. The service is
// asked again. The error of unchanged, which gets the service as it is, leaves it so; nil
// has none.
func (s *Services) Change(id uint32, name, config *string, unchanged func(*saved.Service) error) (*saved.Service, error) {
	found, err := s.Find(id)
	if err != nil {
		return nil, err
	}
	if name != nil {
		if err := checkDisplayName(*name); err != nil {
			return nil, err
		}
	}
	if found.Declared != "" {
		return nil, errDeclared
	}
	v, err := s.Book.Services.Change(id, func(v *saved.Service) error {
		if unchanged != nil {
			if err := unchanged(v); err != nil {
				return err
			}
		}
		if name != nil {
			v.DisplayName = *name
		}
		v.Updated, v.Updater = s.Now().UTC(), s.Actor.UserID()
		if config == nil {
			return nil
		}
		return s.setConfig(v, *config)
	})
	if err != nil {
		return nil, err
	}
	s.Hosts.SyncService(v.ID)
	return v, s.log(actionServiceUpdate, v)
}

func (s *Services) setConfig(v *saved.Service, config string) error {
	if _, err := hosts.ParseConfig(v.Kind, config); err != nil {
		return refuse("%s", err.Error())
	}
	old, err := s.Book.Services.FullConfig(v)
	if err != nil {
		old = "{}" // the secrets are lost, and have to be written again
	}
	if config, err = hosts.Restore(config, old); err != nil {
		return refuse("%s", err.Error())
	}
	if err := s.Book.Services.SetConfig(v, config, hosts.Redact(config)); err != nil {
		return refuse("%s", err.Error())
	}
	return nil
}

// Remove forgets a service and what only it has. One of the configuration file stays: it
// would come back.
func (s *Services) Remove(ctx context.Context, id uint32) error {
	v, err := s.Find(id)
	if err == nil && v.Declared != "" {
		err = errDeclared
	}
	if err == nil {
		err = s.Hosts.RemoveService(ctx, id)
	}
	if err != nil {
		return err
	}
	return s.log(actionServiceDelete, v)
}

// Sync has a service asked out of turn.
func (s *Services) Sync(id uint32) error {
	v, err := s.Find(id)
	if err == nil {
		s.Hosts.SyncService(v.ID)
	}
	return err
}

// PreviewNew asks a host what a service that is not kept would have.
func (s *Services) PreviewNew(ctx context.Context, kind, config string) (ServicePreview, error) {
	v, err := s.newService(kind, config)
	if err != nil {
		return ServicePreview{}, err
	}
	v.Config = config // it is kept for as long as this request
	return s.preview(ctx, v)
}

// Preview asks a host what a service has, with another configuration if that is not nil.
func (s *Services) Preview(ctx context.Context, id uint32, config *string) (ServicePreview, error) {
	found, err := s.Find(id)
	if err != nil {
		return ServicePreview{}, err
	}
	v := *found
	if config != nil {
		v.Declared = ""
		if err := s.setConfig(&v, *config); err != nil {
			return ServicePreview{}, err
		}
	}
	return s.preview(ctx, &v)
}

func (s *Services) preview(ctx context.Context, v *saved.Service) (ServicePreview, error) {
	ctx, cancel := context.WithTimeout(ctx, previewTimeout)
	defer cancel()
	p, err := s.Hosts.PreviewService(ctx, v)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return p, refuse("the host took longer than %s", previewTimeout)
	case err != nil:
		return p, refuse("%s", redact.Text(err.Error()))
	}
	return p, nil
}

func (s *Services) log(action string, v *saved.Service) error {
	return s.Registry.Log(s.Actor.Author(), action, "service:"+v.DisplayName, "")
}
