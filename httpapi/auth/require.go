package auth

import (
	"errors"
	"slices"
)

// The errors of actions that a user may not take. The texts are part of the
// interface.
var (
	ErrNotSignedIn  = errors.New("not authenticated")
	ErrNotSiteAdmin = errors.New("must be site admin")
	ErrNotSelf      = errors.New("must be authenticated as the authorized user or site admin")
	ErrNotMember    = errors.New("current user is not an org member")
)

// RequireSignedIn fails with ErrNotSignedIn unless a is a user or the operator.
func RequireSignedIn(a *Actor) error {
	if a.Anonymous() {
		return ErrNotSignedIn
	}
	return nil
}

// RequireSiteAdmin fails with ErrNotSignedIn or ErrNotSiteAdmin unless a may
// administer the site.
func RequireSiteAdmin(a *Actor) error {
	switch {
	case a.Anonymous():
		return ErrNotSignedIn
	case !a.SiteAdmin():
		return ErrNotSiteAdmin
	}
	return nil
}

// RequireSelfOrSiteAdmin fails with ErrNotSelf unless a is the user with this ID
// or may administer the site.
func RequireSelfOrSiteAdmin(a *Actor, id uint32) error {
	if !a.IsOrAdministers(id) {
		return ErrNotSelf
	}
	return nil
}

// RequireMember fails with ErrNotMember unless a is a member of the organisation
// or may administer the site.
func RequireMember(a *Actor, org uint32) error {
	if !a.SiteAdmin() && !slices.Contains(a.Orgs, org) {
		return ErrNotMember
	}
	return nil
}

// IsRefusal reports whether an error says what an actor may not do. Its text is
// for clients.
func IsRefusal(err error) bool {
	return errors.Is(err, ErrNotSignedIn) || errors.Is(err, ErrNotSiteAdmin) || errors.Is(err, ErrNotSelf) || errors.Is(err, ErrNotMember)
}
