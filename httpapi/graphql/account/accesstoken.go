package account

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/identity"
)

// accessToken is the type AccessToken.
type accessToken struct {
	s *Session
	t manage.Token
}

func (t *accessToken) ID() graphql.ID             { return wire.NewID(wire.KindToken, t.t.ID) }
func (t *accessToken) Scopes() []string           { return t.t.Scopes }
func (t *accessToken) Note() string               { return t.t.Note }
func (t *accessToken) CreatedAt() wire.DateTime   { return wire.DateTime{Time: t.t.Created} }
func (t *accessToken) LastUsedAt() *wire.DateTime { return wire.TimeOrNull(t.t.LastUsed) }
func (t *accessToken) ExpiresAt() *wire.DateTime  { return wire.TimeOrNull(t.t.Expires) }

// Subject is whom it stands for.
func (t *accessToken) Subject() (*User, error) {
	u, err := t.s.UserByID(t.t.User)
	if err == nil && u == nil {
		err = errNoUser(t.t.User)
	}
	return u, err
}

// Creator is who made it, if that is known.
func (t *accessToken) Creator() (*User, error) {
	u, err := t.s.UserByID(t.t.Creator)
	if err != nil || u != nil {
		return u, err
	}
	return t.Subject()
}

// tokenConnection is the type AccessTokenConnection.
type tokenConnection struct {
	Nodes      []*accessToken
	TotalCount int32
	PageInfo   wire.ForwardPage
}

// AccessTokens are for the user and site admins.
func (u *User) AccessTokens(args struct{ First wire.Int }) (*tokenConnection, error) {
	if err := u.s.mustBeSelf(u.u.ID); err != nil {
		return nil, err
	}
	return u.s.tokens(u.u.ID, args.First)
}

// AccessTokens are those of all users, for site admins.
func (s *site) AccessTokens(args struct{ First wire.Int }) (*tokenConnection, error) {
	if err := s.s.MustAdmin(); err != nil {
		return nil, err
	}
	return s.s.tokens(0, args.First)
}

// fresh is how long a token stands first in lists: people look for what they
// have just made.
const fresh = 5 * time.Minute

// tokens lists those of a user, 0 being all: the fresh ones first, then those
// never used, then the last used, the newest first among equals.
func (s *Session) tokens(of uint32, first wire.Int) (*tokenConnection, error) {
	found, err := s.Manage().Tokens(of)
	if err != nil {
		return nil, err
	}
	all := make([]*accessToken, len(found))
	for i, t := range found {
		all[i] = &accessToken{s, t}
	}
	now := s.Now()
	isFresh := func(t *accessToken) bool { return now.Sub(t.t.Created) < fresh }
	slices.SortStableFunc(all, func(a, b *accessToken) int {
		return cmp.Or(wire.Rank(isFresh(b))-wire.Rank(isFresh(a)), wire.Rank(b.t.LastUsed.IsZero())-wire.Rank(a.t.LastUsed.IsZero()),
			b.t.LastUsed.Compare(a.t.LastUsed), b.t.Created.Compare(a.t.Created), cmp.Compare(b.t.ID, a.t.ID))
	})
	p, err := wire.CutByIndex(len(all), maxUsers, wire.PageArgs{First: first})
	if err != nil {
		return nil, err
	}
	return &tokenConnection{all[p.From:p.To], wire.Int32(len(all)), wire.ForwardPage{Page: p}}, nil
}

// tokenOf finds a good token by its id, for its user and site admins; nil is
// none.
func (s *Session) tokenOf(id graphql.ID) (*accessToken, error) {
	n, err := wire.NumberOf(id, wire.KindToken)
	if err != nil {
		return nil, err
	}
	t, err := s.Registry.Token(n)
	if IsMissing(err) || err == nil && (!t.Revoked.IsZero() || !s.Actor.IsOrAdministers(t.User)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	used, err := s.Registry.TokenLastUsed(n)
	return &accessToken{s, manage.Token{Token: t, LastUsed: used}}, err
}

// createdToken is the type CreateAccessTokenResult.
type createdToken struct {
	ID    graphql.ID
	Token string
}

// CreateAccessToken follows the policy of the registry.
func (*Root) CreateAccessToken(ctx context.Context, args struct {
	User            graphql.ID
	DurationSeconds wire.Int
	Scopes          []string
	Note            string
}) (*createdToken, error) {
	out := &createdToken{}
	_, err := mutate(ctx, args.User, wire.KindUser, func(m *manage.Operations, n uint32) error {
		wanted := identity.NewToken{User: n, Scopes: args.Scopes, Note: args.Note}
		if args.DurationSeconds.Value != nil {
			lifetime := time.Duration(*args.DurationSeconds.Value) * time.Second
			wanted.Lifetime = &lifetime
		}
		text, t, err := m.CreateToken(wanted)
		if err == nil {
			*out = createdToken{wire.NewID(wire.KindToken, t.ID), text}
		}
		return err
	})
	return out, err
}

// DeleteAccessToken revokes a token by its id, for its user and site admins, or
// by its text, for who knows it.
func (*Root) DeleteAccessToken(ctx context.Context, args struct {
	ByID    *graphql.ID
	ByToken wire.String
}) (*wire.Empty, error) {
	s := Of(ctx)
	byID, byText := args.ByID != nil && *args.ByID != "", args.ByToken.Or("") != ""
	var err error
	switch {
	case !byID && !byText:
		return nil, wire.Refuse("either byID or byToken must be specified")
	case byID && byText:
		return nil, wire.Refuse("exactly one of byID or byToken must be specified")
	case byText:
		err = s.Registry.RevokeTokenText(s.Actor.Author(), *args.ByToken.Value)
	default:
		var n uint32
		if n, err = wire.NumberOf(*args.ByID, wire.KindToken); err == nil {
			err = s.Manage().RevokeToken(n)
		}
	}
	if IsMissing(err) {
		err = manage.ErrNoToken
	}
	return &wire.Empty{}, Told(err)
}

// accountConnection is the type ExternalAccountConnection: there are none.
type accountConnection struct {
	Nodes      []*externalAccount
	TotalCount int32
	PageInfo   wire.ForwardPage
}

// externalAccount is the type ExternalAccount.
type externalAccount struct {
	ID                                          graphql.ID
	ServiceType, ServiceID, ClientID, AccountID string
}

// ExternalAccounts is empty.
func (u *User) ExternalAccounts(struct{ First wire.Int }) (*accountConnection, error) {
	return &accountConnection{Nodes: []*externalAccount{}}, u.s.mustBeSelf(u.u.ID)
}

// ExternalAccounts is empty.
func (s *site) ExternalAccounts(struct {
	First                            wire.Int
	User                             *graphql.ID
	ServiceType, ServiceID, ClientID wire.String
}) (*accountConnection, error) {
	return &accountConnection{Nodes: []*externalAccount{}}, s.s.MustAdmin()
}
