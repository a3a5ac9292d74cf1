package identity

import (
	"errors"
	"fmt"
	"slices"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/table"
)

// verifying reads all records of accounts and reports their faults.
type verifying struct {
	st   *store.Store
	tell func(store.FaultyRecord)
	// users and orgs are those that there are, tokens the live and other ones by
	// user and number.
	users  map[uint32]*User
	orgs   map[uint32]*Org
	tokens map[[2]uint32]bool
}

// Verify reads every record of users, organisations, tokens and sessions, and
// reports those that cannot be decoded or refer to a user who does not exist.
// Sessions and resets of passwords can be deleted: they let no user in, and
// people sign in, or ask for a reset, again. The error says why it could not
// read on.
func Verify(st *store.Store, tell func(store.FaultyRecord)) error {
	v := &verifying{st: st, tell: tell, users: map[uint32]*User{}, orgs: map[uint32]*Org{}, tokens: map[[2]uint32]bool{}}
	return errors.Join(v.accounts(), v.names(), v.belongings(), v.credentials())
}

func (v *verifying) user(id uint32) error {
	if v.users[id] == nil {
		return fmt.Errorf("there is no user %d", id)
	}
	return nil
}

func (v *verifying) accounts() error {
	return errors.Join(
		users.Verify(v.st, v.tell, nil, func(id uint32, u *User) error {
			v.users[id] = u
			return nil
		}),
		orgs.Verify(v.st, v.tell, nil, func(id uint32, o *Org) error {
			v.orgs[id] = o
			return nil
		}))
}

// names verifies that every name and address leads to whom it belongs, and
// everybody has theirs.
func (v *verifying) names() error {
	err := errors.Join(
		names.Verify(v.st, v.tell, nil, func(key string, of *account) error {
			name := ""
			if u := v.users[of.ID]; of.Kind == nameOfUser && u != nil {
				name = u.Name
			}
			if o := v.orgs[of.ID]; of.Kind == nameOfOrg && o != nil {
				name = o.Name
			}
			if nameKey(name) != key {
				return fmt.Errorf("%q is not the name of %c %d", key, of.Kind, of.ID)
			}
			return nil
		}),
		emails.Verify(v.st, v.tell, nil, func(key string, user *uint32) error {
			u := v.users[*user]
			if u == nil || !slices.ContainsFunc(u.Emails, func(e Email) bool { return e.Verified && nameKey(e.Address) == key }) {
				return fmt.Errorf("%q is no address of user %d", key, *user)
			}
			return nil
		}))
	for id, u := range v.users {
		if _, err := names.Get(v.st, nameKey(u.Name)); err != nil {
			v.tell(store.FaultyRecord{Problem: fmt.Sprintf("user %d, %q, is not found by name: %v", id, u.Name, err)})
		}
	}
	for id, o := range v.orgs {
		if _, err := names.Get(v.st, nameKey(o.Name)); err != nil {
			v.tell(store.FaultyRecord{Problem: fmt.Sprintf("organisation %d, %q, is not found by name: %v", id, o.Name, err)})
		}
	}
	return err
}

// belongings verifies what stands under the number of a user.
func (v *verifying) belongings() error {
	member := func(user, org uint32, other *table.Table[[2]uint32, struct{}], key [2]uint32) error {
		if err := v.user(user); err != nil {
			return err
		}
		if v.orgs[org] == nil {
			return fmt.Errorf("there is no organisation %d", org)
		}
		_, err := other.Get(v.st, key)
		return err
	}
	return errors.Join(
		passwords.Verify(v.st, v.tell, nil, func(user uint32, _ *storedPassword) error { return v.user(user) }),
		lockouts.Verify(v.st, v.tell, nil, func(user uint32, _ *failures) error { return v.user(user) }),
		failed.Verify(v.st, v.tell, table.Always, nil),
		secrets.Verify(v.st, v.tell, table.Always, nil),
		externals.Verify(v.st, v.tell, nil, func(_ string, l *externalLink) error { return v.user(l.User) }),
		seen.Verify(v.st, v.tell, nil, nil),
		members.Verify(v.st, v.tell, nil, func(key [2]uint32, _ *struct{}) error {
			return member(key[1], key[0], memberships, [2]uint32{key[1], key[0]})
		}),
		memberships.Verify(v.st, v.tell, nil, func(key [2]uint32, _ *struct{}) error {
			return member(key[0], key[1], members, [2]uint32{key[1], key[0]})
		}))
}

func (v *verifying) credentials() error {
	return errors.Join(
		tokens.Verify(v.st, v.tell, nil, func(key [2]uint32, t *Token) error {
			v.tokens[key] = true
			if !t.Revoked.IsZero() {
				return nil // it outlives its user
			}
			return v.user(t.User)
		}),
		tokenHashes.Verify(v.st, v.tell, nil, func(_ hash, key *[2]uint32) error {
			if !v.tokens[*key] {
				return fmt.Errorf("it leads to token %d of user %d, which there is not", key[1], key[0])
			}
			return nil
		}),
		tokenUses.Verify(v.st, v.tell, nil, nil),
		sessions.Verify(v.st, v.tell, table.Always, func(_ hash, s *Session) error { return v.user(s.User) }),
		resets.Verify(v.st, v.tell, table.Always, func(user uint32, _ *storedReset) error { return v.user(user) }),
		entries.Verify(v.st, v.tell, nil, nil),
		pins.Verify(v.st, v.tell, nil, nil),
		counters.Verify(v.st, v.tell, nil, nil))
}
