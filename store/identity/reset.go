package identity

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/table"
)

// resetLasts is how long a reset code can be used.
const resetLasts = day

// storedReset is the record of a code by which a user may choose a password.
type storedReset struct {
	Hash    []byte    `json:"hash"`
	Expires time.Time `json:"expires"`
}

// SetPassword gives a user a password and ends all their sessions.
func (r *Registry) SetPassword(ctx context.Context, by Author, user uint32, password string) error {
	return r.setPassword(ctx, by, user, password, func(*change, *User) error { return nil })
}

// RenewPassword is SetPassword, and begins a session in the same change, so that
// nothing has to be done for it once the session of the request has ended.
func (r *Registry) RenewPassword(ctx context.Context, by Author, user uint32, password string) (secret string, err error) {
	err = r.setPassword(ctx, by, user, password, func(c *change, u *User) (err error) {
		c.auditUser(ActionSignIn, u, "")
		secret, err = c.newSession(u)
		return err
	})
	return secret, err
}

// setPassword does so if also, which may put more into the change, agrees. Its user
// has no session any more.
func (r *Registry) setPassword(ctx context.Context, by Author, user uint32, password string, also func(*change, *User) error) error {
	if err := errors.Join(by.MayCreateCredentials(), CheckPassword(password)); err != nil {
		return err
	}
	hashed, err := r.newHash(ctx, password)
	if err != nil {
		return err
	}
	err = r.change(by, func(c *change) error {
		u, err := c.person(user)
		if err != nil {
			return err
		}
		c.endSessions(u)
		if err := also(c, u); err != nil {
			return err
		}
		resets.Delete(c.records, user)
		c.forgive(user)
		c.auditUser(ActionPasswordSet, u, "")
		if err := passwords.Put(c.records, user, &storedPassword{Hash: hashed, Set: c.now}); err != nil {
			return err
		}
		return c.putUser(u)
	})
	if err != nil {
		return fmt.Errorf("set password: %w", err)
	}
	return nil
}

// person returns a user who may have a password.
func (c *change) person(id uint32) (*User, error) {
	u, err := c.User(id)
	if err == nil && u.Service {
		err = refuse("%s is a service account, which has no password: create a token for it", u.Name)
	}
	return u, err
}

// HasPassword reports whether a user has a password, even a damaged one.
func (r credentials) HasPassword(user uint32) (bool, error) {
	_, err := r.st.Record(store.RecordPassword, table.ID(user))
	if isNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// ResetPassword takes a user's password away, ends their sessions, and returns
// a code by which they may choose a new one, once and for a day.
func (r *Registry) ResetPassword(by Author, user uint32) (code string, err error) {
	err = r.change(by, func(c *change) error {
		if err := by.MayCreateCredentials(); err != nil {
			return err
		}
		u, err := c.person(user)
		if err != nil {
			return err
		}
		text, h, err := newCode(c.options().Random)
		if err != nil {
			return err
		}
		code = text
		c.endSessions(u)
		passwords.Delete(c.records, user)
		c.auditUser(ActionPasswordLink, u, "")
		if err := resets.Put(c.records, user, &storedReset{Hash: h[:], Expires: c.now.Add(resetLasts)}); err != nil {
			return err
		}
		return c.putUser(u)
	})
	if err != nil {
		return "", fmt.Errorf("reset password: %w", err)
	}
	return code, nil
}

// CheckReset returns the user who may choose a password by this code, or an
// error that is ErrNoCredential.
func (r credentials) CheckReset(user uint32, code string) (*User, error) {
	stored, err := resets.Get(r.st, user)
	if err != nil {
		return nil, fmt.Errorf("check reset code: %w", credential(err))
	}
	h, ok := parseCode(code)
	if !ok || subtle.ConstantTimeCompare(h[:], stored.Hash) != 1 || !r.options().Now().Before(stored.Expires) {
		return nil, ErrNoCredential
	}
	u, err := r.User(user)
	if err != nil {
		return nil, fmt.Errorf("check reset code: %w", credential(err))
	}
	return u, nil
}

// ChoosePassword sets the password of the user with this code, which cannot be
// used again; the error is ErrNoCredential for a wrong one.
func (r *Registry) ChoosePassword(ctx context.Context, by Author, user uint32, code, password string) error {
	if err := r.CatchUp(ctx); err != nil {
		return err
	}
	// Checked before a hash is computed in vain.
	u, err := r.CheckReset(user, code)
	if err != nil {
		return err
	}
	by.UserID, by.User, by.Via = u.ID, u.Name, "reset code"
	return r.setPassword(ctx, by, user, password, func(c *change, _ *User) error {
		_, err := c.CheckReset(user, code)
		return err
	})
}
