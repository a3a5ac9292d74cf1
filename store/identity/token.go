package identity

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/table"
)

// The scopes of access tokens.
const (
	// ScopeAll lets a token do what its user may.
	ScopeAll = "user:all"
	// ScopeMCP lets a token speak the Model Context Protocol for its user, and no more.
	ScopeMCP = "mcp"
	// ScopeSudo lets a token of a site admin act as any user.
	ScopeSudo = "site-admin:sudo"
)

// Token is an access token, without its secret.
type Token struct {
	// ID is stable and never used again.
	ID uint32 `json:"id"`
	// User is the ID of the token's user, Creator of its creator, 0 for the
	// operator.
	User    uint32    `json:"user"`
	Creator uint32    `json:"creator,omitempty"`
	Scopes  []string  `json:"scopes"`
	Note    string    `json:"note,omitempty"`
	Created time.Time `json:"created"`
	// Expires and Revoked are zero for a token that does not and was not.
	Expires time.Time `json:"expires,omitzero"`
	Revoked time.Time `json:"revoked,omitzero"`
	// Hash is SHA-256 of the secret.
	Hash []byte `json:"hash"`
}

// Has reports whether the token has a scope.
func (t *Token) Has(scope string) bool { return slices.Contains(t.Scopes, scope) }

func (t *Token) key() [2]uint32 { return [2]uint32{t.User, t.ID} }

// live reports whether the token itself is valid at a time.
func (t *Token) live(now time.Time) bool {
	return t.Revoked.IsZero() && (t.Expires.IsZero() || now.Before(t.Expires))
}

// CheckToken returns the token with this text and its user, or an error that
// is ErrNoCredential. Scopes are for the caller to judge.
func (r credentials) CheckToken(text string) (*Token, *User, error) {
	h, ok := parseToken(text)
	if !ok {
		return nil, nil, ErrNoCredential
	}
	key, err := tokenHashes.Get(r.st, h)
	if err != nil {
		return nil, nil, fmt.Errorf("check token: %w", credential(err))
	}
	t, err := tokens.Get(r.st, *key)
	if err != nil {
		return nil, nil, fmt.Errorf("check token: %w", credential(err))
	}
	if !t.live(r.options().Now()) {
		return nil, nil, ErrNoCredential
	}
	u, err := r.User(t.User)
	if err != nil {
		return nil, nil, fmt.Errorf("check token: %w", credential(err))
	}
	if u.Locked {
		return nil, nil, ErrNoCredential
	}
	return t, u, nil
}

// credential makes of an error about a record that is gone one that the
// credential is. Records of one credential may be read before and after its
// revocation.
func credential(err error) error {
	if isNotFound(err) {
		return ErrNoCredential
	}
	return err
}

// Token returns the token with an ID, revoked ones too, or an error that is
// store.ErrNotFound.
func (r credentials) Token(id uint32) (*Token, error) {
	use, err := tokenUses.Lookup(r.st, id)
	var t *Token
	if err == nil {
		t, err = tokens.Lookup(r.st, [2]uint32{use.User, id})
	}
	if err != nil {
		return nil, fmt.Errorf("token %d: %w", id, err)
	}
	return t, nil
}

// tokenUse is the user of a token and the time of its last use, in unix seconds; 0
// is never. It is kept as user(4) last(8), big-endian: the order of the fields is
// the format on disk.
type tokenUse struct {
	User uint32
	Last int64
}

func (u tokenUse) last() time.Time {
	if u.Last == 0 {
		return time.Time{}
	}
	return time.Unix(u.Last, 0).UTC()
}

// TokenLastUsed returns when a token was last used, give or take a minute;
// zero is never.
func (r credentials) TokenLastUsed(id uint32) (time.Time, error) {
	if t, ok := r.uses.token(id); ok {
		return t, nil
	}
	use, err := tokenUses.Lookup(r.st, id)
	if err != nil {
		return time.Time{}, fmt.Errorf("token %d: %w", id, err)
	}
	return use.last(), nil
}

// Tokens returns the tokens of a user that are good, by ID; of all users for 0.
func (r credentials) Tokens(user uint32) ([]*Token, error) {
	in := store.RecordRange{}
	if user != 0 {
		in.Prefix = table.ID(user)
	}
	now := r.options().Now()
	var out []*Token
	err := tokens.Each(r.st, in, r.TellDamaged, func(_ [2]uint32, t *Token) (bool, error) {
		if t.live(now) {
			out = append(out, t)
		}
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	slices.SortFunc(out, func(a, b *Token) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// RevokeToken revokes a token for good; the error is store.ErrNotFound for one
// that is revoked already.
func (r *Registry) RevokeToken(by Author, id uint32) error {
	err := r.change(by, func(c *change) error {
		t, err := c.Token(id)
		if err == nil && !t.Revoked.IsZero() {
			err = store.ErrNotFound
		}
		if err != nil {
			return err
		}
		c.auditToken(ActionTokenRevoke, t)
		return c.revoke(t)
	})
	if err != nil {
		return fmt.Errorf("revoke token: %w", err)
	}
	return nil
}

// RevokeTokenText revokes the token with this text: who knows it may.
func (r *Registry) RevokeTokenText(by Author, text string) error {
	t, _, err := r.CheckToken(text)
	if errors.Is(err, ErrNoCredential) {
		err = store.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("revoke token: %w", err)
	}
	return r.RevokeToken(by, t.ID)
}

func (c *change) revoke(t *Token) error {
	t.Revoked = c.now
	c.records.Delete(store.RecordTokenHash, t.Hash)
	return tokens.Put(c.records, t.key(), t)
}

func (c *change) auditToken(action string, t *Token) {
	whose := fmt.Sprintf("of user %d", t.User)
	if u, err := c.User(t.User); err == nil {
		whose = "of " + userTarget(u.Name)
	}
	c.audit(action, fmt.Sprintf("token:%d", t.ID), "%s, scopes %v", whose, t.Scopes)
	c.entries[len(c.entries)-1].About = t.User
}
