package admin

import (
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/oauth"
)

// What the admin routes about apps read and write.
type (
	// App tells about one app. Secret is its secret, in the answer to its
	// creation and to a change of it only.
	App struct {
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

	// AppChange is the body of a request to switch an app off or on.
	AppChange struct {
		Disabled bool `json:"disabled"`
	}
)

func (h *Handlers) appRoutes() []httpapi.Route {
	return []httpapi.Route{
		answer(h, ListApps, func(c *call, _ None) ([]App, error) {
			all, err := c.ListApps()
			return each(all, err, func(a manage.App) (App, error) { return newApp(a), nil })
		}),
		answer(h, CreateApp, func(c *call, in App) (App, error) {
			a, err := c.CreateApp(oauth.NewApp{ID: in.ID, Name: in.Name, Kind: in.Kind, Redirects: in.Redirects, Scopes: in.Scopes}, in.Account)
			return sent(a, err, newApp)
		}),
		answer(h, ChangeApp, onParameter("id", func(c *call, id string, in AppChange) (None, error) { return None{}, c.DisableApp(id, in.Disabled) })),
		answer(h, DeleteApp, onParameter("id", func(c *call, id string, _ None) (None, error) { return None{}, c.DeleteApp(id) })),
		answer(h, RotateAppSecret, onParameter("id", func(c *call, id string, _ None) (App, error) {
			a, err := c.RotateAppSecret(id)
			return sent(a, err, newApp)
		})),
	}
}

func newApp(a manage.App) App {
	return App{
		ID: a.ID, Name: a.Name, Kind: a.Kind, Redirects: a.Redirects, Scopes: a.Scopes, Account: a.Account, Disabled: a.Disabled,
		BuiltIn: a.BuiltIn, Created: a.Created, Secret: a.Secret,
	}
}
