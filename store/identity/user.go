package identity

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// User is a person or a service account.
type User struct {
	// ID is stable and never used again.
	ID uint32 `json:"id"`
	// Name is unique among users and organisations, whatever the case of its
	// letters.
	Name        string  `json:"name"`
	DisplayName string  `json:"displayName,omitempty"`
	Emails      []Email `json:"emails,omitempty"`
	SiteAdmin   bool    `json:"siteAdmin,omitempty"`
	// Service says that this user cannot sign in: there is no password, and
	// admins create its tokens.
	Service bool `json:"service,omitempty"`
	// Locked takes effect on all credentials at once and can be undone.
	Locked  bool      `json:"locked,omitempty"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	// Epoch ends all sessions that were begun in an earlier one.
	Epoch uint32 `json:"epoch,omitempty"`
}

// Email is an address of a user; at most one of a user's is primary.
type Email struct {
	Address  string `json:"address"`
	Verified bool   `json:"verified,omitempty"`
	Primary  bool   `json:"primary,omitempty"`
}

// PrimaryEmail returns the user's primary address, "" if there is none.
func (u *User) PrimaryEmail() string {
	for _, e := range u.Emails {
		if e.Primary {
			return e.Address
		}
	}
	return ""
}

// NewUser is a user to create.
type NewUser struct {
	Name, DisplayName string
	// Email may be empty; it becomes the primary address.
	Email         string
	EmailVerified bool
	SiteAdmin     bool
	Service       bool
}

// User returns the user with an ID, or an error that is store.ErrNotFound.
func (r accounts) User(id uint32) (*User, error) { return users.Get(r.st, id) }

// UserNamed returns the user of that name, or an error that is
// store.ErrNotFound.
func (r accounts) UserNamed(name string) (*User, error) {
	id, err := r.owner(name, nameOfUser)
	if err != nil {
		return nil, fmt.Errorf("user %q: %w", name, err)
	}
	return r.User(id)
}

// Addresses returns the verified addresses of the user of a name, none if there
// is no such user.
func (r accounts) Addresses(name string) []string {
	u, err := r.UserNamed(name)
	if err != nil {
		return nil // a filter by who wrote something falls back to names
	}
	var out []string
	for _, e := range u.Emails {
		if e.Verified {
			out = append(out, e.Address)
		}
	}
	return out
}

// UserWithEmail returns the user whose verified address it is, or an error
// that is store.ErrNotFound.
func (r accounts) UserWithEmail(address string) (*User, error) {
	id, err := emails.Lookup(r.st, nameKey(address))
	if err != nil {
		return nil, fmt.Errorf("user with address %q: %w", address, err)
	}
	return r.User(*id)
}

// userOfLogin returns the user of a verified address, which has an @, or of a name.
func (r accounts) userOfLogin(login string) (*User, error) {
	if strings.Contains(login, "@") {
		return r.UserWithEmail(login)
	}
	return r.UserNamed(login)
}

// checkEnters refuses accounts that nobody signs in to.
func (u *User) checkEnters() error {
	if u.Locked || u.Service {
		return refuse("the account %s is locked: ask a site admin", u.Name)
	}
	return nil
}

// UserOfExternal returns the user whom a service that people sign in at calls so, or an
// error that is store.ErrNotFound.
func (r accounts) UserOfExternal(provider, subject string) (*User, error) {
	link, err := externals.Get(r.st, externalKey(provider, subject))
	if err != nil {
		return nil, fmt.Errorf("user of %s: %w", provider, err)
	}
	return r.User(link.User)
}

// Users returns all users by ID.
func (r accounts) Users() (out []*User, err error) {
	err = r.EachUser(func(u *User) { out = append(out, u) })
	return out, err
}

// EachUser calls f with all users by ID, for lists that keep little of each.
func (r accounts) EachUser(f func(*User)) error {
	err := users.Each(r.st, store.RecordRange{}, r.TellDamaged, func(_ uint32, u *User) (bool, error) {
		f(u)
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("list users: %w", err)
	}
	return nil
}

// LastActive returns when a user was last seen, give or take a minute; zero is
// never.
func (r accounts) LastActive(id uint32) (time.Time, error) {
	if t, ok := r.uses.user(id); ok {
		return t, nil
	}
	seconds, err := seen.Get(r.st, id)
	if isNotFound(err) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return time.Unix(*seconds, 0).UTC(), nil
}

// owner returns the ID of the user or organisation that has a name.
func (r accounts) owner(name string, kind byte) (uint32, error) {
	of, err := names.Lookup(r.st, nameKey(name))
	switch {
	case err != nil:
		return 0, err
	case of.Kind != kind:
		return 0, store.ErrNotFound
	}
	return of.ID, nil
}

// claim gives a name to the user or organisation with an ID.
func (c *change) claim(name string, kind byte, id uint32) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if err := c.reserve(name, kind, id); err != nil {
		return err
	}
	of, err := names.Get(c.st, nameKey(name))
	switch {
	case err == nil && *of != account{kind, id}:
		return fmt.Errorf("the name %q: %w", name, store.ErrExists)
	case err != nil && !isNotFound(err):
		return err
	}
	return names.Put(c.records, nameKey(name), &account{kind, id})
}

// CreateUser makes a user without a password.
func (r *Registry) CreateUser(by Author, n NewUser) (*User, error) {
	var u *User
	err := r.change(by, func(c *change) (err error) {
		u, err = c.createUser(n)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("create user: %w", err)
	}
	return u, nil
}

func (c *change) createUser(n NewUser) (*User, error) {
	if !n.Service || n.SiteAdmin {
		if err := c.by.MayCreateCredentials(); err != nil {
			return nil, err
		}
	}
	id, err := c.takeID(counterUser)
	if err != nil {
		return nil, err
	}
	u := &User{ID: id, Name: n.Name, SiteAdmin: n.SiteAdmin, Service: n.Service, Created: c.now}
	if n.Email != "" {
		if n.Service {
			return nil, refuse("a service account has no e-mail address")
		}
		u.Emails = []Email{{Address: n.Email, Verified: n.EmailVerified, Primary: true}}
	}
	if err := c.claim(n.Name, nameOfUser, id); err != nil {
		return nil, err
	}
	if err := c.setDisplayName(&u.DisplayName, n.DisplayName); err != nil {
		return nil, err
	}
	if err := c.claimEmails(u, nil); err != nil {
		return nil, err
	}
	c.auditUser(ActionUserCreate, u, "%s", u.traits())
	return u, c.putUser(u)
}

// traits returns the kind of the user in words.
func (u *User) traits() string {
	var out []string
	for _, t := range []struct {
		is   bool
		name string
	}{{u.SiteAdmin, "site admin"}, {u.Service, "service account"}, {u.Locked, "locked"}} {
		if t.is {
			out = append(out, t.name)
		}
	}
	return strings.Join(out, ", ")
}

func (c *change) setDisplayName(to *string, name string) error {
	*to = name
	return checkText("the display name", name, 255)
}

func (c *change) putUser(u *User) error {
	u.Updated = c.now
	return users.Put(c.records, u.ID, u)
}

// claimEmails checks u's addresses and makes the verified ones its own, instead
// of those in old.
func (c *change) claimEmails(u *User, old []Email) error {
	primary := 0
	for i, e := range u.Emails {
		if err := checkEmail(e.Address); err != nil {
			return err
		}
		same := func(o Email) bool { return strings.EqualFold(o.Address, e.Address) }
		if slices.IndexFunc(u.Emails, same) != i {
			return refuse("the address %q stands there twice", e.Address)
		}
		if e.Primary {
			primary++
		}
	}
	if primary > 1 {
		return refuse("one address at most can be the primary one")
	}
	for _, e := range old {
		if e.Verified {
			emails.Delete(c.records, nameKey(e.Address))
		}
	}
	for _, e := range u.Emails {
		if !e.Verified {
			continue
		}
		owner, err := emails.Get(c.st, nameKey(e.Address))
		switch {
		case err == nil && *owner != u.ID:
			return fmt.Errorf("the address %q: %w", e.Address, store.ErrExists)
		case err != nil && !isNotFound(err):
			return err
		}
		if err := emails.Put(c.records, nameKey(e.Address), &u.ID); err != nil {
			return err
		}
	}
	return nil
}
