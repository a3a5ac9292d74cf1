package graphql

import (
	"context"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
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
	if err := mustAdminNow(ctx); err != nil {
		return nil, err
	}
	u, err := s.Registry.CreateUser(s.actor.Author(), identity.NewUser{
		Name: args.Username, Email: args.Email.or(""), EmailVerified: args.VerifiedEmail.or(false), Service: args.ServiceAccount.or(false),
	})
	if err != nil {
		return nil, told(err)
	}
	out := &createdUser{User: &user{s, u}}
	if !u.Service {
		out.ResetPasswordURL, err = s.resetPassword(u.ID)
	}
	return out, err
}

// resetPassword returns where a user chooses a password.
func (s *session) resetPassword(id uint32) (*string, error) {
	code, err := s.Registry.ResetPassword(s.actor.Author(), id)
	if err != nil {
		return nil, told(err)
	}
	return orNull(s.base + httpapi.ResetPath(id, code)), nil
}

// userMutation finds the user of a mutation for site admins.
func (s *session) userMutation(ctx context.Context, id graphql.ID) (*user, error) {
	if err := mustAdminNow(ctx); err != nil {
		return nil, err
	}
	return s.knownUser(id)
}

// notSelf refuses what would lock the client out.
func (s *session) notSelf(u *user, what string) error {
	if s.actor.User != nil && s.actor.User.ID == u.u.ID {
		return refuse("%s", what)
	}
	return nil
}

// DeleteUser deletes a user for good.
func (*resolver) DeleteUser(ctx context.Context, args struct {
	User graphql.ID
	Hard optBool
}) (*nothing, error) {
	return deleteUsers(ctx, []graphql.ID{args.User})
}

// DeleteUsers deletes several, one after the other.
func (*resolver) DeleteUsers(ctx context.Context, args struct {
	Users []graphql.ID
	Hard  optBool
}) (*nothing, error) {
	return deleteUsers(ctx, args.Users)
}

func deleteUsers(ctx context.Context, ids []graphql.ID) (*nothing, error) {
	s := sessionOf(ctx)
	for _, id := range ids {
		u, err := s.userMutation(ctx, id)
		if err != nil {
			return nil, err
		}
		if err := s.notSelf(u, "unable to delete current user"); err != nil {
			return nil, err
		}
		if err := s.Registry.DeleteUser(s.actor.Author(), u.u.ID); err != nil {
			return nil, told(err)
		}
	}
	return &nothing{}, nil
}

// UpdateUser changes what a user is called.
func (*resolver) UpdateUser(ctx context.Context, args struct {
	User                             graphql.ID
	Username, DisplayName, AvatarURL optString
}) (*user, error) {
	s := sessionOf(ctx)
	n, err := numberOf(args.User, kindUser)
	if err != nil {
		return nil, err
	}
	if err := s.mustBeSelf(n); err != nil {
		return nil, err
	}
	u, err := s.Registry.ChangeUser(s.actor.Author(), n, identity.UserChange{Name: args.Username.value, DisplayName: args.DisplayName.value})
	if err != nil {
		return nil, told(err)
	}
	return &user{s, u}, nil
}

// SetUserIsSiteAdmin is for others: nobody can take it from themselves.
func (*resolver) SetUserIsSiteAdmin(ctx context.Context, args struct {
	UserID    graphql.ID
	SiteAdmin bool
}) (*nothing, error) {
	s := sessionOf(ctx)
	u, err := s.userMutation(ctx, args.UserID)
	if err != nil {
		return nil, err
	}
	if err := s.notSelf(u, "refusing to set current user site admin status"); err != nil {
		return nil, err
	}
	_, err = s.Registry.ChangeUser(s.actor.Author(), u.u.ID, identity.UserChange{SiteAdmin: &args.SiteAdmin})
	return &nothing{}, told(err)
}

// randomizedPassword is the type RandomizeUserPasswordResult.
type randomizedPassword struct {
	ResetPasswordURL *string
	EmailSent        bool
}

// RandomizeUserPassword takes a password away.
func (*resolver) RandomizeUserPassword(ctx context.Context, args struct{ User graphql.ID }) (*randomizedPassword, error) {
	s := sessionOf(ctx)
	u, err := s.userMutation(ctx, args.User)
	if err != nil {
		return nil, err
	}
	url, err := s.resetPassword(u.u.ID)
	if err != nil {
		return nil, err
	}
	return &randomizedPassword{ResetPasswordURL: url}, nil
}

// CreateOrganization makes its author a member.
func (*resolver) CreateOrganization(ctx context.Context, args struct {
	Name        string
	DisplayName optString
	StatsID     *graphql.ID
}) (*org, error) {
	s := sessionOf(ctx)
	if err := s.mustSignIn(); err != nil {
		return nil, err
	}
	o, err := s.Registry.CreateOrg(s.actor.Author(), args.Name, args.DisplayName.or(""))
	if err != nil {
		return nil, told(err)
	}
	return &org{s: s, o: o, made: s.actor.User != nil}, nil
}

// DeleteOrganization is for site admins.
func (*resolver) DeleteOrganization(ctx context.Context, args struct {
	Organization graphql.ID
	Hard         optBool
}) (*nothing, error) {
	s := sessionOf(ctx)
	if err := mustAdminNow(ctx); err != nil {
		return nil, err
	}
	o, err := s.knownOrg(args.Organization)
	if err != nil {
		return nil, err
	}
	return &nothing{}, told(s.Registry.DeleteOrg(s.actor.Author(), o.o.ID))
}

// orgMutation finds the organisation of a mutation for its members.
func (s *session) orgMutation(ctx context.Context, id graphql.ID) (*org, error) {
	o, err := s.knownOrg(id)
	if err != nil {
		return nil, err
	}
	return o, permit(auth.RequireMember(ctx, o.o.ID))
}

// AddUserToOrganization is for members and site admins.
func (*resolver) AddUserToOrganization(ctx context.Context, args struct {
	Organization graphql.ID
	Username     string
}) (*nothing, error) {
	s := sessionOf(ctx)
	o, err := s.orgMutation(ctx, args.Organization)
	if err != nil {
		return nil, err
	}
	u, err := s.Registry.UserNamed(args.Username)
	if err != nil {
		return nil, told(err)
	}
	return &nothing{}, told(s.Registry.AddMember(s.actor.Author(), o.o.ID, u.ID))
}

// RemoveUserFromOrganization is for members and site admins.
func (*resolver) RemoveUserFromOrganization(ctx context.Context, args struct{ User, Organization graphql.ID }) (*nothing, error) {
	s := sessionOf(ctx)
	o, err := s.orgMutation(ctx, args.Organization)
	if err != nil {
		return nil, err
	}
	u, err := s.knownUser(args.User)
	if err != nil {
		return nil, err
	}
	return &nothing{}, told(s.Registry.RemoveMember(s.actor.Author(), o.o.ID, u.u.ID))
}

// RemoveUserFromOrg is the same by the names that a client uses.
func (r *resolver) RemoveUserFromOrg(ctx context.Context, args struct{ OrgID, UserID graphql.ID }) (*nothing, error) {
	return r.RemoveUserFromOrganization(ctx, struct{ User, Organization graphql.ID }{args.UserID, args.OrgID})
}
