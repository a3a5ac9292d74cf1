package identity

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/table"
)

// UserChange names what of a user is to change; nil stays.
type UserChange struct {
	Name, DisplayName *string
	Emails            *[]Email
	SiteAdmin, Locked *bool
}

// ChangeUser changes a user and returns how it is then. The last site admin
// stays one, unless the operator decides otherwise.
func (r *Registry) ChangeUser(by Author, id uint32, uc UserChange) (*User, error) {
	var u *User
	err := r.change(by, func(c *change) (err error) {
		if u, err = c.User(id); err != nil {
			return err
		}
		return c.changeUser(u, uc)
	})
	if err != nil {
		return nil, fmt.Errorf("change user: %w", err)
	}
	return u, nil
}

func (c *change) changeUser(u *User, uc UserChange) error {
	before := *u
	if uc.Name != nil && *uc.Name != u.Name {
		if err := c.mayRename(); err != nil {
			return err
		}
		if err := c.rename(&u.Name, *uc.Name, nameOfUser, u.ID); err != nil {
			return err
		}
	}
	if uc.DisplayName != nil {
		if err := c.setDisplayName(&u.DisplayName, *uc.DisplayName); err != nil {
			return err
		}
	}
	if uc.Emails != nil {
		if u.Service && len(*uc.Emails) > 0 {
			return refuse("a service account has no e-mail address")
		}
		u.Emails = slices.Clone(*uc.Emails)
		if err := c.claimEmails(u, before.Emails); err != nil {
			return err
		}
	}
	if uc.SiteAdmin != nil {
		u.SiteAdmin = *uc.SiteAdmin
	}
	if uc.Locked != nil {
		u.Locked = *uc.Locked
	}
	if before.SiteAdmin && !before.Locked && (!u.SiteAdmin || u.Locked) {
		if err := c.anotherAdmin(u.ID); err != nil {
			return err
		}
	}
	if u.SiteAdmin && !before.SiteAdmin || before.Locked && !u.Locked {
		if err := c.by.MayCreateCredentials(); err != nil {
			return err
		}
	}
	c.auditUser(ActionUserUpdate, u, "%s", changed(&before, u))
	return c.putUser(u)
}

// changed returns the changes of a user in words.
func changed(before, after *User) string {
	var out []string
	note := func(is bool, format string, args ...any) {
		if is {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	note(before.Name != after.Name, "name was %s", before.Name)
	note(before.DisplayName != after.DisplayName, "display name")
	note(!slices.Equal(before.Emails, after.Emails), "e-mail addresses")
	note(before.SiteAdmin != after.SiteAdmin, "site admin: %t", after.SiteAdmin)
	note(before.Locked != after.Locked, "locked: %t", after.Locked)
	return strings.Join(out, ", ")
}

// rename gives a user or organisation another name.
func (c *change) rename(name *string, to string, kind byte, id uint32) error {
	names.Delete(c.records, nameKey(*name))
	*name = to
	return c.claim(to, kind, id)
}

// anotherAdmin fails when the user of this ID is the last who can administer
// the site.
func (c *change) anotherAdmin(but uint32) error {
	if c.by.Operator {
		return nil
	}
	found := false
	err := users.Each(c.st, store.RecordRange{}, c.TellDamaged, func(_ uint32, u *User) (bool, error) {
		found = u.ID != but && u.SiteAdmin && !u.Locked
		return !found, nil
	})
	if err == nil && !found {
		err = refuse("this is the last site admin: make another one first")
	}
	return err
}

// DeleteUser deletes a user with all that is theirs. Their name can be taken
// again, their ID is not.
func (r *Registry) DeleteUser(by Author, id uint32) error {
	err := r.change(by, func(c *change) error {
		u, err := c.User(id)
		if err != nil {
			return err
		}
		if u.SiteAdmin && !u.Locked {
			if err := c.anotherAdmin(id); err != nil {
				return err
			}
		}
		c.auditUser(ActionUserDelete, u, "id %d", id)
		return c.deleteUser(u)
	})
	if err != nil {
		return fmt.Errorf("delete user: %w", err)
	}
	return nil
}

func (c *change) deleteUser(u *User) error {
	for _, e := range u.Emails {
		if e.Verified {
			emails.Delete(c.records, nameKey(e.Address))
		}
	}
	of, err := c.OrgsOf(u.ID)
	if err != nil {
		return err
	}
	for _, org := range of {
		c.removeMember(org, u.ID)
	}
	live, err := c.Tokens(u.ID)
	if err != nil {
		return err
	}
	for _, t := range live {
		if err := c.revoke(t); err != nil {
			return err
		}
	}
	if err := c.forgetExternals(u.ID); err != nil {
		return err
	}
	names.Delete(c.records, nameKey(u.Name))
	counters.Delete(c.records, orgsMadeKey(u.ID))
	for _, kind := range []store.RecordKind{store.RecordUser, store.RecordPassword, store.RecordReset, store.RecordLockout, store.RecordSeen} {
		c.records.Delete(kind, table.ID(u.ID))
	}
	return nil
}
