package manage

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/saved"
)

// Kept is where the searches that people keep are: saved searches and search jobs.
type Kept struct {
	Store    *store.Store
	Registry *identity.Registry
	Book     *saved.Book
	// Cancelled ends a search job that runs; nil ends none.
	Cancelled func(job uint32)
	// Mail says that the server sends mail.
	Mail bool
	// Now is the clock.
	Now func() time.Time
}

// owns reports whether an owner is the actor or an organisation of theirs.
func owns(a *auth.Actor, of saved.Subject) bool {
	switch of.Kind {
	case saved.SubjectUser:
		return a.Is(of.ID)
	case saved.SubjectOrg:
		return slices.Contains(a.Orgs, of.ID)
	}
	return false
}

// mayOwn refuses owners that are neither the actor nor an organisation of theirs, but
// for site admins.
func (k *Kept) mayOwn(a *auth.Actor, owner saved.Subject) error {
	if err := auth.RequireSignedIn(a); err != nil {
		return err
	}
	var err error
	switch owner.Kind {
	case saved.SubjectUser:
		if err = auth.RequireSelfOrSiteAdmin(a, owner.ID); err == nil {
			_, err = k.Registry.User(owner.ID)
			err = noUser(owner.ID, err)
		}
	case saved.SubjectOrg:
		if err = auth.RequireMember(a, owner.ID); err == nil {
			if _, err = k.Registry.Org(owner.ID); isNotFound(err) {
				err = errNoOrg
			}
		}
	default:
		err = refuse("the owner must be a user or an organization")
	}
	return err
}

// ErrCreatorGone says that a user for whom something runs in the background is gone or
// locked.
var ErrCreatorGone = errors.New("the user is gone or locked")

// ActorOf is a user for whom something runs in the background, as they are now; 0 is the
// operator.
func (k *Kept) ActorOf(creator uint32) (*auth.Actor, error) {
	if creator == 0 {
		return auth.OperatorActor(), nil
	}
	u, err := k.Registry.User(creator)
	if isNotFound(err) || err == nil && u.Locked {
		return nil, ErrCreatorGone
	}
	if err != nil {
		return nil, err
	}
	orgs, err := k.Registry.OrgsOf(creator)
	if err != nil {
		return nil, fmt.Errorf("organisations of user %d: %w", creator, err)
	}
	return &auth.Actor{User: u, Orgs: orgs}, nil
}

// OwnerName names an owner, "" for one that is gone.
func (k *Kept) OwnerName(of saved.Subject) (name string, err error) {
	switch of.Kind {
	case saved.SubjectUser:
		var u *identity.User
		if u, err = k.Registry.User(of.ID); err == nil {
			name = u.Name
		}
	case saved.SubjectOrg:
		var o *identity.Org
		if o, err = k.Registry.Org(of.ID); err == nil {
			name = o.Name
		}
	}
	if isNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("name the owner: %w", err)
	}
	return name, nil
}
