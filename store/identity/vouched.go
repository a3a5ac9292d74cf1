package identity

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/trawlsearch/trawl/store"
)

// VouchedUser returns the user whom a program in front of the server names, that has
// signed them in: the one with this verified address if the text has an @, and otherwise
// the one with this name. The error is store.ErrNotFound for a user that has no account
// yet, and a *RuleError for one that does not come in.
func (r accounts) VouchedUser(text string) (*User, error) {
	check := CheckName
	if strings.Contains(text, "@") {
		check = checkEmail
	}
	if err := check(text); err != nil {
		return nil, err
	}
	u, err := r.userOfLogin(text)
	if err == nil {
		err = u.checkEnters()
	}
	return u, err
}

// AdmitVouched is VouchedUser that makes the account of a user who has none, once there
// is a first user.
func (r *Registry) AdmitVouched(ctx context.Context, by Author, text string) (*User, error) {
	u, err := r.VouchedUser(text)
	if err == nil || !isNotFound(err) {
		return u, err
	}
	if err := r.CatchUp(ctx); err != nil {
		return nil, fmt.Errorf("sign in by the user header: %w", err)
	}
	err = r.change(by, func(c *change) (err error) {
		if u, err = c.VouchedUser(text); err == nil || !isNotFound(err) {
			return err // another request was faster
		}
		if !c.used() {
			return refuse("there is no user yet: create the first one, who administers this server")
		}
		c.by.Via = "user header"
		if strings.Contains(text, "@") {
			u, err = c.createExternal(External{Name: text, Email: text})
		} else {
			u, err = c.createUser(NewUser{Name: text})
		}
		return err
	})
	if errors.Is(err, store.ErrExists) {
		err = refuse("the name %s belongs to an organization: ask a site admin", text)
	}
	if err != nil {
		return nil, fmt.Errorf("sign in by the user header: %w", err)
	}
	return u, nil
}
