package account

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/store/identity"
)

// people are all users and organisations, by name. An answer reads them once,
// however often it lists them, until it changes something.
type people struct {
	users []*identity.User
	orgs  []*identity.Org
}

// What a user or an organisation holds, and what it does once more in each list.
const (
	personBytes      = 600
	rowBytesOfPeople = 64
)

// users returns all users. It is called by the resolver that runs.
func (s *Session) users() ([]*identity.User, error) {
	if s.people.users != nil {
		return s.people.users, nil
	}
	all, err := s.Registry.Users()
	if err == nil {
		err = s.Hold(personBytes * len(all))
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *identity.User) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.ID, b.ID))
	})
	s.people.users = all
	return all, nil
}

// orgs returns all organisations, as users does.
func (s *Session) orgs() ([]*identity.Org, error) {
	if s.people.orgs != nil {
		return s.people.orgs, nil
	}
	all, err := s.Registry.Orgs()
	if err == nil {
		err = s.Hold(personBytes * len(all))
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *identity.Org) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	s.people.orgs = all
	return all, nil
}
