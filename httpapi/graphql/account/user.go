package account

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/saved"
)

// User is the type User. As with all aliases here, the engine alone calls its
// methods, and the schema explains them.
type User struct {
	s *Session
	u *identity.User
}

// CurrentUser is null for nobody in particular, and for the operator.
func (*Root) CurrentUser(ctx context.Context) *User {
	s := Of(ctx)
	if s.Actor.User == nil {
		return nil
	}
	return &User{s, s.Actor.User}
}

// User finds a user. Who is signed in may know of every name; by address only
// site admins and the user themselves find anybody.
func (*Root) User(ctx context.Context, args struct {
	Username, Email wire.String
	DatabaseID      wire.Int
}) (*User, error) {
	s := Of(ctx)
	var u *identity.User
	var err error
	name, email := args.Username.Or(""), args.Email.Or("")
	switch {
	case name == "" && email == "" && args.DatabaseID.Value == nil:
		return nil, wire.Refuse("must specify either username or email to look up a user")
	case s.Actor.Anonymous():
		return nil, nil
	case name != "":
		u, err = s.Registry.UserNamed(name)
	case email != "":
		u, err = s.Registry.UserWithEmail(email)
		if err == nil && !s.Actor.IsOrAdministers(u.ID) {
			return nil, nil
		}
	default:
		u, err = s.Registry.User(uint32(max(*args.DatabaseID.Value, 0)))
	}
	if IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &User{s, u}, nil
}

// userOf finds a user by a global id; nil is none, or one that may not be seen.
func (s *Session) userOf(id graphql.ID) (*User, error) {
	n, err := wire.NumberOf(id, wire.KindUser)
	if err != nil || s.Actor.Anonymous() {
		return nil, err
	}
	return s.UserByID(n)
}

// UserByID returns nil for none.
func (s *Session) UserByID(id uint32) (*User, error) {
	u, err := s.Registry.User(id)
	if IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &User{s, u}, nil
}

func (u *User) ID() graphql.ID                { return wire.NewID(wire.KindUser, u.u.ID) }
func (u *User) DatabaseID() int32             { return wire.Int32(u.u.ID) }
func (u *User) Username() string              { return u.u.Name }
func (u *User) NamespaceName() string         { return u.u.Name }
func (u *User) DisplayName() *string          { return wire.TextOrNull(u.u.DisplayName) }
func (u *User) URL() string                   { return "/users/" + u.u.Name }
func (u *User) AvatarURL() *string            { return nil }
func (u *User) CreatedAt() wire.DateTime      { return wire.DateTime{Time: u.u.Created} }
func (u *User) UpdatedAt() *wire.DateTime     { return wire.TimeOrNull(u.u.Updated) }
func (u *User) ViewerCanAdminister() bool     { return u.s.Actor.IsOrAdministers(u.u.ID) }
func (u *User) ViewerCanChangeUsername() bool { return u.s.Actor.IsOrAdministers(u.u.ID) }
func (u *User) TosAccepted() bool             { return true }
func (u *User) SCIMControlled() bool          { return false }
func (u *User) Searchable() bool              { return true }
func (u *User) Tags() []string                { return []string{} }
func (u *User) subject() saved.Subject        { return saved.Subject{Kind: saved.SubjectUser, ID: u.u.ID} }

// EvaluateFeatureFlag is null: there are no flags.
func (u *User) EvaluateFeatureFlag(struct{ FlagName string }) *bool { return nil }

// SiteAdmin is for the user and site admins.
func (u *User) SiteAdmin() (bool, error) { return u.u.SiteAdmin, u.s.mustBeSelf(u.u.ID) }

// BuiltinAuth tells whether there is a password.
func (u *User) BuiltinAuth() (bool, error) {
	if err := u.s.mustBeSelf(u.u.ID); err != nil {
		return false, err
	}
	return u.s.Registry.HasPassword(u.u.ID)
}

// SettingsURL is null for others.
func (u *User) SettingsURL() *string {
	if !u.s.Actor.IsOrAdministers(u.u.ID) {
		return nil
	}
	return wire.TextOrNull(u.URL() + "/settings")
}

// Session is the user's own.
func (u *User) Session() (*signedIn, error) {
	if !u.s.Actor.Is(u.u.ID) {
		return nil, wire.Refuse("must be authenticated as user with id %d", u.u.ID)
	}
	return &signedIn{u.s.Actor.Session}, nil
}

// signedIn is the type Session.
type signedIn struct{ CanSignOut bool }

// userEmail is the type UserEmail.
type userEmail struct {
	of *User
	e  identity.Email
}

func (e *userEmail) Email() string                 { return e.e.Address }
func (e *userEmail) IsPrimary() bool               { return e.e.Primary }
func (e *userEmail) Verified() bool                { return e.e.Verified }
func (e *userEmail) VerificationPending() bool     { return false }
func (e *userEmail) User() *User                   { return e.of }
func (e *userEmail) ViewerCanManuallyVerify() bool { return e.of.s.Actor.SiteAdmin() }

// Emails are for the user and site admins.
func (u *User) Emails() ([]*userEmail, error) {
	out := []*userEmail{}
	for _, e := range u.u.Emails {
		out = append(out, &userEmail{u, e})
	}
	return out, u.s.mustBeSelf(u.u.ID)
}

// Email is the first address, or empty.
func (u *User) Email() (string, error) {
	address := u.u.PrimaryEmail()
	if address == "" && len(u.u.Emails) > 0 {
		address = u.u.Emails[0].Address
	}
	return address, u.s.mustBeSelf(u.u.ID)
}

// PrimaryEmail is for the user and site admins.
func (u *User) PrimaryEmail() (*userEmail, error) {
	if err := u.s.mustBeSelf(u.u.ID); err != nil {
		return nil, err
	}
	for _, e := range u.u.Emails {
		if e.Primary {
			return &userEmail{u, e}, nil
		}
	}
	return nil, nil
}

// HasVerifiedEmail is for the user and site admins.
func (u *User) HasVerifiedEmail() (bool, error) {
	verified := slices.ContainsFunc(u.u.Emails, func(e identity.Email) bool { return e.Verified })
	return verified, u.s.mustBeSelf(u.u.ID)
}

// Person is the type Person.
type Person struct{ Name, Email string }

// DisplayName is the name, or what stands before the host in the address.
func (p Person) DisplayName() string {
	if p.Name != "" {
		return p.Name
	}
	user, _, _ := strings.Cut(p.Email, "@")
	return user
}

// AvatarURL is null.
func (p Person) AvatarURL() *string { return nil }

// User is who has the address in a commit. Names are for those who are known.
func (p Person) User(ctx context.Context) (*User, error) {
	s := Of(ctx)
	if s.Actor.Anonymous() || p.Email == "" {
		return nil, nil
	}
	u, err := s.Registry.UserWithEmail(p.Email)
	if IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &User{s, u}, nil
}

// maxUsers is how many users, organisations or tokens a page may have.
const maxUsers = 1000

// userConnection is the type UserConnection.
type userConnection struct {
	Nodes      []*User
	TotalCount int32
	PageInfo   wire.ForwardPage
}

// Users lists all users by name, for site admins.
func (*Root) Users(ctx context.Context, args struct {
	wire.ForwardArgs
	Query, ActivePeriod wire.String
	InactiveSince       *wire.DateTime
}) (*userConnection, error) {
	s := Of(ctx)
	if err := s.MustAdminNow(); err != nil {
		return nil, err
	}
	since := map[string]time.Duration{"TODAY": 24 * time.Hour, "THIS_WEEK": 7 * 24 * time.Hour, "THIS_MONTH": 30 * 24 * time.Hour}[args.ActivePeriod.Or("")]
	all, err := s.usersBut(func(u *identity.User) (bool, error) {
		if !holdsUser(u, args.Query.Or("")) {
			return true, nil
		}
		if since == 0 && args.InactiveSince == nil {
			return false, nil
		}
		last, err := s.Registry.LastActive(u.ID)
		late := since > 0 && last.Before(s.Now().Add(-since))
		return late || args.InactiveSince != nil && last.After(args.InactiveSince.Time), err
	})
	if err != nil {
		return nil, err
	}
	p, err := wire.CutByIndex(len(all), maxUsers, args.Both())
	if err != nil {
		return nil, err
	}
	return &userConnection{all[p.From:p.To], wire.Int32(len(all)), wire.ForwardPage{Page: p}}, nil
}

// usersBut lists users by name, without those that drop says.
func (s *Session) usersBut(drop func(*identity.User) (bool, error)) ([]*User, error) {
	all, err := s.users()
	if err != nil {
		return nil, err
	}
	out := []*User{}
	for _, u := range all {
		gone, err := drop(u)
		if err != nil {
			return nil, err
		}
		if !gone {
			out = append(out, &User{s, u})
		}
	}
	return out, s.Hold(rowBytesOfPeople * len(out))
}

// holdsUser tells whether a user's names or addresses hold a text.
func holdsUser(u *identity.User, text string) bool {
	if HoldsFold(u.Name, text) || HoldsFold(u.DisplayName, text) {
		return true
	}
	return slices.ContainsFunc(u.Emails, func(e identity.Email) bool { return HoldsFold(e.Address, text) })
}

// HoldsFold is strings.Contains whatever the case.
func HoldsFold(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}
