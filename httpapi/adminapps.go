package httpapi

import (
	"errors"
	"net/http"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
)

// AdminAppsPath is where the admin routes about OAuth apps are. A parameter
// names the app by its client ID.
const AdminAppsPath = "/.api/trawl/oauth-apps"

// What the admin routes about apps read and write.
type (
	// AdminApp tells about one app. Secret is its secret, in the answer to its
	// creation and to a change of it only.
	AdminApp struct {
		ID        string        `json:"id"`
		Name      string        `json:"name"`
		Kind      oauth.AppKind `json:"kind"`
		Redirects []string      `json:"redirects,omitempty"`
		Scopes    []string      `json:"scopes"`
		// Account is the name of the service account of a service's app.
		Account  string    `json:"account,omitempty"`
		Disabled bool      `json:"disabled,omitempty"`
		BuiltIn  bool      `json:"builtIn,omitempty"`
		Created  time.Time `json:"created,omitzero"`
		Secret   string    `json:"secret,omitempty"`
	}

	// AdminAppChange is the body of a request to switch an app off or on.
	AdminAppChange struct {
		Disabled bool `json:"disabled"`
	}
)

// appRoutes are those that act on apps.
func (a *Admin) appRoutes() []Route {
	if a.Apps == nil {
		return nil
	}
	return []Route{
		{Method: "GET", Path: AdminAppsPath, Handler: a.apps(listApps)},
		{Method: "POST", Path: AdminAppsPath, Handler: a.apps(createApp)},
		{Method: "PATCH", Path: AdminAppsPath, Handler: a.apps(changeApp)},
		{Method: "DELETE", Path: AdminAppsPath, Handler: a.apps(deleteApp)},
		{Method: "POST", Path: AdminAppsPath + "/secret", Handler: a.apps(rotateAppSecret)},
	}
}

// appHandler is an identityHandler that acts on apps.
type appHandler func(book *oauth.Book, reg *identity.Registry, w http.ResponseWriter, r *http.Request) (any, error)

func (a *Admin) apps(h appHandler) Handler {
	return a.identity(func(reg *identity.Registry, w http.ResponseWriter, r *http.Request) (any, error) {
		return h(a.Apps(), reg, w, r)
	})
}

func listApps(book *oauth.Book, reg *identity.Registry, _ http.ResponseWriter, _ *http.Request) (any, error) {
	all, err := book.Apps()
	if err != nil {
		return nil, err
	}
	out := make([]AdminApp, len(all))
	for i, app := range all {
		if out[i], err = newAdminApp(reg, app); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func newAdminApp(reg *identity.Registry, a *oauth.App) (AdminApp, error) {
	out := AdminApp{
		ID: a.ID, Name: a.Name, Kind: a.Kind, Redirects: a.Redirects, Scopes: a.Scopes, Disabled: a.Disabled, BuiltIn: a.BuiltIn, Created: a.Created,
	}
	if a.Account == 0 {
		return out, nil
	}
	u, err := reg.User(a.Account)
	if errors.Is(err, store.ErrNotFound) {
		return out, nil // deleted, and the app good for nothing
	}
	if err == nil {
		out.Account = u.Name
	}
	return out, err
}

func createApp(book *oauth.Book, reg *identity.Registry, w http.ResponseWriter, r *http.Request) (any, error) {
	var n AdminApp
	if err := decodeAdmin(w, r, &n); err != nil {
		return nil, err
	}
	ask := oauth.NewApp{ID: n.ID, Name: n.Name, Kind: n.Kind, Redirects: n.Redirects, Scopes: n.Scopes}
	if n.Account != "" {
		u, err := reg.UserNamed(n.Account)
		if err != nil {
			return nil, err
		}
		ask.Account = u.ID
	}
	secret, app, err := book.CreateApp(author(r), ask)
	if err != nil {
		return nil, err
	}
	out, err := newAdminApp(reg, app)
	out.Secret = secret
	return out, err
}

func changeApp(book *oauth.Book, _ *identity.Registry, w http.ResponseWriter, r *http.Request) (any, error) {
	var c AdminAppChange
	if err := decodeAdmin(w, r, &c); err != nil {
		return nil, err
	}
	id, err := adminParameter(r, "id")
	if err != nil {
		return nil, err
	}
	return nil, book.SetDisabled(author(r), id, c.Disabled)
}

func deleteApp(book *oauth.Book, _ *identity.Registry, _ http.ResponseWriter, r *http.Request) (any, error) {
	id, err := adminParameter(r, "id")
	if err != nil {
		return nil, err
	}
	return nil, book.DeleteApp(author(r), id)
}

func rotateAppSecret(book *oauth.Book, reg *identity.Registry, _ http.ResponseWriter, r *http.Request) (any, error) {
	id, err := adminParameter(r, "id")
	if err != nil {
		return nil, err
	}
	secret, err := book.RotateSecret(author(r), id)
	if err != nil {
		return nil, err
	}
	app, err := book.App(id)
	if err != nil {
		return nil, err
	}
	out, err := newAdminApp(reg, app)
	out.Secret = secret
	return out, err
}
