package account

import (
	"context"
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/httpapi/hooks"
	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/saved"
)

// Services asks external services.
type Services interface {
	// SyncService has an external service asked soon.
	SyncService(id uint32)
	// RemoveService forgets an external service, and the repositories that only
	// it has.
	RemoveService(ctx context.Context, id uint32) error
	// PreviewService asks a service, which need not be one of the book, and returns what
	// that would change.
	PreviewService(ctx context.Context, v *saved.Service) (ServicePreview, error)
}

const (
	actionServiceAdd    = "service.add"
	actionServiceUpdate = "service.update"
	actionServiceDelete = "service.delete"
)

// externalService is the type ExternalService.
type externalService struct {
	s *Session
	v *saved.Service
}

func (e *externalService) ID() graphql.ID             { return wire.NewID(wire.KindService, e.v.ID) }
func (e *externalService) Kind() string               { return e.v.Kind }
func (e *externalService) DisplayName() string        { return e.v.DisplayName }
func (e *externalService) Config() wire.Text          { return wire.Text(hosts.Redact(e.v.Config)) }
func (e *externalService) CreatedAt() wire.DateTime   { return wire.DateTime{Time: e.v.Created} }
func (e *externalService) UpdatedAt() wire.DateTime   { return wire.DateTime{Time: e.v.Updated} }
func (e *externalService) RepoCount() int32           { return wire.Int32(len(e.v.Repositories)) }
func (e *externalService) LastSyncAt() *wire.DateTime { return wire.TimeOrNull(e.v.LastSync) }
func (e *externalService) NextSyncAt() *wire.DateTime { return nil }
func (e *externalService) Suspended() bool            { return false }
func (e *externalService) LastSyncError() *string {
	return wire.TextOrNull(redact.Text(e.v.LastError))
}
func (e *externalService) Warning() *string { return wire.TextOrNull(redact.Text(e.v.Warning)) }

// Unrestricted says that all users may see the repositories, but where readers are set.
func (e *externalService) Unrestricted() bool {
	c, err := hosts.ParseDeclared(e.v.Kind, e.v.Config)
	return err != nil || !c.TakesReaders()
}

// WebhookURL is null for a service without secrets of webhooks.
func (e *externalService) WebhookURL() *string {
	c, err := hosts.ParseDeclared(e.v.Kind, e.v.Config)
	if err != nil || !c.TakesHooks() {
		return nil
	}
	return new(e.s.Base + hooks.PathOf(e.v.ID))
}

// Creator is null for the operator, and for who is gone.
func (e *externalService) Creator() (*User, error) { return e.s.UserByID(e.v.Creator) }

// LastUpdater is null for the operator, and for who is gone.
func (e *externalService) LastUpdater() (*User, error) { return e.s.UserByID(e.v.Updater) }

// URL is without credentials.
func (e *externalService) URL() string {
	c, err := hosts.ParseDeclared(e.v.Kind, e.v.Config)
	if err != nil || c.URL == nil {
		return ""
	}
	return redact.URL(c.URL.String())
}

// ServiceConnection is the type ExternalServiceConnection.
type ServiceConnection struct {
	Nodes      []*externalService
	TotalCount int32
	PageInfo   wire.ForwardPage
}

// ExternalServices lists them, for site admins.
func (*Root) ExternalServices(ctx context.Context, args struct {
	wire.ForwardArgs
	Repo *graphql.ID
}) (*ServiceConnection, error) {
	s := Of(ctx)
	if err := s.MustAdminNow(); err != nil {
		return nil, err
	}
	repo := uint32(0)
	if args.Repo != nil {
		var err error
		if repo, err = wire.NumberOf(*args.Repo, wire.KindRepository); err != nil {
			return nil, err
		}
	}
	return s.ServicesOf(repo, args.ForwardArgs)
}

// ServicesOf lists those that have a repository, 0 being any.
func (s *Session) ServicesOf(repo uint32, args wire.ForwardArgs) (*ServiceConnection, error) {
	all, err := s.Book.Services.All()
	if err != nil {
		return nil, err
	}
	nodes := []*externalService{}
	for _, v := range all {
		if repo == 0 || slices.Contains(v.Repositories, repo) {
			nodes = append(nodes, &externalService{s, v})
		}
	}
	p, err := wire.CutByIndex(len(nodes), cost.MaxServices, args.Both())
	if err != nil {
		return nil, err
	}
	return &ServiceConnection{nodes[p.From:p.To], wire.Int32(len(nodes)), wire.ForwardPage{Page: p}}, nil
}

// serviceOf finds one by its global id, for site admins; nil is none.
func (s *Session) serviceOf(id graphql.ID) (*externalService, error) {
	n, err := wire.NumberOf(id, wire.KindService)
	if err != nil || !s.Actor.SiteAdmin() {
		return nil, err
	}
	v, err := s.Book.Services.Get(n)
	if IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &externalService{s, v}, nil
}

// serviceMutation finds the external service of a mutation.
func (s *Session) serviceMutation(ctx context.Context, id graphql.ID) (*externalService, error) {
	if err := s.MustAdminNow(); err != nil {
		return nil, err
	}
	found, err := s.serviceOf(id)
	if err == nil && found == nil {
		err = wire.Refuse("external service not found")
	}
	return found, err
}

// OfService keeps the repositories that an external service has.
func (s *Session) OfService(all []*store.Repository, id *graphql.ID) ([]*store.Repository, error) {
	if id == nil {
		return all, nil
	}
	n, err := wire.NumberOf(*id, wire.KindService)
	if err != nil {
		return nil, err
	}
	v, err := s.Book.Services.Get(n)
	if IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(r *store.Repository) bool { return !slices.Contains(v.Repositories, r.ID) }), nil
}

func (s *Session) auditService(action string, v *saved.Service) error {
	return s.Registry.Log(s.Actor.Author(), action, "service:"+v.DisplayName, "")
}

const maxDisplayName = 255

func checkDisplayName(name string) error {
	if strings.TrimSpace(name) == "" || len(name) > maxDisplayName {
		return wire.Refuse("the display name is empty or longer than %d bytes", maxDisplayName)
	}
	return nil
}

// AddExternalService keeps a service, which is asked in a moment.
func (*Root) AddExternalService(ctx context.Context, args struct {
	Input struct {
		Kind, DisplayName, Config string
		Namespace                 *graphql.ID
	}
}) (*externalService, error) {
	s := Of(ctx)
	if err := s.MustAdminNow(); err != nil {
		return nil, err
	}
	if err := checkDisplayName(args.Input.DisplayName); err != nil {
		return nil, err
	}
	if _, err := hosts.ParseConfig(args.Input.Kind, args.Input.Config); err != nil {
		return nil, wire.Permit(err)
	}
	if _, err := hosts.Restore(args.Input.Config, "{}"); err != nil {
		return nil, wire.Permit(err)
	}
	added := saved.Service{Kind: args.Input.Kind, DisplayName: args.Input.DisplayName, Creator: s.Actor.UserID(), Updater: s.Actor.UserID()}
	if err := s.Book.Services.SetConfig(&added, args.Input.Config, hosts.Redact(args.Input.Config)); err != nil {
		return nil, wire.Permit(err)
	}
	v, err := s.Book.Services.Add(added)
	if err != nil {
		return nil, Told(err)
	}
	s.Services.SyncService(v.ID)
	return &externalService{s, v}, s.auditService(actionServiceAdd, v)
}

// UpdateExternalService changes a service, which is asked again.
func (*Root) UpdateExternalService(ctx context.Context, args struct {
	Input struct {
		ID                  graphql.ID
		DisplayName, Config wire.String
	}
}) (*externalService, error) {
	s := Of(ctx)
	found, err := s.serviceMutation(ctx, args.Input.ID)
	if err != nil {
		return nil, err
	}
	if err := checkDisplayName(args.Input.DisplayName.Or(found.v.DisplayName)); err != nil {
		return nil, err
	}
	if found.v.Declared != "" {
		return nil, wire.Refuse("this service is declared in the configuration file: change it there")
	}
	v, err := s.Book.Services.Change(found.v.ID, func(v *saved.Service) error {
		v.DisplayName, v.Updated, v.Updater = args.Input.DisplayName.Or(v.DisplayName), s.Now().UTC(), s.Actor.UserID()
		if args.Input.Config.Value == nil {
			return nil
		}
		return s.setServiceConfig(v, *args.Input.Config.Value)
	})
	if err != nil {
		return nil, Told(err)
	}
	s.Services.SyncService(v.ID)
	return &externalService{s, v}, s.auditService(actionServiceUpdate, v)
}

// setServiceConfig gives a service another configuration, in which the word for secrets
// stands for those that it has.
func (s *Session) setServiceConfig(v *saved.Service, config string) error {
	if _, err := hosts.ParseConfig(v.Kind, config); err != nil {
		return wire.Permit(err)
	}
	old, err := s.Book.Services.FullConfig(v)
	if err != nil {
		old = "{}" // the secrets are lost, and have to be written again
	}
	if config, err = hosts.Restore(config, old); err != nil {
		return wire.Permit(err)
	}
	if err := s.Book.Services.SetConfig(v, config, hosts.Redact(config)); err != nil {
		return wire.Permit(err)
	}
	return nil
}

// DeleteExternalService forgets a service and what only it has.
func (*Root) DeleteExternalService(ctx context.Context, args struct {
	ExternalService graphql.ID
	Async           wire.Bool
}) (*wire.Empty, error) {
	s := Of(ctx)
	found, err := s.serviceMutation(ctx, args.ExternalService)
	if err != nil {
		return nil, err
	}
	if err := s.Services.RemoveService(ctx, found.v.ID); err != nil {
		return nil, Told(err)
	}
	s.Renew()
	return &wire.Empty{}, s.auditService(actionServiceDelete, found.v)
}

// SyncExternalService asks a service out of turn.
func (*Root) SyncExternalService(ctx context.Context, args struct{ ID graphql.ID }) (*wire.Empty, error) {
	s := Of(ctx)
	found, err := s.serviceMutation(ctx, args.ID)
	if err != nil {
		return nil, err
	}
	s.Services.SyncService(found.v.ID)
	return &wire.Empty{}, nil
}
