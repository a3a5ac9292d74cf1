package account

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
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

// owns reports whether an owner is the client or an organisation of theirs.
func (s *Session) owns(of saved.Subject) bool {
	switch of.Kind {
	case saved.SubjectUser:
		return s.Actor.Is(of.ID)
	case saved.SubjectOrg:
		return slices.Contains(s.Actor.Orgs, of.ID)
	}
	return false
}

// savedSearchOf finds one by its global id; nil is none, or one that may not be
// seen.
func (s *Session) savedSearchOf(id graphql.ID) (*savedSearch, error) {
	n, err := wire.NumberOf(id, wire.KindSavedSearch)
	if err != nil {
		return nil, err
	}
	v, err := s.Book.Search(n)
	if IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.newSavedSearch(v)
}

// newSavedSearch returns nil for one that may not be seen, or has lost its
// owner.
func (s *Session) newSavedSearch(v *saved.Search) (*savedSearch, error) {
	if !s.owns(v.Owner) && !s.Actor.SiteAdmin() {
		return nil, nil
	}
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
	all, err := s.Book.Searches()
	if err != nil {
		return nil, err
	}
	nodes := []*savedSearch{}
	for _, v := range all {
		found, err := s.newSavedSearch(v)
		if err != nil {
			return nil, err
		}
		word := args.Query.Or("")
		if found == nil || !HoldsFold(v.Description, word) && !HoldsFold(v.Query, word) ||
			args.ViewerIsAffiliated.Or(false) && !s.owns(v.Owner) || args.Owner != nil && *args.Owner != found.owner.ID() {
			continue
		}
		nodes = append(nodes, found)
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

// ownerID reads the id of who is to own something: the client or an
// organisation of theirs, for site admins anybody.
func (s *Session) ownerID(id graphql.ID) (saved.Subject, error) {
	if err := s.MustSignIn(); err != nil {
		return saved.Subject{}, err
	}
	owner, err := s.ownerOf(id)
	if err != nil {
		return saved.Subject{}, err
	}
	if owner == nil || owner.subject().Kind != saved.SubjectUser && owner.subject().Kind != saved.SubjectOrg {
		return saved.Subject{}, wire.Refuse("the owner must be a user or an organization")
	}
	if !s.owns(owner.subject()) && !s.Actor.SiteAdmin() {
		return saved.Subject{}, s.mayNotWrite(owner)
	}
	return owner.subject(), nil
}

// MaxSavedBytes is how much a saved search may say.
const MaxSavedBytes = 64 << 10

func checkSaved(description, query string) error {
	if len(description)+len(query) > MaxSavedBytes {
		return wire.Refuse("a saved search has at most %d bytes", MaxSavedBytes)
	}
	if strings.TrimSpace(query) == "" {
		return wire.Refuse("the query is empty")
	}
	return nil
}

// CreateSavedSearch keeps a search.
func (*Root) CreateSavedSearch(ctx context.Context, args struct {
	Input struct {
		Owner              graphql.ID
		Description, Query string
	}
}) (*savedSearch, error) {
	s := Of(ctx)
	owner, err := s.ownerID(args.Input.Owner)
	if err == nil {
		err = checkSaved(args.Input.Description, args.Input.Query)
	}
	if err == nil {
		err = s.mayKeep(owner)
	}
	if err != nil {
		return nil, err
	}
	v, err := s.Book.AddSearch(saved.Search{Description: args.Input.Description, Query: args.Input.Query, Owner: owner})
	if err != nil {
		return nil, Told(err)
	}
	return s.newSavedSearch(v)
}

// maxSaved is how many searches one owner may keep.
const maxSaved = 200

func (s *Session) mayKeep(owner saved.Subject) error {
	all, err := s.Book.Searches()
	if err != nil {
		return err
	}
	n := 0
	for _, v := range all {
		if v.Owner == owner {
			n++
		}
	}
	if n >= maxSaved {
		return wire.Refuse("there are %d saved searches: delete some of them first", n)
	}
	return nil
}

// changeSaved changes one that the client may change.
func (s *Session) changeSaved(id graphql.ID, change func(*saved.Search)) (*savedSearch, error) {
	found, err := s.knownSaved(id)
	if err != nil {
		return nil, err
	}
	v, err := s.Book.ChangeSearch(found.v.ID, change)
	if err != nil {
		return nil, Told(err)
	}
	owner, err := s.namespaceOf(v.Owner)
	return &savedSearch{s, v, owner}, err
}

func (s *Session) knownSaved(id graphql.ID) (*savedSearch, error) {
	found, err := s.savedSearchOf(id)
	if err == nil && found == nil {
		err = wire.Refuse("saved search not found")
	}
	return found, err
}

// UpdateSavedSearch changes what a search says.
func (*Root) UpdateSavedSearch(ctx context.Context, args struct {
	ID    graphql.ID
	Input struct{ Description, Query string }
}) (*savedSearch, error) {
	if err := checkSaved(args.Input.Description, args.Input.Query); err != nil {
		return nil, err
	}
	return Of(ctx).changeSaved(args.ID, func(v *saved.Search) {
		v.Description, v.Query = args.Input.Description, args.Input.Query
	})
}

// TransferSavedSearchOwnership gives a search to another owner.
func (*Root) TransferSavedSearchOwnership(ctx context.Context, args struct{ ID, NewOwner graphql.ID }) (*savedSearch, error) {
	s := Of(ctx)
	owner, err := s.ownerID(args.NewOwner)
	if err != nil {
		return nil, err
	}
	return s.changeSaved(args.ID, func(v *saved.Search) { v.Owner = owner })
}

// DeleteSavedSearch forgets a search.
func (*Root) DeleteSavedSearch(ctx context.Context, args struct{ ID graphql.ID }) (*wire.Empty, error) {
	s := Of(ctx)
	found, err := s.knownSaved(args.ID)
	if err != nil {
		return nil, err
	}
	return &wire.Empty{}, Told(s.Book.RemoveSearch(found.v.ID))
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
