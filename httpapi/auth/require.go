package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/trawlsearch/trawl/store/identity"
)

// What somebody is not allowed to do. The texts are part of the interface.
var (
	ErrNotSignedIn  = errors.New("not authenticated")
	ErrNotSiteAdmin = errors.New("must be site admin")
	ErrNotSelf      = errors.New("must be authenticated as the authorized user or site admin")
	ErrNotMember    = errors.New("current user is not an org member")
)

// RequireUser returns the user that the actor of ctx is, or ErrNotSignedIn.
func RequireUser(ctx context.Context) (*identity.User, error) {
	if u := From(ctx).User; u != nil {
		return u, nil
	}
	return nil, ErrNotSignedIn
}

// RequireSiteAdmin fails with ErrNotSignedIn or ErrNotSiteAdmin unless the
// actor of ctx may administer the site.
func RequireSiteAdmin(ctx context.Context) error {
	switch a := From(ctx); {
	case a.Anonymous():
		return ErrNotSignedIn
	case !a.SiteAdmin():
		return ErrNotSiteAdmin
	}
	return nil
}

// RequireSelf fails unless the actor of ctx is the user with this ID.
func RequireSelf(ctx context.Context, id uint32) error {
	if u := From(ctx).User; u == nil || u.ID != id {
		return fmt.Errorf("must be authenticated as user with id %d", id)
	}
	return nil
}

// RequireSelfOrSiteAdmin fails with ErrNotSelf unless the actor of ctx is the
// user with this ID or may administer the site.
func RequireSelfOrSiteAdmin(ctx context.Context, id uint32) error {
	if a := From(ctx); !a.SiteAdmin() && (a.User == nil || a.User.ID != id) {
		return ErrNotSelf
	}
	return nil
}

// RequireMember fails with ErrNotMember unless the actor of ctx is a member of
// the organisation or may administer the site.
func RequireMember(ctx context.Context, org uint32) error {
	if a := From(ctx); !a.SiteAdmin() && !slices.Contains(a.Orgs, org) {
		return ErrNotMember
	}
	return nil
}
