package graphql

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/account"
	"github.com/trawlsearch/trawl/httpapi/graphql/gitobject"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/saved"
)

// searchContext is the type SearchContext. v is nil for that of all repositories.
type searchContext struct {
	s      *session
	v      *saved.Context
	spec   string
	choice *saved.ContextChoice
}

// contexts returns the search contexts of the client.
func (s *session) contexts() *manage.Contexts {
	return &manage.Contexts{Kept: s.Kept(), Actor: s.Actor}
}

// newContext returns nil for a context that has lost its owner.
func (s *session) newContext(v *saved.Context) (*searchContext, error) {
	choice, err := s.contexts().Choice(s.Actor.UserID())
	if err != nil {
		return nil, err
	}
	if v == nil {
		return &searchContext{s, nil, manage.GlobalContext, choice}, nil
	}
	spec, err := s.contexts().Spec(v)
	if err != nil || spec == "" {
		return nil, err
	}
	return &searchContext{s, v, spec, choice}, nil
}

// contextOf finds the one of a spec; nil is none, or one that may not be seen.
func (s *session) contextOf(spec string) (*searchContext, error) {
	if spec == manage.GlobalContext {
		return s.newContext(nil)
	}
	v, err := s.contexts().Find(spec)
	if account.IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.newContext(v)
}

// specOf reads the global id of a context.
func specOf(id graphql.ID) (spec string, err error) {
	return spec, wire.ReadID(id, wire.KindContext, &spec)
}

func (c *searchContext) ID() graphql.ID { return wire.NewID(wire.KindContext, c.spec) }
func (c *searchContext) Spec() string   { return c.spec }

func (c *searchContext) Name() string {
	if c.v == nil {
		return manage.GlobalContext
	}
	return c.v.Name
}

// Namespace is null for what belongs to nobody.
func (c *searchContext) Namespace() (*account.Namespace, error) {
	if c.v == nil || c.v.Owner == manage.SiteOwner {
		return nil, nil
	}
	return c.s.NamespaceOf(c.v.Owner)
}

func (c *searchContext) Description() string {
	if c.v == nil {
		return "All repositories on this server"
	}
	return c.v.Description
}

func (c *searchContext) Query() string {
	if c.v == nil {
		return ""
	}
	return c.v.Query
}

func (c *searchContext) AutoDefined() bool     { return c.v == nil }
func (c *searchContext) Public() bool          { return c.v == nil || c.v.Public }
func (c *searchContext) ViewerCanManage() bool { return c.v != nil && c.s.contexts().Manages(c.v) }
func (c *searchContext) ViewerHasAsDefault() bool {
	return c.v == nil && c.choice.Default == 0 || c.v != nil && c.choice.Default == c.v.ID
}
func (c *searchContext) ViewerHasStarred() bool {
	return c.v != nil && slices.Contains(c.choice.Starred, c.v.ID)
}

// Repositories are those that the client may see.
func (c *searchContext) Repositories() []*contextRepository {
	out := []*contextRepository{}
	if c.v == nil {
		return out
	}
	for _, r := range c.v.Repositories {
		if at := c.s.ByID(r.ID); at != nil {
			revisions := r.Revisions
			if len(revisions) == 0 {
				revisions = []string{"HEAD"}
			}
			out = append(out, &contextRepository{c.s.Repository(at), revisions})
		}
	}
	return out
}

// UpdatedAt is of that of all repositories when any was last indexed.
func (c *searchContext) UpdatedAt() wire.DateTime {
	if c.v != nil {
		return wire.DateTime{Time: c.v.Updated}
	}
	var last wire.DateTime
	for _, r := range c.s.VisibleRepositories() {
		if t := account.CreatedAt(r); t.After(last.Time) {
			last.Time = t
		}
		if r.LastIndexed.After(last.Time) {
			last.Time = r.LastIndexed
		}
	}
	return last
}

// contextRepository is the type SearchContextRepositoryRevisions.
type contextRepository struct {
	Repository *gitobject.Repository
	Revisions  []string
}

// contextConnection is the type SearchContextConnection.
type contextConnection struct {
	Nodes      []*searchContext
	TotalCount int32
	PageInfo   wire.ForwardPage
}

// SearchContexts lists those that the client may see, that of all repositories first.
func (*resolver) SearchContexts(ctx context.Context, args struct {
	wire.ForwardArgs
	Query      wire.String
	Namespaces wire.IDList
	OrderBy    wire.String
	Descending wire.Bool
}) (*contextConnection, error) {
	s := sessionOf(ctx)
	all := []*searchContext{}
	var kept []*saved.Context
	if err := s.contexts().Each(func(v *saved.Context) { kept = append(kept, v) }); err != nil {
		return nil, err
	}
	for _, v := range kept {
		found, err := s.newContext(v)
		if err != nil {
			return nil, err
		}
		if found == nil {
			continue
		}
		// What belongs to nobody is in a list of owners as null.
		owner := graphql.ID("")
		if of, err := found.Namespace(); err != nil {
			return nil, err
		} else if of != nil {
			owner = of.ID()
		}
		if shown(args.Namespaces, owner) && account.HoldsFold(found.spec, args.Query.Or("")) {
			all = append(all, found)
		}
	}
	slices.SortFunc(all, func(a, b *searchContext) int {
		c := 0
		if args.OrderBy.Or("") == "SEARCH_CONTEXT_UPDATED_AT" {
			c = a.v.Updated.Compare(b.v.Updated)
		}
		if c = cmp.Or(c, strings.Compare(a.spec, b.spec)); args.Descending.Or(false) {
			return -c
		}
		return c
	})
	if shown(args.Namespaces, "") && strings.Contains(manage.GlobalContext, strings.ToLower(args.Query.Or(""))) {
		global, err := s.newContext(nil)
		if err != nil {
			return nil, err
		}
		all = slices.Insert(all, 0, global)
	}
	p, err := wire.CutByIndex(len(all), maxRepositories, args.Both())
	if err != nil {
		return nil, err
	}
	return &contextConnection{all[p.From:p.To], wire.Int32(len(all)), wire.ForwardPage{Page: p}}, nil
}

func shown(owners wire.IDList, owner graphql.ID) bool {
	return len(owners.IDs) == 0 || slices.Contains(owners.IDs, string(owner))
}

// SearchContextBySpec finds the one that a query names.
func (*resolver) SearchContextBySpec(ctx context.Context, args struct{ Spec string }) (*searchContext, error) {
	return sessionOf(ctx).contextOf(args.Spec)
}

// IsSearchContextAvailable reports whether a query may name it.
func (*resolver) IsSearchContextAvailable(ctx context.Context, args struct{ Spec string }) (bool, error) {
	c, err := sessionOf(ctx).contextOf(args.Spec)
	return c != nil, err
}

// DefaultSearchContext is the one that the client chose, if it is still there.
func (*resolver) DefaultSearchContext(ctx context.Context) (*searchContext, error) {
	s := sessionOf(ctx)
	choice, err := s.contexts().Choice(s.Actor.UserID())
	if err != nil {
		return nil, err
	}
	if choice.Default != 0 {
		v, err := s.contexts().FindByID(choice.Default)
		if err != nil && !account.IsMissing(err) {
			return nil, err
		}
		if err == nil {
			if c, err := s.newContext(v); err != nil || c != nil {
				return c, err
			}
		}
	}
	return s.newContext(nil)
}

// contextInput has the fields of SearchContextInput and SearchContextEditInput.
type contextInput struct {
	Name, Description string
	Public            bool
	Query             wire.String
}

// contextRepositoryInput is SearchContextRepositoryRevisionsInput.
type contextRepositoryInput struct {
	RepositoryID graphql.ID
	Revisions    []string
}

func (in contextInput) fields(repositories []contextRepositoryInput) (manage.ContextFields, error) {
	f := manage.ContextFields{Name: in.Name, Description: in.Description, Query: strings.TrimSpace(in.Query.Or("")), Public: in.Public}
	for _, r := range repositories {
		n, err := wire.NumberOf(r.RepositoryID, wire.KindRepository)
		if err != nil {
			return f, err
		}
		f.Repositories = append(f.Repositories, saved.ContextRepository{ID: n, Revisions: r.Revisions})
	}
	return f, nil
}

// changedContext is the answer to a change.
func (s *session) changedContext(v *saved.Context, err error) (*searchContext, error) {
	if err != nil {
		return nil, account.Told(err)
	}
	return s.newContext(v)
}

// CreateSearchContext makes a context.
func (*resolver) CreateSearchContext(ctx context.Context, args struct {
	SearchContext struct {
		contextInput
		Namespace *graphql.ID
	}
	Repositories []contextRepositoryInput
}) (*searchContext, error) {
	s := sessionOf(ctx)
	f, err := args.SearchContext.fields(args.Repositories)
	if err != nil {
		return nil, err
	}
	owner := manage.SiteOwner
	if of := args.SearchContext.Namespace; of != nil {
		if owner, err = s.OwnerID(*of); err != nil {
			return nil, err
		}
	}
	return s.changedContext(s.contexts().Create(owner, f))
}

// UpdateSearchContext changes what a context says.
func (*resolver) UpdateSearchContext(ctx context.Context, args struct {
	ID            graphql.ID
	SearchContext contextInput
	Repositories  []contextRepositoryInput
}) (*searchContext, error) {
	s := sessionOf(ctx)
	spec, err := specOf(args.ID)
	if err != nil {
		return nil, err
	}
	f, err := args.SearchContext.fields(args.Repositories)
	if err != nil {
		return nil, err
	}
	return s.changedContext(s.contexts().Change(spec, f))
}

// onContext does something with the context of an id.
func onContext(ctx context.Context, id graphql.ID, do func(c *manage.Contexts, spec string) error) (*wire.Empty, error) {
	spec, err := specOf(id)
	if err == nil {
		err = do(sessionOf(ctx).contexts(), spec)
	}
	return &wire.Empty{}, account.Told(err)
}

// DeleteSearchContext forgets a context.
func (*resolver) DeleteSearchContext(ctx context.Context, args struct{ ID graphql.ID }) (*wire.Empty, error) {
	return onContext(ctx, args.ID, (*manage.Contexts).Delete)
}

// contextOfUser names a context and for whom it is marked or chosen.
type contextOfUser struct{ SearchContextID, UserID graphql.ID }

func (a contextOfUser) do(ctx context.Context, do func(c *manage.Contexts, user uint32, spec string) error) (*wire.Empty, error) {
	user, err := wire.NumberOf(a.UserID, wire.KindUser)
	if err != nil {
		return nil, err
	}
	return onContext(ctx, a.SearchContextID, func(c *manage.Contexts, spec string) error { return do(c, user, spec) })
}

// CreateSearchContextStar marks a context for a user.
func (*resolver) CreateSearchContextStar(ctx context.Context, args contextOfUser) (*wire.Empty, error) {
	return args.do(ctx, func(c *manage.Contexts, user uint32, spec string) error { return c.Star(user, spec, true) })
}

// DeleteSearchContextStar takes the mark away.
func (*resolver) DeleteSearchContextStar(ctx context.Context, args contextOfUser) (*wire.Empty, error) {
	return args.do(ctx, func(c *manage.Contexts, user uint32, spec string) error { return c.Star(user, spec, false) })
}

// SetDefaultSearchContext chooses the context of searches of a user that name none.
func (*resolver) SetDefaultSearchContext(ctx context.Context, args contextOfUser) (*wire.Empty, error) {
	return args.do(ctx, (*manage.Contexts).SetDefault)
}
