package identity

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// TokenMode says who may create access tokens.
type TokenMode string

// The modes. TokensNone also refuses the tokens that there are.
const (
	TokensAll   TokenMode = "all-users-create"
	TokensAdmin TokenMode = "site-admin-create"
	TokensNone  TokenMode = "none"
)

// TokenPolicy says who may create which access tokens. The zero value is the
// default.
type TokenPolicy struct {
	// Allow is TokensAll if empty.
	Allow TokenMode
	// NoExpiry allows tokens that never expire.
	NoExpiry bool
	// ExpiryDays are the lifetimes to choose from, of which the longest bounds
	// all; nil is 7, 14, 30, 60, 90. DefaultDays is offered first; 0 is 90.
	ExpiryDays  []int
	DefaultDays int
	// MaxPerUser is how many good tokens a user may have; 0 is 25.
	MaxPerUser int
}

func (p TokenPolicy) withDefaults() TokenPolicy {
	orDefault(&p.Allow, TokensAll)
	if len(p.ExpiryDays) == 0 {
		p.ExpiryDays = []int{7, 14, 30, 60, 90}
	}
	orDefault(&p.DefaultDays, min(90, slices.Max(p.ExpiryDays)))
	orDefault(&p.MaxPerUser, 25)
	return p
}

// TokenPolicy returns the policy with its defaults.
func (r credentials) TokenPolicy() TokenPolicy { return r.options().Tokens }

// NewToken is a token to create.
type NewToken struct {
	User   uint32
	Scopes []string
	Note   string
	// Lifetime is nil for a token that does not expire.
	Lifetime *time.Duration
}

// CreateToken makes a token and returns its text, which cannot be read again.
// The texts of the errors that forbid it are known to clients.
func (r *Registry) CreateToken(by Author, n NewToken) (text string, t *Token, err error) {
	err = r.change(by, func(c *change) error {
		if err := c.mayCreate(n); err != nil {
			return err
		}
		id, err := c.takeID(counterToken)
		if err != nil {
			return err
		}
		secret, h, err := newToken(c.options().Random)
		if err != nil {
			return err
		}
		text = secret
		t = &Token{ID: id, User: n.User, Creator: by.UserID, Scopes: slices.Clone(n.Scopes), Note: n.Note, Created: c.now, Hash: h[:]}
		if n.Lifetime != nil {
			t.Expires = c.now.Add(*n.Lifetime)
		}
		c.auditToken(ActionTokenCreate, t)
		key := t.key()
		return errors.Join(
			tokens.Put(c.records, key, t),
			tokenHashes.Put(c.records, h, &key),
			tokenUses.Put(c.records, id, &tokenUse{User: n.User}))
	})
	if err != nil {
		return "", nil, err
	}
	return text, t, nil
}

func (c *change) mayCreate(n NewToken) error {
	if err := c.by.MayCreateCredentials(); err != nil {
		return err
	}
	u, err := c.User(n.User)
	if err != nil {
		return err
	}
	admin := c.by.Operator
	if !admin {
		author, err := c.User(c.by.UserID)
		if err != nil {
			return err
		}
		admin = author.SiteAdmin
	}
	policy := c.options().Tokens
	switch policy.Allow {
	case TokensAll:
		// A service account cannot sign in to create its tokens.
		if c.by.UserID != n.User && !c.by.Operator && !(u.Service && admin) {
			return refuse("must be authenticated as user with id %d", n.User)
		}
	case TokensAdmin:
		if !admin {
			return refuse("Access token creation has been restricted to admin users. Contact an admin user to create a new access token.")
		}
	default:
		return refuse("Access token creation is disabled. Contact an admin user to enable.")
	}
	if err := checkScopes(n.Scopes, u.SiteAdmin); err != nil {
		return err
	}
	if err := policy.checkLifetime(n.Lifetime); err != nil {
		return err
	}
	if err := checkText("the note", n.Note, 1024); err != nil {
		return err
	}
	have, err := c.Tokens(n.User)
	if err == nil && len(have) >= policy.MaxPerUser {
		err = refuse("number of active access tokens exceeds limit")
	}
	return err
}

func (p TokenPolicy) checkLifetime(d *time.Duration) error {
	switch {
	case d == nil && !p.NoExpiry:
		return refuse("Access token creation requires a valid expiration.")
	case d != nil && *d <= 0:
		return refuse("expiry must be in the future")
	case d != nil && *d > time.Duration(slices.Max(p.ExpiryDays))*day:
		return refuse("expiry exceeds maximum allowed")
	}
	return nil
}

// checkScopes judges the scopes of a token for a user.
func checkScopes(scopes []string, admin bool) error {
	known := []string{ScopeAll, ScopeMCP, ScopeSudo}
	for i, s := range scopes {
		if !slices.Contains(known, s) {
			return refuse("unknown access token scope %q (valid scopes: [%s])", s, strings.Join(known, " "))
		}
		if slices.Contains(scopes[:i], s) {
			return refuse("access token scope %q may not be specified multiple times", s)
		}
	}
	switch {
	case !slices.Contains(scopes, ScopeAll) && !slices.Equal(scopes, []string{ScopeMCP}):
		return refuse("all access tokens must have scope %q", ScopeAll)
	case slices.Contains(scopes, ScopeSudo) && !admin:
		return refuse("must be site admin")
	}
	return nil
}

// ParseTokenMode reads a mode.
func ParseTokenMode(text string) (TokenMode, error) {
	m := TokenMode(text)
	if m != TokensAll && m != TokensAdmin && m != TokensNone {
		return "", fmt.Errorf("%q is not %s, %s or %s", text, TokensAll, TokensAdmin, TokensNone)
	}
	return m, nil
}
