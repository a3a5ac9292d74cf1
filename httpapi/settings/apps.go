package settings

import (
	"strings"

	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
)

// appsData is what the list of apps shows.
type appsData struct {
	frame
	paging
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

func (d *appsData) fill(v *visit) error {
	all, err := v.ListApps()
	if err != nil {
		return err
	}
	d.Kinds = appKinds
	d.paging = newPaging(v.r, d.Path, len(all))
	for _, app := range shown(d.paging, all) {
		row := appRow{app.App, app.Account}
		if app.App.Account != 0 && row.As == "" {
			row.As = "an account that is gone"
		}
		d.Apps = append(d.Apps, row)
	}
	return nil
}

// createApp makes an app and shows its secret, once.
func createApp(v *visit) (answer, error) {
	d := &appsData{Redirects: v.form.Values["redirects"], Account: v.value("account")}
	d.Ask = oauth.NewApp{Name: v.value("name"), Kind: oauth.AppKind(v.form.Values["kind"]), Redirects: strings.Fields(d.Redirects)}
	app, err := v.CreateApp(d.Ask, d.Account)
	if isGone(err) {
		err = &identity.RuleError{Text: "there is no service account of that name"}
	}
	if err != nil {
		return answer{data: d}, err
	}
	return madeApp(app), nil
}

// madeApp shows the secret of an app.
func madeApp(a manage.App) answer { return answer{data: &appsData{Made: a.App, Secret: a.Secret}} }

// rotateSecret gives an app another secret and shows it, once.
func rotateSecret(v *visit) (answer, error) {
	app, err := v.RotateAppSecret(v.form.Values["id"])
	if err != nil {
		return answer{}, err
	}
	return madeApp(app), nil
}

func disableApp(v *visit) (answer, error) {
	return answer{did: "off"}, v.DisableApp(v.form.Values["id"], true)
}

func enableApp(v *visit) (answer, error) {
	return answer{did: "on"}, v.DisableApp(v.form.Values["id"], false)
}

func deleteApp(v *visit) (answer, error) {
	return answer{did: "deleted"}, v.DeleteApp(v.form.Values["id"])
}
