package account

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/saved"
)

// savedSearch is the type SavedSearch.
type savedSearch struct {
	s     *Session
	v     *saved.Search
	owner namespaceOwner
}

func (s *savedSearch) ID() graphql.ID            { return wire.NewID(wire.KindSavedSearch, s.v.ID) }
func (s *savedSearch) Description() string       { return s.v.Description }
func (s *savedSearch) Query() string             { return s.v.Query }
func (s *savedSearch) CreatedAt() wire.DateTime  { return wire.DateTime{Time: s.v.Created} }
func (s *savedSearch) UpdatedAt() wire.DateTime  { return wire.DateTime{Time: s.v.Updated} }
func (s *savedSearch) Owner() *Namespace         { return &Namespace{s.owner} }
func (s *savedSearch) ViewerCanAdminister() bool { return true } // who may not does not see it
func (s *savedSearch) URL() string {
	return s.owner.URL() + "/searches/" + strconv.FormatUint(uint64(s.v.ID), 10)
}

// namespaceOf returns an owner, nil for one that is gone.
func (s *Session) namespaceOf(of saved.Subject) (namespaceOwner, error) {
	switch of.Kind {
	case saved.SubjectUser:
		if u, err := s.UserByID(of.ID); err != nil || u != nil {
			return u, err
		}
	case saved.SubjectOrg:
		if o, err := s.orgByID(of.ID); err != nil || o != nil {
			return o, err
		}
	}
	return nil, nil
}

// Kept returns where the searches that people keep are.
func (s *Session) Kept() *manage.Kept {
	return &manage.Kept{Store: s.Store, Registry: s.Registry, Book: s.Book, Now: s.Now}
}

// searches returns the saved searches of the client.
func (s *Session) searches() *manage.Searches {
	return &manage.Searches{Kept: s.Kept(), Actor: s.Actor}
}

// NamespaceOf returns an owner, nil for one that is gone.
func (s *Session) NamespaceOf(of saved.Subject) (*Namespace, error) {
	owner, err := s.namespaceOf(of)
	if err != nil || owner == nil {
		return nil, err
	}
	return &Namespace{owner}, nil
}

// savedSearchOf finds one by its global id; nil is none, or one that may not be
// seen.
func (s *Session) savedSearchOf(id graphql.ID) (*savedSearch, error) {
	n, err := wire.NumberOf(id, wire.KindSavedSearch)
	if err != nil {
		return nil, err
	}
	v, err := s.searches().Find(n)
	if IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.newSavedSearch(v)
}

// newSavedSearch returns nil for one that has lost its owner.
func (s *Session) newSavedSearch(v *saved.Search) (*savedSearch, error) {
	owner, err := s.namespaceOf(v.Owner)
	if err != nil || owner == nil {
		return nil, err
	}
	return &savedSearch{s, v, owner}, nil
}

// savedSearches is the type SavedSearchesConnection.
type savedSearches struct {
	Nodes      []*savedSearch
	TotalCount int32
	PageInfo   wire.Page
}

// SavedSearches lists those that the client may see.
func (*Root) SavedSearches(ctx context.Context, args struct {
	wire.PageArgs
	Query              wire.String
	Owner              *graphql.ID
	ViewerIsAffiliated wire.Bool
	OrderBy            wire.String
}) (*savedSearches, error) {
	s := Of(ctx)
	if err := s.MustSignIn(); err != nil {
		return nil, err
	}
	if args.First.Value == nil && args.Last.Value == nil {
		return nil, wire.Refuse("you must provide a `first` or `last` value to properly paginate")
	}
	mine, word := s.searches(), args.Query.Or("")
	var all []*saved.Search
	err := mine.Each(func(v *saved.Search) {
		if (HoldsFold(v.Description, word) || HoldsFold(v.Query, word)) && (!args.ViewerIsAffiliated.Or(false) || mine.Owns(v.Owner)) {
			all = append(all, v)
		}
	})
	if err != nil {
		return nil, Told(err)
	}
	nodes := []*savedSearch{}
	for _, v := range all {
		found, err := s.newSavedSearch(v)
		if err != nil {
			return nil, err
		}
		if found != nil && (args.Owner == nil || *args.Owner == found.owner.ID()) {
			nodes = append(nodes, found)
		}
	}
	slices.SortFunc(nodes, func(a, b *savedSearch) int {
		if args.OrderBy.Or("") == "SAVED_SEARCH_DESCRIPTION" {
			return cmp.Or(strings.Compare(a.v.Description, b.v.Description), cmp.Compare(a.v.ID, b.v.ID))
		}
		return cmp.Or(b.v.Updated.Compare(a.v.Updated), cmp.Compare(b.v.ID, a.v.ID))
	})
	p, err := wire.CutByIndex(len(nodes), 100, args.PageArgs)
	if err != nil {
		return nil, err
	}
	return &savedSearches{nodes[p.From:p.To], wire.Int32(len(nodes)), p}, nil
}

// OwnerID reads the id of who is to own something.
func (s *Session) OwnerID(id graphql.ID) (saved.Subject, error) {
	if err := s.MustSignIn(); err != nil {
		return saved.Subject{}, err
	}
	owner, err := s.ownerOf(id)
	if err != nil || owner == nil {
		return saved.Subject{}, err
	}
	return owner.subject(), nil
}

// CreateSavedSearch keeps a search.
func (*Root) CreateSavedSearch(ctx context.Context, args struct {
	Input struct {
		Owner              graphql.ID
		Description, Query string
	}
}) (*savedSearch, error) {
	s := Of(ctx)
	owner, err := s.OwnerID(args.Input.Owner)
	if err != nil {
		return nil, err
	}
	return s.changed(s.searches().Create(owner, args.Input.Description, args.Input.Query))
}

// changed is the answer to a change.
func (s *Session) changed(v *saved.Search, err error) (*savedSearch, error) {
	if err != nil {
		return nil, Told(err)
	}
	owner, err := s.namespaceOf(v.Owner)
	return &savedSearch{s, v, owner}, err
}

// UpdateSavedSearch changes what a search says.
func (*Root) UpdateSavedSearch(ctx context.Context, args struct {
	ID    graphql.ID
	Input struct{ Description, Query string }
}) (*savedSearch, error) {
	s := Of(ctx)
	n, err := wire.NumberOf(args.ID, wire.KindSavedSearch)
	if err != nil {
		return nil, err
	}
	return s.changed(s.searches().Change(n, args.Input.Description, args.Input.Query))
}

// TransferSavedSearchOwnership gives a search to another owner.
func (*Root) TransferSavedSearchOwnership(ctx context.Context, args struct{ ID, NewOwner graphql.ID }) (*savedSearch, error) {
	s := Of(ctx)
	owner, err := s.OwnerID(args.NewOwner)
	if err != nil {
		return nil, err
	}
	n, err := wire.NumberOf(args.ID, wire.KindSavedSearch)
	if err != nil {
		return nil, err
	}
	return s.changed(s.searches().Transfer(n, owner))
}

// DeleteSavedSearch forgets a search.
func (*Root) DeleteSavedSearch(ctx context.Context, args struct{ ID graphql.ID }) (*wire.Empty, error) {
	n, err := wire.NumberOf(args.ID, wire.KindSavedSearch)
	if err != nil {
		return nil, err
	}
	return &wire.Empty{}, Told(Of(ctx).searches().Delete(n))
}

// Namespace is the interface Namespace: a user or an organisation.
type Namespace struct{ namespaceOwner }

type namespaceOwner interface {
	ID() graphql.ID
	NamespaceName() string
	URL() string
	subject() saved.Subject
}

func (n *Namespace) ToUser() (*User, bool) { v, ok := n.namespaceOwner.(*User); return v, ok }
func (n *Namespace) ToOrg() (*Org, bool)   { v, ok := n.namespaceOwner.(*Org); return v, ok }
