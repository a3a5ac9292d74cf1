package graphql

import (
	"context"
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/account"
	"github.com/trawlsearch/trawl/httpapi/graphql/gitobject"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
)

// globalContext is the one search context there is.
const globalContext = "global"

// searchContext is the type SearchContext: all repositories.
type searchContext struct{ s *session }

func (c *searchContext) ID() graphql.ID                { return wire.NewID(wire.KindContext, globalContext) }
func (c *searchContext) Name() string                  { return globalContext }
func (c *searchContext) Spec() string                  { return globalContext }
func (c *searchContext) Namespace() *account.Namespace { return nil }
func (c *searchContext) Description() string           { return "All repositories on this server" }
func (c *searchContext) AutoDefined() bool             { return true }
func (c *searchContext) Query() string                 { return "" }
func (c *searchContext) Public() bool                  { return true }
func (c *searchContext) ViewerCanManage() bool         { return false }
func (c *searchContext) ViewerHasAsDefault() bool      { return true }
func (c *searchContext) ViewerHasStarred() bool        { return false }
func (c *searchContext) Repositories() []*contextRepository {
	return []*contextRepository{}
}

// UpdatedAt is when any repository was last indexed.
func (c *searchContext) UpdatedAt() wire.DateTime {
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

// contextRepository is the type SearchContextRepositoryRevisions; the one
// context lists none.
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

// SearchContexts lists the one.
func (*resolver) SearchContexts(ctx context.Context, args struct {
	wire.ForwardArgs
	Query      wire.String
	Namespaces wire.IDList
	OrderBy    wire.String
	Descending wire.Bool
}) (*contextConnection, error) {
	all := []*searchContext{}
	// The one of all repositories has no owner, which a list shows by null.
	owned := len(args.Namespaces.IDs) == 0 || slices.Contains(args.Namespaces.IDs, "")
	if owned && strings.Contains(globalContext, strings.ToLower(args.Query.Or(""))) {
		all = append(all, &searchContext{sessionOf(ctx)})
	}
	p, err := wire.CutByIndex(len(all), maxRepositories, args.Both())
	if err != nil {
		return nil, err
	}
	return &contextConnection{all[p.From:p.To], wire.Int32(len(all)), wire.ForwardPage{Page: p}}, nil
}

// SearchContextBySpec finds the one.
func (*resolver) SearchContextBySpec(ctx context.Context, args struct{ Spec string }) *searchContext {
	if args.Spec != globalContext {
		return nil
	}
	return &searchContext{sessionOf(ctx)}
}

// IsSearchContextAvailable knows the one.
func (*resolver) IsSearchContextAvailable(args struct{ Spec string }) bool {
	return args.Spec == globalContext
}

// DefaultSearchContext is the one.
func (*resolver) DefaultSearchContext(ctx context.Context) *searchContext {
	return &searchContext{sessionOf(ctx)}
}
