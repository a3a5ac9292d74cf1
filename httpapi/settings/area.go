package settings

import (
	"embed"
	"net/http"
	"net/url"
	"slices"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
)

//go:embed all:pages
var files embed.FS

var pages = web.MustParse(files, "pages", nil)

// Group is a part of the sidebar.
type Group string

// The groups, in their order. SiteAdmin is shown to site admins only; who else
// asks for what it leads to is for its routes to refuse.
const (
	Account   Group = "Account"
	SiteAdmin Group = "Site admin"
	Tools     Group = "Tools"
)

// Section is an entry of the sidebar with the routes behind it, of which its
// link is one.
type Section struct {
	Group Group
	web.Link
	Routes []httpapi.Route
}

// Area is the settings of a server. Its fields are set before Routes and not
// changed afterwards.
type Area struct {
	// Server is where the pages are; it has a registry.
	Server *httpapi.Server
	// Repositories returns nil until the data directory is open.
	Repositories func() Repositories
	// Apps returns the OAuth apps, nil until the data directory is open.
	Apps func() *oauth.Book
	// More are the sections of other packages.
	More []Section
}

// sections are all of them in the order of the sidebar, in each group.
func (a *Area) sections() []Section {
	return slices.Concat([]Section{
		a.account(),
		a.tokens(),
		a.authorised(),
		a.users(),
		a.orgs(),
		a.apps(),
		a.repositories(),
		a.audit(),
	}, a.More, []Section{
		{Group: Tools, Link: web.Link{Title: "HTTP API", Path: "/help/api"}},
	})
}

// pageHolds is what a page of settings holds: lists of users and organisations
// are read whole to be searched and sorted.
const pageHolds = 12 << 20

// Routes returns the routes of all sections, and those that lead there from
// where clients and people look for them.
func (a *Area) Routes() []httpapi.Route {
	var all []httpapi.Route
	for _, s := range a.sections() {
		all = append(all, s.Routes...)
	}
	for i := range all {
		// Forms too: a page that shows a secret once must not fail for want of memory.
		all[i].Holds = pageHolds
	}
	for _, from := range []string{"/settings", "/user/settings"} {
		all = append(all, httpapi.Route{Method: "GET", Path: from, Handler: a.leadTo("/settings"), Access: auth.ForUsers})
	}
	return append(all, httpapi.Route{Method: "GET", Path: "/user/settings/tokens", Handler: a.leadTo("/settings/tokens"), Access: auth.ForUsers})
}

// leadTo redirects to a page below that of the user who asks.
func (a *Area) leadTo(page string) httpapi.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		u := auth.From(r.Context()).User
		if u == nil {
			return errNoAccount
		}
		http.Redirect(w, r, a.Server.Path(userPath(u.Name)+page), http.StatusFound)
		return nil
	}
}

// errNoAccount is the answer to the operator, who has no settings.
var errNoAccount = &httpapi.Error{Status: http.StatusNotFound, Message: "only users have settings: sign in as one"}

// userPath is where the pages about a user are.
func userPath(name string) string { return "/users/" + url.PathEscape(name) }

// Serve answers with a page of t beside the sidebar.
func (a *Area) Serve(w http.ResponseWriter, r *http.Request, t web.Templates, v web.View) error {
	admin := auth.From(r.Context()).SiteAdmin()
	for _, g := range []Group{Account, SiteAdmin, Tools} {
		if g == SiteAdmin && !admin {
			continue
		}
		group := web.Group{Title: string(g)}
		for _, s := range a.sections() {
			if s.Group == g {
				group.Links = append(group.Links, s.Link)
			}
		}
		if group.Links != nil {
			v.Side = append(v.Side, group)
		}
	}
	v.Scripts = append(v.Scripts, "forms.js")
	return a.Server.ServePage(w, r, t, v)
}

// serve is Serve with a page of this package.
func (a *Area) serve(w http.ResponseWriter, r *http.Request, v web.View) error {
	return a.Serve(w, r, pages, v)
}

func (a *Area) registry() *identity.Registry { return a.Server.Gate.Registry() }

// notice is what a form came to, in the words of its page.
type notice struct {
	// Done is what was done, Problem what was not and why.
	Done, Problem string
}

// done finds what was done before the redirect to a page: its text stands in
// the page's own code, so that no link puts words into it.
func done(r *http.Request, texts map[string]string) notice {
	return notice{Done: texts[r.URL.Query().Get("done")]}
}

// back leads from a form that was taken to the page that shows it, with more
// parameters as name, value.
func (a *Area) back(w http.ResponseWriter, r *http.Request, path, did string, more ...string) error {
	v := url.Values{"done": {did}}
	for i := 0; i+1 < len(more); i += 2 {
		if more[i+1] != "" {
			v.Set(more[i], more[i+1])
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, a.Server.Path(path)+"?"+v.Encode(), http.StatusSeeOther)
	return nil
}
