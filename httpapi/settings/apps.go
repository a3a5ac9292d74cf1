package settings

import (
	"net/http"
	"strings"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
)

const appsPath = "/site-admin/oauth-apps"

// apps is the section about OAuth apps, for site admins.
func (a *Area) apps() Section {
	return Section{SiteAdmin, web.Link{Title: "OAuth apps", Path: appsPath}, []httpapi.Route{
		{Method: "GET", Path: appsPath, Handler: a.serveApps, Access: auth.ForSiteAdmins},
		{Method: "POST", Path: appsPath, Handler: a.createApp, Access: auth.ForSiteAdmins},
		{Method: "POST", Path: appsPath + "/secret", Handler: a.rotateSecret, Access: auth.ForSiteAdmins},
		{Method: "POST", Path: appsPath + "/disable", Handler: a.changeApp(a.disableApp(true)), Access: auth.ForSiteAdmins},
		{Method: "POST", Path: appsPath + "/enable", Handler: a.changeApp(a.disableApp(false)), Access: auth.ForSiteAdmins},
		{Method: "POST", Path: appsPath + "/delete", Handler: a.changeApp(a.deleteApp), Access: auth.ForSiteAdmins},
	}}
}

// appsData is what the list of apps shows.
type appsData struct {
	notice
	paging
	Path string
	Apps []appRow
	// Made is the app that was just made or given another secret, Secret its
	// secret, "" if it has none.
	Made   *oauth.App
	Secret string
	Kinds  []appKind
	// Ask is what was filled in, Redirects on a line each.
	Ask                oauth.NewApp
	Redirects, Account string
}

// appRow is a line of the list.
type appRow struct {
	*oauth.App
	// As is the name of the service account, "" without one.
	As string
}

// appKind is a kind of app to choose.
type appKind struct {
	oauth.AppKind
	About string
}

var appKinds = []appKind{
	{oauth.Confidential, "a server, which keeps a secret"},
	{oauth.Public, "a program on people's machines, which cannot"},
	{oauth.Service, "a program that acts as a service account and asks nobody"},
}

func (a *Area) serveApps(w http.ResponseWriter, r *http.Request) error {
	return a.appsPage(w, r, http.StatusOK, appsData{notice: done(r, map[string]string{
		"off": "The app is switched off, and none of its tokens is good.", "on": "The app is switched on again.",
		"deleted": "The app is deleted, and none of its tokens is good.",
	})})
}

// appsPage fills in what the page shows beside what d has.
func (a *Area) appsPage(w http.ResponseWriter, r *http.Request, status int, d appsData) error {
	all, err := a.Apps().Apps()
	if err != nil {
		return err
	}
	d.Path, d.Kinds = a.Server.Path(appsPath), appKinds
	d.paging = newPaging(r, d.Path, len(all))
	for _, app := range shown(d.paging, all) {
		row := appRow{App: app}
		if app.Account != 0 {
			u, err := a.registry().User(app.Account)
			if err != nil && !isGone(err) {
				return err
			}
			row.As = "an account that is gone"
			if err == nil {
				row.As = u.Name
			}
		}
		d.Apps = append(d.Apps, row)
	}
	return a.serve(w, r, web.View{Page: "apps.html", Status: status, Here: appsPath, Data: d})
}

// appsProblem shows the page again with what went wrong.
func (a *Area) appsProblem(w http.ResponseWriter, r *http.Request, d appsData, err error) error {
	status, n, err := problem(w, err)
	if err != nil {
		return err
	}
	d.notice = n
	return a.appsPage(w, r, status, d)
}

// createApp makes an app and shows its secret, once.
func (a *Area) createApp(w http.ResponseWriter, r *http.Request) error {
	f, err := a.Server.ReadForm(w, r)
	if err != nil {
		return err
	}
	d := appsData{Redirects: f.Values["redirects"], Account: strings.TrimSpace(f.Values["account"])}
	d.Ask = oauth.NewApp{Name: strings.TrimSpace(f.Values["name"]), Kind: oauth.AppKind(f.Values["kind"]), Redirects: strings.Fields(d.Redirects)}
	ask := d.Ask
	if d.Account != "" {
		u, err := a.registry().UserNamed(d.Account)
		if isGone(err) {
			err = &identity.RuleError{Text: "there is no service account of that name"}
		}
		if err != nil {
			return a.appsProblem(w, r, d, err)
		}
		ask.Account = u.ID
	}
	secret, app, err := a.Apps().CreateApp(author(r), ask)
	if err != nil {
		return a.appsProblem(w, r, d, err)
	}
	return a.appsPage(w, r, http.StatusOK, appsData{Made: app, Secret: secret})
}

// rotateSecret gives an app another secret and shows it, once.
func (a *Area) rotateSecret(w http.ResponseWriter, r *http.Request) error {
	f, err := a.Server.ReadForm(w, r)
	if err != nil {
		return err
	}
	secret, err := a.Apps().RotateSecret(author(r), f.Values["id"])
	if err != nil {
		return a.appsProblem(w, r, appsData{}, err)
	}
	app, err := a.Apps().App(f.Values["id"])
	if err != nil {
		return err
	}
	return a.appsPage(w, r, http.StatusOK, appsData{Made: app, Secret: secret})
}

// appChange is what a form does to the app with an ID, and what it did then.
type appChange func(by identity.Author, id string) (did string, err error)

// changeApp reads a form and makes a change of it.
func (a *Area) changeApp(change appChange) httpapi.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		f, err := a.Server.ReadForm(w, r)
		if err != nil {
			return err
		}
		did, err := change(author(r), f.Values["id"])
		if err != nil {
			return a.appsProblem(w, r, appsData{}, err)
		}
		return a.back(w, r, appsPath, did)
	}
}

func (a *Area) disableApp(off bool) appChange {
	return func(by identity.Author, id string) (string, error) {
		did := map[bool]string{true: "off", false: "on"}[off]
		return did, a.Apps().SetDisabled(by, id, off)
	}
}

func (a *Area) deleteApp(by identity.Author, id string) (string, error) {
	return "deleted", a.Apps().DeleteApp(by, id)
}
