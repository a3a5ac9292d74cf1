package identity

import (
	"errors"
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/table"
)

// Org is an organisation: a named set of users.
type Org struct {
	// ID is stable and never used again.
	ID uint32 `json:"id"`
	// Name is unique among users and organisations.
	Name        string `json:"name"`
	DisplayName string `json:"displayName,omitempty"`
	// Creator is the ID of the user who made it within the quota of users, 0 for
	// the operator and for site admins.
	Creator uint32    `json:"creator,omitempty"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// Org returns the organisation with an ID, or an error that is
// store.ErrNotFound.
func (r accounts) Org(id uint32) (*Org, error) { return orgs.Get(r.st, id) }

// OrgNamed returns the organisation of that name, or an error that is
// store.ErrNotFound.
func (r accounts) OrgNamed(name string) (*Org, error) {
	id, err := r.owner(name, nameOfOrg)
	if err != nil {
		return nil, fmt.Errorf("organisation %q: %w", name, err)
	}
	return r.Org(id)
}

// Orgs returns all organisations by ID.
func (r accounts) Orgs() (out []*Org, err error) {
	err = r.EachOrg(func(o *Org) { out = append(out, o) })
	return out, err
}

// EachOrg calls f with all organisations by ID, for lists that keep little of each.
func (r accounts) EachOrg(f func(*Org)) error {
	err := orgs.Each(r.st, store.RecordRange{}, r.TellDamaged, func(_ uint32, o *Org) (bool, error) {
		f(o)
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("list organisations: %w", err)
	}
	return nil
}

// OrgsOf returns the IDs of a user's organisations, ascending.
func (r accounts) OrgsOf(user uint32) ([]uint32, error) { return r.pairs(memberships, user) }

// Members returns the IDs of an organisation's users, ascending.
func (r accounts) Members(org uint32) ([]uint32, error) { return r.pairs(members, org) }

// pairs returns the second numbers of the records whose first is id. A damaged
// one is an error: rights follow from the list.
func (r accounts) pairs(of *table.Table[[2]uint32, struct{}], id uint32) (out []uint32, err error) {
	err = of.Each(r.st, store.RecordRange{Prefix: table.ID(id)}, nil, func(pair [2]uint32, _ *struct{}) (bool, error) {
		out = append(out, pair[1])
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("list members: %w", err)
	}
	return out, nil
}

// CreateOrg makes an organisation. Its author, if a user, is its first member.
func (r *Registry) CreateOrg(by Author, name, displayName string) (*Org, error) {
	var o *Org
	err := r.change(by, func(c *change) error {
		creator, err := c.mayCreateOrg()
		if err != nil {
			return err
		}
		id, err := c.takeID(counterOrg)
		if err != nil {
			return err
		}
		o = &Org{ID: id, Name: name, Created: c.now, Creator: creator}
		if err := c.claim(name, nameOfOrg, id); err != nil {
			return err
		}
		if err := c.setDisplayName(&o.DisplayName, displayName); err != nil {
			return err
		}
		if by.UserID != 0 {
			if err := c.addMember(id, by.UserID); err != nil {
				return err
			}
		}
		c.audit(ActionOrgCreate, orgTarget(name), "")
		return c.putOrg(o)
	})
	if err != nil {
		return nil, fmt.Errorf("create organisation: %w", err)
	}
	return o, nil
}

func (c *change) putOrg(o *Org) error {
	o.Updated = c.now
	return orgs.Put(c.records, o.ID, o)
}

// ChangeOrg gives an organisation another name or display name; nil stays.
func (r *Registry) ChangeOrg(by Author, id uint32, name, displayName *string) (*Org, error) {
	var o *Org
	err := r.change(by, func(c *change) (err error) {
		if o, err = c.Org(id); err != nil {
			return err
		}
		if name != nil && *name != o.Name {
			if err := c.rename(&o.Name, *name, nameOfOrg, id); err != nil {
				return err
			}
		}
		if displayName != nil {
			if err := c.setDisplayName(&o.DisplayName, *displayName); err != nil {
				return err
			}
		}
		c.audit(ActionOrgUpdate, orgTarget(o.Name), "")
		return c.putOrg(o)
	})
	if err != nil {
		return nil, fmt.Errorf("change organisation: %w", err)
	}
	return o, nil
}

// DeleteOrg deletes an organisation; its users stay.
func (r *Registry) DeleteOrg(by Author, id uint32) error {
	err := r.change(by, func(c *change) error {
		o, err := c.Org(id)
		if err != nil {
			return err
		}
		members, err := c.Members(id)
		if err != nil {
			return err
		}
		for _, user := range members {
			c.removeMember(id, user)
		}
		if err := c.countOrg(o.Creator, -1); err != nil {
			return err
		}
		names.Delete(c.records, nameKey(o.Name))
		orgs.Delete(c.records, id)
		c.audit(ActionOrgDelete, orgTarget(o.Name), "id %d", id)
		return nil
	})
	if err != nil {
		return fmt.Errorf("delete organisation: %w", err)
	}
	return nil
}

// AddMember makes a user a member of an organisation, if they are not.
func (r *Registry) AddMember(by Author, org, user uint32) error {
	return r.member(by, org, user, ActionMemberAdd, (*change).addMember)
}

// RemoveMember takes a user out of an organisation, if they are in it.
func (r *Registry) RemoveMember(by Author, org, user uint32) error {
	return r.member(by, org, user, ActionMemberRemove, func(c *change, org, user uint32) error {
		c.removeMember(org, user)
		return nil
	})
}

func (r *Registry) member(by Author, org, user uint32, action string, do func(c *change, org, user uint32) error) error {
	err := r.change(by, func(c *change) error {
		o, err := c.Org(org)
		if err != nil {
			return err
		}
		u, err := c.User(user)
		if err != nil {
			return err
		}
		if err := do(c, org, user); err != nil {
			return err
		}
		c.audit(action, orgTarget(o.Name), "%s", userTarget(u.Name))
		c.entries[len(c.entries)-1].About = u.ID
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	return nil
}

func (c *change) addMember(org, user uint32) error {
	return errors.Join(
		members.Put(c.records, [2]uint32{org, user}, &struct{}{}),
		memberships.Put(c.records, [2]uint32{user, org}, &struct{}{}))
}

func (c *change) removeMember(org, user uint32) {
	members.Delete(c.records, [2]uint32{org, user})
	memberships.Delete(c.records, [2]uint32{user, org})
}
