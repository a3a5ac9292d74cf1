package graphql

import (
	"context"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/identity"
)

// createdUser is the type CreateUserResult.
type createdUser struct {
	User             *user
	ResetPasswordURL *string
}

// CreateUser makes a user who has yet to choose a password.
func (*resolver) CreateUser(ctx context.Context, args struct {
	Username       string
	Email          optString
	VerifiedEmail  optBool
	ServiceAccount optBool
}) (*createdUser, error) {
	s := sessionOf(ctx)
	u, code, err := s.manage().CreateUser(ctx, identity.NewUser{
		Name: args.Username, Email: args.Email.or(""), EmailVerified: args.VerifiedEmail.or(false), Service: args.ServiceAccount.or(false),
	}, "")
	if err != nil {
		return nil, told(err)
	}
	return &createdUser{&user{s, u}, s.resetURL(u.ID, code)}, nil
}

// resetURL is where a user chooses a password, null without a code.
func (s *session) resetURL(id uint32, code string) *string {
	if code == "" {
		return nil
	}
	return orNull(s.base + httpapi.ResetPath(id, code))
}

// DeleteUser deletes a user for good.
func (*resolver) DeleteUser(ctx context.Context, args struct {
	User graphql.ID
	Hard optBool
}) (*nothing, error) {
	return mutate(ctx, args.User, kindUser, (*manage.Operations).DeleteUser)
}

// DeleteUsers deletes several, one after the other.
func (*resolver) DeleteUsers(ctx context.Context, args struct {
	Users []graphql.ID
	Hard  optBool
}) (*nothing, error) {
	for _, id := range args.Users {
		if _, err := mutate(ctx, id, kindUser, (*manage.Operations).DeleteUser); err != nil {
			return nil, err
		}
	}
	return &nothing{}, nil
}

// UpdateUser changes what a user is called.
func (*resolver) UpdateUser(ctx context.Context, args struct {
	User                             graphql.ID
	Username, DisplayName, AvatarURL optString
}) (*user, error) {
	out := &user{s: sessionOf(ctx)}
	_, err := mutate(ctx, args.User, kindUser, func(m *manage.Operations, n uint32) (err error) {
		out.u, err = m.ChangeUser(n, identity.UserChange{Name: args.Username.value, DisplayName: args.DisplayName.value})
		return err
	})
	return out, err
}

// SetUserIsSiteAdmin is for others: nobody can take it from themselves.
func (*resolver) SetUserIsSiteAdmin(ctx context.Context, args struct {
	UserID    graphql.ID
	SiteAdmin bool
}) (*nothing, error) {
	return mutate(ctx, args.UserID, kindUser, func(m *manage.Operations, n uint32) error {
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
func (*resolver) RandomizeUserPassword(ctx context.Context, args struct{ User graphql.ID }) (*randomizedPassword, error) {
	out := &randomizedPassword{}
	_, err := mutate(ctx, args.User, kindUser, func(m *manage.Operations, n uint32) error {
		code, err := m.SetPassword(ctx, n, "")
		out.ResetPasswordURL = sessionOf(ctx).resetURL(n, code)
		return err
	})
	return out, err
}

// CreateOrganization makes its author a member.
func (*resolver) CreateOrganization(ctx context.Context, args struct {
	Name        string
	DisplayName optString
	StatsID     *graphql.ID
}) (*org, error) {
	s := sessionOf(ctx)
	o, err := s.manage().CreateOrg(args.Name, args.DisplayName.or(""))
	return &org{s: s, o: o, made: s.actor.User != nil}, told(err)
}

// DeleteOrganization is for site admins.
func (*resolver) DeleteOrganization(ctx context.Context, args struct {
	Organization graphql.ID
	Hard         optBool
}) (*nothing, error) {
	return mutate(ctx, args.Organization, kindOrg, (*manage.Operations).DeleteOrg)
}

// AddUserToOrganization is for members and site admins.
func (*resolver) AddUserToOrganization(ctx context.Context, args struct {
	Organization graphql.ID
	Username     string
}) (*nothing, error) {
	return mutate(ctx, args.Organization, kindOrg, func(m *manage.Operations, n uint32) error { return m.AddMember(n, args.Username) })
}

// RemoveUserFromOrganization is for members and site admins.
func (*resolver) RemoveUserFromOrganization(ctx context.Context, args struct{ User, Organization graphql.ID }) (*nothing, error) {
	return mutate(ctx, args.Organization, kindOrg, func(m *manage.Operations, org uint32) error {
		n, err := numberOf(args.User, kindUser)
		if err != nil {
			return err
		}
		return m.RemoveMember(org, n)
	})
}

// RemoveUserFromOrg is the same by the names that a client uses.
func (r *resolver) RemoveUserFromOrg(ctx context.Context, args struct{ OrgID, UserID graphql.ID }) (*nothing, error) {
	return r.RemoveUserFromOrganization(ctx, struct{ User, Organization graphql.ID }{args.UserID, args.OrgID})
}
