package manage

import (
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/identity"
)

// Token is an access token and when it was last used, zero being never.
type Token struct {
	*identity.Token
	LastUsed time.Time
}

// Tokens returns the good tokens of a user by ID, for the user and site admins;
// for site admins 0 is all users.
func (o *Operations) Tokens(user uint32) ([]Token, error) {
	if err := auth.RequireSelfOrSiteAdmin(o.Actor, user); err != nil {
		return nil, err
	}
	found, err := o.Registry.Tokens(user)
	if err != nil {
		return nil, err
	}
	all := make([]Token, len(found))
	for i, t := range found {
		used, err := o.Registry.TokenLastUsed(t.ID)
		if err != nil && !isNotFound(err) {
			return nil, err
		}
		all[i] = Token{t, used}
	}
	return all, nil
}

// Lifetime is that of a token that is good for so many days.
func Lifetime(days int) *time.Duration {
	d := time.Duration(days) * 24 * time.Hour
	return &d
}

// CreateToken makes a token as the policy of the registry lets the actor, and
// returns its text.
func (o *Operations) CreateToken(n identity.NewToken) (text string, t *identity.Token, err error) {
	if err := auth.RequireSignedIn(o.Actor); err != nil {
		return "", nil, err
	}
	text, t, err = o.Registry.CreateToken(o.by(), n)
	return text, t, noUser(n.User, err)
}

// RevokeToken ends a token, for its user and site admins.
func (o *Operations) RevokeToken(id uint32) error {
	t, err := o.Registry.Token(id)
	if isNotFound(err) || err == nil && auth.RequireSelfOrSiteAdmin(o.Actor, t.User) != nil {
		return ErrNoToken
	}
	if err != nil {
		return err
	}
	return o.Registry.RevokeToken(o.by(), id)
}
