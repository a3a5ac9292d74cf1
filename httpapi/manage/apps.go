package manage

import (
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/oauth"
)

// App is an OAuth app. Account is the name of its service account, "" if it has
// none or that is deleted; Secret is there when it was just made.
type App struct {
	*oauth.App
	Account, Secret string
}

// ListApps returns all apps, for site admins.
func (o *Operations) ListApps() ([]App, error) {
	if err := auth.RequireSiteAdmin(o.Actor); err != nil {
		return nil, err
	}
	found, err := o.Apps.Apps.All()
	if err != nil {
		return nil, err
	}
	all := make([]App, len(found))
	for i, app := range found {
		if all[i], err = newApp(o, app, ""); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func newApp(o *Operations, a *oauth.App, secret string) (App, error) {
	out := App{App: a, Secret: secret}
	if a.Account == 0 {
		return out, nil
	}
	u, err := o.Registry.User(a.Account)
	if isNotFound(err) {
		return out, nil // deleted, and the app good for nothing
	}
	if err == nil {
		out.Account = u.Name
	}
	return out, err
}

// CreateApp makes an app, for site admins. An app of a service acts as the service
// account of a name.
func (o *Operations) CreateApp(n oauth.NewApp, account string) (App, error) {
	if err := auth.RequireSiteAdmin(o.Actor); err != nil {
		return App{}, err
	}
	if account != "" {
		u, err := o.Registry.UserNamed(account)
		if err != nil {
			return App{}, err
		}
		n.Account = u.ID
	}
	secret, app, err := o.Apps.Apps.Create(o.by(), n)
	if err != nil {
		return App{}, err
	}
	return newApp(o, app, secret)
}

// RotateAppSecret gives an app another secret, for site admins.
func (o *Operations) RotateAppSecret(id string) (App, error) {
	if err := auth.RequireSiteAdmin(o.Actor); err != nil {
		return App{}, err
	}
	secret, err := o.Apps.Apps.RotateSecret(o.by(), id)
	if err != nil {
		return App{}, err
	}
	app, err := o.Apps.Apps.Get(id)
	if err != nil {
		return App{}, err
	}
	return newApp(o, app, secret)
}

// DisableApp switches an app off or on again, for site admins.
func (o *Operations) DisableApp(id string, off bool) error {
	if err := auth.RequireSiteAdmin(o.Actor); err != nil {
		return err
	}
	return o.Apps.Apps.SetDisabled(o.by(), id, off)
}

// DeleteApp deletes an app, for site admins.
func (o *Operations) DeleteApp(id string) error {
	if err := auth.RequireSiteAdmin(o.Actor); err != nil {
		return err
	}
	return o.Apps.Apps.Delete(o.by(), id)
}

// RevokeApp ends all that an app may do for a user, for the user and site admins.
func (o *Operations) RevokeApp(user uint32, id string) error {
	if err := auth.RequireSelfOrSiteAdmin(o.Actor, user); err != nil {
		return err
	}
	return o.Apps.Grants.RevokeApp(o.by(), user, id)
}
