package manage

import (
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/identity"
)

// CreateOrg makes an organisation as the policy of the registry lets the actor,
// who is its first member.
func (o *Operations) CreateOrg(name, displayName string) (*identity.Org, error) {
	if err := auth.RequireSignedIn(o.Actor); err != nil {
		return nil, err
	}
	return o.Registry.CreateOrg(o.by(), name, displayName)
}

// DeleteOrg deletes an organisation, for site admins. Its members stay.
func (o *Operations) DeleteOrg(id uint32) error {
	if err := auth.RequireSiteAdmin(o.Actor); err != nil {
		return err
	}
	if _, err := knownOrg(o, id); err != nil {
		return err
	}
	return o.Registry.DeleteOrg(o.by(), id)
}

// AddMember makes the user of a name a member, for members and site admins.
func (o *Operations) AddMember(org uint32, user string) error {
	if err := onMembers(o, org); err != nil {
		return err
	}
	u, err := o.Registry.UserNamed(user)
	if err != nil {
		return err
	}
	return o.Registry.AddMember(o.by(), org, u.ID)
}

// RemoveMember takes a user out of an organisation, for members and site admins.
func (o *Operations) RemoveMember(org, user uint32) error {
	if err := onMembers(o, org); err != nil {
		return err
	}
	if _, err := o.Registry.User(user); err != nil {
		return noUser(user, err)
	}
	return o.Registry.RemoveMember(o.by(), org, user)
}

func onMembers(o *Operations, org uint32) error {
	if _, err := knownOrg(o, org); err != nil {
		return err
	}
	return auth.RequireMember(o.Actor, org)
}

// knownOrg finds an organisation, for clients that are known.
func knownOrg(o *Operations, id uint32) (*identity.Org, error) {
	if o.Actor.Anonymous() {
		return nil, errNoOrg
	}
	found, err := o.Registry.Org(id)
	if isNotFound(err) {
		err = errNoOrg
	}
	return found, err
}

// MemberNames returns the names of the first members of an organisation, all if
// most is 0, and how many more there are.
func (o *Operations) MemberNames(org uint32, most int) (names []string, more int, err error) {
	if err := auth.RequireMember(o.Actor, org); err != nil {
		return nil, 0, err
	}
	ids, err := o.Registry.Members(org)
	if err != nil {
		return nil, 0, err
	}
	return namesOf(ids, most, func(id uint32) (string, error) {
		u, err := o.Registry.User(id)
		if err != nil {
			return "", err
		}
		return u.Name, nil
	})
}
