package account

import (
	"context"
	"slices"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/httpapi/hooks"
	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/saved"
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
	of := s.services()
	all, err := of.All()
	if repo != 0 {
		all, err = of.With(repo)
	}
	if err != nil {
		return nil, Told(err)
	}
	nodes := make([]*externalService, len(all))
	for i, v := range all {
		nodes[i] = &externalService{s, v}
	}
	p, err := wire.CutByIndex(len(nodes), cost.MaxServices, args.Both())
	if err != nil {
		return nil, err
	}
	return &ServiceConnection{nodes[p.From:p.To], wire.Int32(len(nodes)), wire.ForwardPage{Page: p}}, nil
}

func (s *Session) services() *manage.Services {
	return &manage.Services{Kept: s.Kept(), Hosts: s.Services, Actor: s.Actor}
}

// serviceOf finds one by its global id, for site admins; nil is none.
func (s *Session) serviceOf(id graphql.ID) (*externalService, error) {
	n, err := wire.NumberOf(id, wire.KindService)
	if err != nil || !s.Actor.SiteAdmin() {
		return nil, err
	}
	v, err := s.services().Find(n)
	if IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &externalService{s, v}, nil
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

// AddExternalService keeps a service, which is asked in a moment.
func (*Root) AddExternalService(ctx context.Context, args struct {
	Input struct {
		Kind, DisplayName, Config string
		Namespace                 *graphql.ID
	}
}) (*externalService, error) {
	s := Of(ctx)
	v, err := s.services().Add(args.Input.Kind, args.Input.DisplayName, args.Input.Config)
	if err != nil {
		return nil, Told(err)
	}
	return &externalService{s, v}, nil
}

// UpdateExternalService changes a service, which is asked again.
func (*Root) UpdateExternalService(ctx context.Context, args struct {
	Input struct {
		ID                  graphql.ID
		DisplayName, Config wire.String
	}
}) (*externalService, error) {
	s := Of(ctx)
	id, err := s.serviceID(args.Input.ID)
	if err != nil {
		return nil, err
	}
	v, err := s.services().Change(id, args.Input.DisplayName.Value, args.Input.Config.Value, nil)
	if err != nil {
		return nil, Told(err)
	}
	return &externalService{s, v}, nil
}

// serviceID is the number of the service of a mutation, for site admins.
func (s *Session) serviceID(id graphql.ID) (uint32, error) {
	if err := s.MustAdminNow(); err != nil {
		return 0, err
	}
	return wire.NumberOf(id, wire.KindService)
}

// DeleteExternalService forgets a service and what only it has.
func (*Root) DeleteExternalService(ctx context.Context, args struct {
	ExternalService graphql.ID
	Async           wire.Bool
}) (*wire.Empty, error) {
	s := Of(ctx)
	id, err := s.serviceID(args.ExternalService)
	if err == nil {
		err = Told(s.services().Remove(ctx, id))
		s.Renew()
	}
	if err != nil {
		return nil, err
	}
	return &wire.Empty{}, nil
}

// SyncExternalService asks a service out of turn.
func (*Root) SyncExternalService(ctx context.Context, args struct{ ID graphql.ID }) (*wire.Empty, error) {
	s := Of(ctx)
	id, err := s.serviceID(args.ID)
	if err == nil {
		err = Told(s.services().Sync(id))
	}
	if err != nil {
		return nil, err
	}
	return &wire.Empty{}, nil
}
