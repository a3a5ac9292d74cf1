package account

import (
	"context"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/identity"
)

// createdUser is the type CreateUserResult.
type createdUser struct {
	User             *User
	ResetPasswordURL *string
}

// CreateUser makes a user who has yet to choose a password.
func (*Root) CreateUser(ctx context.Context, args struct {
	Username       string
	Email          wire.String
	VerifiedEmail  wire.Bool
	ServiceAccount wire.Bool
}) (*createdUser, error) {
	s := Of(ctx)
	u, code, err := s.Manage().CreateUser(ctx, identity.NewUser{
		Name: args.Username, Email: args.Email.Or(""), EmailVerified: args.VerifiedEmail.Or(false), Service: args.ServiceAccount.Or(false),
	}, "")
	if err != nil {
		return nil, Told(err)
	}
	return &createdUser{&User{s, u}, s.resetURL(u.ID, code)}, nil
}

// resetURL is where a user chooses a password, null without a code.
func (s *Session) resetURL(id uint32, code string) *string {
	if code == "" {
		return nil
	}
	return wire.TextOrNull(s.Base + httpapi.ResetPath(id, code))
}

// DeleteUser deletes a user for good.
func (*Root) DeleteUser(ctx context.Context, args struct {
	User graphql.ID
	Hard wire.Bool
}) (*wire.Empty, error) {
	return mutate(ctx, args.User, wire.KindUser, (*manage.Operations).DeleteUser)
}

// DeleteUsers deletes several, one after the other.
func (*Root) DeleteUsers(ctx context.Context, args struct {
	Users []graphql.ID
	Hard  wire.Bool
}) (*wire.Empty, error) {
	for _, id := range args.Users {
		if _, err := mutate(ctx, id, wire.KindUser, (*manage.Operations).DeleteUser); err != nil {
			return nil, err
		}
	}
	return &wire.Empty{}, nil
}

// UpdateUser changes what a user is called.
func (*Root) UpdateUser(ctx context.Context, args struct {
	User                             graphql.ID
	Username, DisplayName, AvatarURL wire.String
}) (*User, error) {
	out := &User{s: Of(ctx)}
	_, err := mutate(ctx, args.User, wire.KindUser, func(m *manage.Operations, n uint32) (err error) {
		out.u, err = m.ChangeUser(n, identity.UserChange{Name: args.Username.Value, DisplayName: args.DisplayName.Value})
		return err
	})
	return out, err
}

// SetUserIsSiteAdmin is for others: nobody can take it from themselves.
func (*Root) SetUserIsSiteAdmin(ctx context.Context, args struct {
	UserID    graphql.ID
	SiteAdmin bool
}) (*wire.Empty, error) {
	return mutate(ctx, args.UserID, wire.KindUser, func(m *manage.Operations, n uint32) error {
		_, err := m.ChangeUser(n, identity.UserChange{SiteAdmin: &args.SiteAdmin})
		return err
	})
}

// randomizedPassword is the type RandomizeUserPasswordResult.
type randomizedPassword struct {
	ResetPasswordURL *string
	EmailSent        bool
}

// RandomizeUserPassword takes a password away.
func (*Root) RandomizeUserPassword(ctx context.Context, args struct{ User graphql.ID }) (*randomizedPassword, error) {
	out := &randomizedPassword{}
	_, err := mutate(ctx, args.User, wire.KindUser, func(m *manage.Operations, n uint32) error {
		code, err := m.SetPassword(ctx, n, "")
		out.ResetPasswordURL = Of(ctx).resetURL(n, code)
		return err
	})
	return out, err
}

// CreateOrganization makes its author a member.
func (*Root) CreateOrganization(ctx context.Context, args struct {
	Name        string
	DisplayName wire.String
	StatsID     *graphql.ID
}) (*Org, error) {
	s := Of(ctx)
	o, err := s.Manage().CreateOrg(args.Name, args.DisplayName.Or(""))
	return &Org{s: s, o: o, made: s.Actor.User != nil}, Told(err)
}

// DeleteOrganization is for site admins.
func (*Root) DeleteOrganization(ctx context.Context, args struct {
	Organization graphql.ID
	Hard         wire.Bool
}) (*wire.Empty, error) {
	return mutate(ctx, args.Organization, wire.KindOrg, (*manage.Operations).DeleteOrg)
}

// AddUserToOrganization is for members and site admins.
func (*Root) AddUserToOrganization(ctx context.Context, args struct {
	Organization graphql.ID
	Username     string
}) (*wire.Empty, error) {
	return mutate(ctx, args.Organization, wire.KindOrg, func(m *manage.Operations, n uint32) error { return m.AddMember(n, args.Username) })
}

// RemoveUserFromOrganization is for members and site admins.
func (*Root) RemoveUserFromOrganization(ctx context.Context, args struct{ User, Organization graphql.ID }) (*wire.Empty, error) {
	return mutate(ctx, args.Organization, wire.KindOrg, func(m *manage.Operations, org uint32) error {
		n, err := wire.NumberOf(args.User, wire.KindUser)
		if err != nil {
			return err
		}
		return m.RemoveMember(org, n)
	})
}

// RemoveUserFromOrg is the same by the names that a client uses.
func (r *Root) RemoveUserFromOrg(ctx context.Context, args struct{ OrgID, UserID graphql.ID }) (*wire.Empty, error) {
	return r.RemoveUserFromOrganization(ctx, struct{ User, Organization graphql.ID }{args.UserID, args.OrgID})
}
