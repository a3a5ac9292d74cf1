package identity

import (
	"errors"
	"fmt"
	"slices"

	"github.com/trawlsearch/trawl/store"
)

// verifying reads all records of accounts and tells what is wrong with them.
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
// tells of those that cannot be decoded or refer to somebody whom there is not.
// Sessions and resets of passwords can be deleted: nobody gets in by them, and
// people sign in, or ask for a reset, again. The error says why it could not read
// on.
func Verify(st *store.Store, tell func(store.FaultyRecord)) error {
	v := &verifying{st: st, tell: tell, users: map[uint32]*User{}, orgs: map[uint32]*Org{}, tokens: map[[2]uint32]bool{}}
	return errors.Join(v.accounts(), v.names(), v.belongings(), v.credentials())
}

// records calls f with the records of a kind whose ids are so long, 0 for any
// length, and tells what f returns.
func (v *verifying) records(kind store.RecordKind, what string, length int, f func(id, value []byte) error) error {
	return v.st.EachRecord(store.RecordRange{Kind: kind}, func(id, value []byte) (bool, error) {
		err := errors.New("its key has a wrong length")
		if length == 0 || len(id) == length {
			err = f(id, value)
		}
		if err != nil {
			stray := kind == store.RecordSession || kind == store.RecordReset
			v.tell(store.FaultOf(kind, id, fmt.Sprintf("%s %x: %v", what, id, err), stray))
		}
		return true, nil
	})
}

func (v *verifying) user(id uint32) error {
	if v.users[id] == nil {
		return fmt.Errorf("there is no user %d", id)
	}
	return nil
}

func (v *verifying) accounts() error {
	return errors.Join(
		v.records(store.RecordUser, "user", 4, func(id, value []byte) error {
			u := &User{}
			if err := store.DecodeRecord(store.RecordUser, id, value, u); err != nil {
				return err
			}
			if v.users[number(id)] = u; u.ID != number(id) {
				return fmt.Errorf("it is that of user %d", u.ID)
			}
			return nil
		}),
		v.records(store.RecordOrg, "organisation", 4, func(id, value []byte) error {
			o := &Org{}
			if err := store.DecodeRecord(store.RecordOrg, id, value, o); err != nil {
				return err
			}
			if v.orgs[number(id)] = o; o.ID != number(id) {
				return fmt.Errorf("it is that of organisation %d", o.ID)
			}
			return nil
		}))
}

// names verifies that every name and address leads to whom it belongs, and
// everybody has theirs.
func (v *verifying) names() error {
	err := errors.Join(
		v.records(store.RecordName, "name", 0, func(id, value []byte) error {
			if len(value) != 5 {
				return fmt.Errorf("%d bytes, want 5", len(value))
			}
			owner, name := number(value[1:]), ""
			if u := v.users[owner]; value[0] == nameOfUser && u != nil {
				name = u.Name
			}
			if o := v.orgs[owner]; value[0] == nameOfOrg && o != nil {
				name = o.Name
			}
			if string(nameKey(name)) != string(id) {
				return fmt.Errorf("%q is not the name of %c %d", id, value[0], owner)
			}
			return nil
		}),
		v.records(store.RecordEmail, "address", 0, func(id, value []byte) error {
			if len(value) != 4 {
				return fmt.Errorf("%d bytes, want 4", len(value))
			}
			u := v.users[number(value)]
			if u == nil || !slices.ContainsFunc(u.Emails, func(e Email) bool { return e.Verified && string(nameKey(e.Address)) == string(id) }) {
				return fmt.Errorf("%q is no address of user %d", id, number(value))
			}
			return nil
		}))
	for id, u := range v.users {
		if _, err := v.st.Record(store.RecordName, nameKey(u.Name)); err != nil {
			v.tell(store.FaultyRecord{Problem: fmt.Sprintf("user %d, %q, is not found by name: %v", id, u.Name, err)})
		}
	}
	for id, o := range v.orgs {
		if _, err := v.st.Record(store.RecordName, nameKey(o.Name)); err != nil {
			v.tell(store.FaultyRecord{Problem: fmt.Sprintf("organisation %d, %q, is not found by name: %v", id, o.Name, err)})
		}
	}
	return err
}

// belongings verifies what stands under the number of a user.
func (v *verifying) belongings() error {
	ofUser := func(id, _ []byte) error { return v.user(number(id)) }
	member := func(user, org uint32, other store.RecordKind, key []byte) error {
		if err := v.user(user); err != nil {
			return err
		}
		if v.orgs[org] == nil {
			return fmt.Errorf("there is no organisation %d", org)
		}
		_, err := v.st.Record(other, key)
		return err
	}
	return errors.Join(
		v.records(store.RecordPassword, "password of user", 4, ofUser),
		v.records(store.RecordLockout, "lockout of user", 4, ofUser),
		v.records(store.RecordSeen, "last use of user", 4, func(_, value []byte) error {
			if len(value) != 8 {
				return fmt.Errorf("%d bytes, want 8", len(value))
			}
			return nil
		}),
		v.records(store.RecordMember, "member", 8, func(id, _ []byte) error {
			org, user := number(id), number(id[4:])
			return member(user, org, store.RecordMembership, id44(user, org))
		}),
		v.records(store.RecordMembership, "membership", 8, func(id, _ []byte) error {
			user, org := number(id), number(id[4:])
			return member(user, org, store.RecordMember, id44(org, user))
		}))
}

func (v *verifying) credentials() error {
	return errors.Join(
		v.records(store.RecordToken, "token", 8, func(id, value []byte) error {
			var t Token
			if err := store.DecodeRecord(store.RecordToken, id, value, &t); err != nil {
				return err
			}
			v.tokens[[2]uint32{number(id), number(id[4:])}] = true
			if t.User != number(id) || t.ID != number(id[4:]) {
				return fmt.Errorf("it is token %d of user %d", t.ID, t.User)
			}
			if !t.Revoked.IsZero() {
				return nil // it outlives its user
			}
			return v.user(t.User)
		}),
		v.records(store.RecordTokenHash, "hash of a token", 32, func(_, value []byte) error {
			if len(value) != 8 || !v.tokens[[2]uint32{number(value), number(value[4:])}] {
				return fmt.Errorf("it leads to %x, which is no token", value)
			}
			return nil
		}),
		v.records(store.RecordTokenUse, "use of token", 4, func(_, value []byte) error {
			if len(value) != 12 {
				return fmt.Errorf("%d bytes, want 12", len(value))
			}
			return nil
		}),
		v.records(store.RecordSession, "session", 32, func(id, value []byte) error {
			var s Session
			if err := store.DecodeRecord(store.RecordSession, id, value, &s); err != nil {
				return err
			}
			return v.user(s.User)
		}),
		v.records(store.RecordReset, "reset of a password", 4, func(id, value []byte) error {
			var s storedReset
			if err := store.DecodeRecord(store.RecordReset, id, value, &s); err != nil {
				return err
			}
			return v.user(number(id))
		}),
		v.records(store.RecordAudit, "entry of the audit log", 8, func(id, value []byte) error {
			var e Entry
			return store.DecodeRecord(store.RecordAudit, id, value, &e)
		}),
		v.records(store.RecordPin, "pin of a reader", 0, func(id, value []byte) error {
			var p storedPin
			if _, _, ok := cutReader(string(id)); !ok {
				return errors.New("it is of no reader")
			}
			return store.DecodeRecord(store.RecordPin, id, value, &p)
		}),
		v.records(store.RecordCounter, "counter", 0, func(id, value []byte) error {
			var n uint64
			return store.DecodeRecord(store.RecordCounter, id, value, &n)
		}))
}
