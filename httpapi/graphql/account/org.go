package account

import (
	"context"
	"slices"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/saved"
)

// Org is the type Org.
type Org struct {
	s *Session
	o *identity.Org
	// made says that the client has just made it, and is a member since.
	made bool
}

func (o *Org) ID() graphql.ID           { return wire.NewID(wire.KindOrg, o.o.ID) }
func (o *Org) Name() string             { return o.o.Name }
func (o *Org) NamespaceName() string    { return o.o.Name }
func (o *Org) DisplayName() *string     { return wire.TextOrNull(o.o.DisplayName) }
func (o *Org) CreatedAt() wire.DateTime { return wire.DateTime{Time: o.o.Created} }
func (o *Org) URL() string              { return "/organizations/" + o.o.Name }
func (o *Org) subject() saved.Subject   { return saved.Subject{Kind: saved.SubjectOrg, ID: o.o.ID} }

// ViewerIsMember is true for who has made it, too.
func (o *Org) ViewerIsMember() bool { return o.made || slices.Contains(o.s.Actor.Orgs, o.o.ID) }

// ViewerCanAdminister is for members and site admins.
func (o *Org) ViewerCanAdminister() bool { return o.s.Actor.SiteAdmin() || o.ViewerIsMember() }

// mustBeMember refuses everybody else.
func (o *Org) mustBeMember() error {
	if !o.ViewerCanAdminister() {
		return wire.Permit(auth.ErrNotMember)
	}
	return nil
}

// SettingsURL is null for others.
func (o *Org) SettingsURL() *string {
	if !o.ViewerCanAdminister() {
		return nil
	}
	return wire.TextOrNull(o.URL() + "/settings")
}

// newUsersConnection is the type NewUsersConnection.
type newUsersConnection struct {
	Nodes      []*User
	TotalCount int32
	PageInfo   wire.Page
}

// Members are for members and site admins.
func (o *Org) Members(args struct {
	wire.PageArgs
	Query wire.String
}) (*newUsersConnection, error) {
	if err := o.mustBeMember(); err != nil {
		return nil, err
	}
	ids, err := o.s.Registry.Members(o.o.ID)
	if err != nil {
		return nil, err
	}
	all, err := o.s.usersBut(func(u *identity.User) (bool, error) {
		word := args.Query.Or("")
		_, member := slices.BinarySearch(ids, u.ID)
		return !member || !HoldsFold(u.Name, word) && !HoldsFold(u.DisplayName, word), nil
	})
	if err != nil {
		return nil, err
	}
	p, err := wire.CutByIndex(len(all), maxUsers, args.PageArgs)
	if err != nil {
		return nil, err
	}
	return &newUsersConnection{all[p.From:p.To], wire.Int32(len(all)), p}, nil
}

// Organization finds one by name, for who is known.
func (*Root) Organization(ctx context.Context, args struct{ Name string }) (*Org, error) {
	s := Of(ctx)
	if s.Actor.Anonymous() {
		return nil, nil
	}
	o, err := s.Registry.OrgNamed(args.Name)
	if IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &Org{s: s, o: o}, nil
}

// orgOf finds one by a global id; nil is none, or one that may not be seen.
func (s *Session) orgOf(id graphql.ID) (*Org, error) {
	n, err := wire.NumberOf(id, wire.KindOrg)
	if err != nil || s.Actor.Anonymous() {
		return nil, err
	}
	return s.orgByID(n)
}

// orgByID returns nil for none.
func (s *Session) orgByID(id uint32) (*Org, error) {
	o, err := s.Registry.Org(id)
	if IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &Org{s: s, o: o}, nil
}

// orgConnection is the type OrgConnection.
type orgConnection struct {
	Nodes      []*Org
	TotalCount int32
}

// Organizations lists the client's own, and all for site admins.
func (*Root) Organizations(ctx context.Context, args struct {
	First wire.Int
	Query wire.String
}) (*orgConnection, error) {
	s := Of(ctx)
	if err := s.MustSignIn(); err != nil {
		return nil, err
	}
	all, err := s.orgs()
	if err != nil {
		return nil, err
	}
	word := args.Query.Or("")
	nodes := []*Org{}
	for _, o := range all {
		found := &Org{s: s, o: o}
		if found.ViewerCanAdminister() && (HoldsFold(o.Name, word) || HoldsFold(o.DisplayName, word)) {
			nodes = append(nodes, found)
		}
	}
	if err := s.Hold(rowBytesOfPeople * len(nodes)); err != nil {
		return nil, err
	}
	p, err := wire.CutByIndex(len(nodes), maxUsers, wire.PageArgs{First: args.First})
	if err != nil {
		return nil, err
	}
	return &orgConnection{nodes[p.From:p.To], wire.Int32(len(nodes))}, nil
}

// orgs are those of a user, for the user and site admins.
func (u *User) orgs() ([]*Org, error) {
	if err := u.s.mustBeSelf(u.u.ID); err != nil {
		return nil, err
	}
	ids, err := u.s.Registry.OrgsOf(u.u.ID)
	if err != nil {
		return nil, err
	}
	out := []*Org{}
	for _, id := range ids {
		o, err := u.s.orgByID(id)
		if err != nil {
			return nil, err
		}
		if o != nil {
			out = append(out, o)
		}
	}
	return out, nil
}

// Organizations are for the user and site admins.
func (u *User) Organizations() (*orgConnection, error) {
	all, err := u.orgs()
	return &orgConnection{all, wire.Int32(len(all))}, err
}

// memberships is the type OrganizationMembershipConnection.
type memberships struct {
	Nodes      []*membership
	TotalCount int32
}

// membership is the type OrganizationMembership.
type membership struct {
	Organization *Org
	User         *User
}

// OrganizationMemberships are for the user and site admins.
func (u *User) OrganizationMemberships() (*memberships, error) {
	all, err := u.orgs()
	out := &memberships{Nodes: []*membership{}, TotalCount: wire.Int32(len(all))}
	for _, o := range all {
		out.Nodes = append(out.Nodes, &membership{o, u})
	}
	return out, err
}
