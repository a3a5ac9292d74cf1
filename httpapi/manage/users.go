package manage

import (
	"context"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/identity"
)

// CreateUser makes a user, for site admins. A person gets the password or, if it
// is empty, a code by which they choose one.
func (o *Operations) CreateUser(ctx context.Context, n identity.NewUser, password string) (u *identity.User, code string, err error) {
	if err := auth.RequireSiteAdmin(o.Actor); err != nil {
		return nil, "", err
	}
	if password != "" {
		// Before there is a user whose password is refused.
		if err := identity.CheckPassword(password); err != nil {
			return nil, "", err
		}
	}
	if u, err = o.Registry.CreateUser(o.by(), n); err != nil || n.Service {
		return u, "", err
	}
	code, err = o.SetPassword(ctx, u.ID, password)
	return u, code, err
}

// ChangeUser changes a user and returns how it is then. Names are for the user and
// site admins; the rest is for other site admins.
func (o *Operations) ChangeUser(id uint32, c identity.UserChange) (*identity.User, error) {
	err := auth.RequireSelfOrSiteAdmin(o.Actor, id)
	if c.SiteAdmin != nil || c.Locked != nil || c.Emails != nil {
		err = onOther(o, id, "refusing to set current user site admin status")
	}
	if err != nil {
		return nil, err
	}
	return o.Registry.ChangeUser(o.by(), id, c)
}

// DeleteUser deletes a user with all that is theirs, for other site admins.
func (o *Operations) DeleteUser(id uint32) error {
	if err := onOther(o, id, "unable to delete current user"); err != nil {
		return err
	}
	return o.Registry.DeleteUser(o.by(), id)
}

// onOther lets site admins act on a user who is not the actor.
func onOther(o *Operations, id uint32, refusal SelfError) error {
	if err := auth.RequireSiteAdmin(o.Actor); err != nil {
		return err
	}
	if o.Actor.Is(id) {
		return refusal
	}
	_, err := o.Registry.User(id)
	return noUser(id, err)
}

// SetPassword gives a user a password or, if it is empty, takes theirs away and
// returns a code by which they choose one. It is for site admins.
func (o *Operations) SetPassword(ctx context.Context, id uint32, password string) (code string, err error) {
	if err := auth.RequireSiteAdmin(o.Actor); err != nil {
		return "", err
	}
	if password != "" {
		return "", noUser(id, o.Registry.SetPassword(ctx, o.by(), id, password))
	}
	code, err = o.Registry.ResetPassword(o.by(), id)
	return code, noUser(id, err)
}

// ChangePassword takes the old password of the actor, so that a browser left signed
// in does not give the account away. The new one ends all sessions; the secret is
// that of the next. ctx is not to end with the session of the request.
func (o *Operations) ChangePassword(ctx context.Context, from, to string) (secret string, err error) {
	u := o.Actor.User
	if u == nil {
		return "", auth.ErrNotSignedIn
	}
	if _, _, err := o.Registry.SignIn(ctx, o.by(), u.Name, from); err != nil {
		return "", err
	}
	return o.Registry.RenewPassword(ctx, o.by(), u.ID, to)
}

// Details are what is known of a user beside the record.
type Details struct {
	HasPassword bool
	LastActive  time.Time
	// Organizations are names, More counts those that are left out.
	Organizations []string
	More          int
}

// Details returns those of a user with at most so many organisations, 0 being all.
func (o *Operations) Details(id uint32, most int) (d Details, err error) {
	if err := auth.RequireSelfOrSiteAdmin(o.Actor, id); err != nil {
		return d, err
	}
	if d.HasPassword, err = o.Registry.HasPassword(id); err != nil {
		return d, err
	}
	if d.LastActive, err = o.Registry.LastActive(id); err != nil {
		return d, err
	}
	ids, err := o.Registry.OrgsOf(id)
	if err != nil {
		return d, err
	}
	d.Organizations, d.More, err = namesOf(ids, most, func(id uint32) (string, error) {
		org, err := o.Registry.Org(id)
		if err != nil {
			return "", err
		}
		return org.Name, nil
	})
	return d, err
}
