package identity

import "fmt"

// OrgMode says who may make organisations.
type OrgMode string

// The modes.
const (
	OrgsAll   OrgMode = "all-users-create"
	OrgsAdmin OrgMode = "site-admin-create"
)

// ParseOrgMode reads a mode.
func ParseOrgMode(text string) (OrgMode, error) {
	m := OrgMode(text)
	if m != OrgsAll && m != OrgsAdmin {
		return "", fmt.Errorf("%q is not %s or %s", text, OrgsAll, OrgsAdmin)
	}
	return m, nil
}

// NamePolicy says which names users may take. The zero value is the default; the
// operator and site admins are not bound by it.
type NamePolicy struct {
	// Orgs is OrgsAll if empty. MaxOrgs is how many organisations that a user made
	// there may be at a time; 0 is 10.
	Orgs    OrgMode
	MaxOrgs int
	// Fixed forbids users to change their own user name.
	Fixed bool
}

func (p NamePolicy) withDefaults() NamePolicy {
	orDefault(&p.Orgs, OrgsAll)
	orDefault(&p.MaxOrgs, 10)
	return p
}

// mayCreateOrg judges whether the author may make an organisation, counts it
// and returns the user whom it counts for, 0 for an author without a limit.
func (c *change) mayCreateOrg() (creator uint32, err error) {
	if c.byAdmin() {
		return 0, nil
	}
	policy := c.options().Names
	if policy.Orgs == OrgsAdmin {
		return 0, refuse("only site admins make organisations here: ask one of them")
	}
	have, err := c.orgsMade(c.by.UserID)
	if err != nil {
		return 0, err
	}
	if have >= uint64(policy.MaxOrgs) {
		return 0, refuse("you have made %d organisations, which is as many as a user may: ask a site admin", have)
	}
	return c.by.UserID, c.countOrg(c.by.UserID, 1)
}

// mayRename judges whether the author may change a user name.
func (c *change) mayRename() error {
	if c.options().Names.Fixed && !c.byAdmin() {
		return refuse("only site admins change user names here: ask one of them")
	}
	return nil
}

// orgsMadeKey is the counter of the organisations that a user made.
func orgsMadeKey(user uint32) string { return fmt.Sprintf("orgs made by %d", user) }

func (r accounts) orgsMade(user uint32) (uint64, error) { return r.count(orgsMadeKey(user), 0) }

// countOrg adds to the organisations that a user made, if a user did.
func (c *change) countOrg(user uint32, more int) error {
	if user == 0 {
		return nil
	}
	n, err := c.orgsMade(user)
	if err != nil {
		return err
	}
	left := int64(n) + int64(more)
	if left <= 0 {
		counters.Delete(c.records, orgsMadeKey(user))
		return nil
	}
	n = uint64(left)
	return counters.Put(c.records, orgsMadeKey(user), &n)
}
