package settings

import (
	"embed"
	"net/http"
	"net/url"
	"strings"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/httpapi/web"
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
	Repositories func() manage.Repositories
	// Apps returns the OAuth apps, nil until the data directory is open.
	Apps func() *oauth.Book
	// Site is the configuration of the server.
	Site manage.Site
	// Status tells how the server is.
	Status admin.StatusFunc
	// More are the sections of other packages.
	More []Section
}

// section is an entry of the sidebar and its pages, of which the first is at path
// or, for those about the user who asks, where path leads.
type section struct {
	group       Group
	title, path string
	pages       []page
}

const (
	usersPath         = "/site-admin/users"
	orgsPath          = "/site-admin/organizations"
	appsPath          = "/site-admin/oauth-apps"
	repositoriesPath  = "/site-admin/repositories"
	configurationPath = "/site-admin/configuration"
	nodesPath         = "/site-admin/nodes"
	auditPath         = "/site-admin/audit"
)

// sections are those of this package in the order of the sidebar.
var sections = []section{
	{Account, "Account", "/user/settings", []page{{
		path: "/users/{user}/settings", template: "account.html", blank: func() content { return &accountData{} },
		done: map[string]string{
			"profile":  "Saved.",
			"password": "Your password is changed. All other browsers have been signed out.",
		},
		actions: []action{{"/profile", changeProfile}, {"/password", changePassword}},
	}}},
	{Account, "Access tokens", "/user/settings/tokens", []page{{
		path: "/users/{user}/settings/tokens", template: "tokens.html", blank: func() content { return &tokensData{} },
		done: map[string]string{
			"revoked": "The token is revoked. Clients that still use it are refused from now on.",
			"created": "The service account is there. It needs a token to search with.",
		},
		actions: []action{{"", createToken}, {"/revoke", revokeToken}},
	}}},
	{Account, "Authorised apps", "/user/settings/authorised-apps", []page{{
		path: "/users/{user}/settings/authorised-apps", template: "authorised.html", blank: func() content { return &authorisedData{} },
		done:    map[string]string{"revoked": "The app cannot act for this account any more, anywhere."},
		actions: []action{{"/revoke", revokeApp}},
	}}},
	{SiteAdmin, "Users", usersPath, []page{{
		path: usersPath, template: "users.html", blank: func() content { return &usersData{} },
		done:    map[string]string{"deleted": "The user is deleted, with all that was theirs."},
		actions: []action{{"", createUser}},
	}, {
		path: usersPath + "/{user}", template: "user.html", blank: func() content { return &userData{} },
		done: map[string]string{
			"admin":  "Saved.",
			"locked": "The user is locked: nothing that stands for them is taken any more.",
			"open":   "The user is not locked any more.",
		},
		actions: []action{{"/admin", setAdmin}, {"/lock", setLocked}, {"/password", resetPassword}, {"/delete", deleteUser}},
	}}},
	{SiteAdmin, "Organisations", orgsPath, []page{{
		path: orgsPath, template: "orgs.html", blank: func() content { return &orgsData{} },
		done:    map[string]string{"saved": "Saved."},
		actions: []action{{"", createOrg}, {"/{org}/add", addMember}, {"/{org}/remove", removeMember}, {"/{org}/delete", deleteOrg}},
	}}},
	{SiteAdmin, "OAuth apps", appsPath, []page{{
		path: appsPath, template: "apps.html", blank: func() content { return &appsData{} },
		done: map[string]string{
			"off": "The app is switched off, and none of its tokens is good.", "on": "The app is switched on again.",
			"deleted": "The app is deleted, and none of its tokens is good.",
		},
		actions: []action{{"", createApp}, {"/secret", rotateSecret}, {"/disable", disableApp}, {"/enable", enableApp}, {"/delete", deleteApp}},
	}}},
	{SiteAdmin, "Repositories", repositoriesPath, []page{{
		path: repositoriesPath, template: "repositories.html", blank: func() content { return &repositoriesData{} },
		done: map[string]string{
			"sync":    "It is synced as soon as syncs that run have ended.",
			"added":   "It is there, and is indexed as soon as syncs that run have ended.",
			"removed": "It is removed, with all that was indexed of it.",
		},
		actions: []action{{"", addRepository}, {"/sync", syncRepository}, {"/remove", removeRepository}},
	}}},
	{SiteAdmin, "Configuration", configurationPath, []page{{
		path: configurationPath, template: "configuration.html", blank: func() content { return &configurationData{} },
		done:    map[string]string{"saved": "Saved, and in force."},
		actions: []action{{"", configure}},
	}}},
	{SiteAdmin, "Nodes", nodesPath, []page{{
		path: nodesPath, template: "nodes.html", blank: func() content { return &nodesData{} },
	}}},
	{SiteAdmin, "Audit log", auditPath, []page{{
		path: auditPath, template: "audit.html", blank: func() content { return &auditData{} },
	}}},
}

// links are those of a group of the sidebar.
func (a *Area) links(of Group) (links []web.Link) {
	for _, s := range sections {
		if s.group == of {
			links = append(links, web.Link{Title: s.title, Path: s.path})
		}
	}
	for _, s := range a.More {
		if s.Group == of {
			links = append(links, s.Link)
		}
	}
	if of == Tools {
		links = append(links, web.Link{Title: "HTTP API", Path: "/help/api"})
	}
	return links
}

// pageHolds is what a page of settings holds: lists of users and organisations
// are read whole to be searched and sorted.
const pageHolds = 12 << 20

// Routes returns the routes of all sections, and those that lead there from
// where people look for them.
func (a *Area) Routes() []httpapi.Route {
	all := []httpapi.Route{a.leadTo("/settings", "/settings")}
	for i := range sections {
		s := &sections[i]
		for j := range s.pages {
			all = append(all, a.routes(s, &s.pages[j])...)
		}
		if s.group == Account {
			all = append(all, a.leadTo(s.path, strings.TrimPrefix(s.path, "/user")))
		}
	}
	for _, s := range a.More {
		for _, r := range s.Routes {
			r.Holds = pageHolds
			all = append(all, r)
		}
	}
	return all
}

// leadTo redirects to a page below that of the user who asks.
func (a *Area) leadTo(from, page string) httpapi.Route {
	return httpapi.Route{Method: "GET", Path: from, Access: auth.ForUsers, Handler: func(w http.ResponseWriter, r *http.Request) error {
		u := auth.From(r.Context()).User
		if u == nil {
			return errNoAccount
		}
		http.Redirect(w, r, a.Server.Path(userPath(u.Name)+page), http.StatusFound)
		return nil
	}}
}

// errNoAccount is the answer to the operator, who has no settings.
var errNoAccount = &httpapi.Error{Status: http.StatusNotFound, Message: "only users have settings: sign in as one"}

// userPath is where the pages about a user are.
func userPath(name string) string { return "/users/" + url.PathEscape(name) }

// Serve answers with a page of t beside the sidebar.
func (a *Area) Serve(w http.ResponseWriter, r *http.Request, t web.Templates, v web.View) error {
	siteAdmin := auth.From(r.Context()).SiteAdmin()
	for _, g := range []Group{Account, SiteAdmin, Tools} {
		if g == SiteAdmin && !siteAdmin {
			continue
		}
		if links := a.links(g); links != nil {
			v.Side = append(v.Side, web.Group{Title: string(g), Links: links})
		}
	}
	v.Scripts = append(v.Scripts, "forms.js")
	return a.Server.ServePage(w, r, t, v)
}
