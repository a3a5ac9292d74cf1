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

var pages = web.NewTemplates(files, "pages", nil)

// Group is a part of the sidebar.
type Group string

// The groups, in their order. SiteAdmin is shown to site admins only; who else
// asks for what it leads to is for its routes to refuse.
const (
	Account   Group = "Account"
	Searches  Group = "Searches"
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
	// Kept returns where the searches that people keep are, nil until the data
	// directory is open.
	Kept func() *manage.Kept
	// Services asks external services. It returns nil until the data directory is open.
	Services func() manage.ServiceHosts
	// Site is the configuration of the server.
	Site manage.Site
	// Backups returns nil until the data directory is open.
	Backups func() manage.Backups
	// Status tells how the server is.
	Status admin.StatusFunc
	// Programs are those that the server runs, with itself; nil is none.
	Programs func() []Program
	// Recent tells what the server did in the last hour.
	Recent func() admin.Recent
	// More are the sections of other packages.
	More []Section
}

// Program is one that the server runs. Version says what is wrong where it has none.
type Program struct{ Name, Version string }

// ofUsers reports whether a group is about the user who asks.
func (g Group) ofUsers() bool { return g == Account || g == Searches }

// section is an entry of the sidebar and its pages, of which the first is at path
// or, for those about the user who asks, where path leads.
type section struct {
	group       Group
	title, path string
	pages       []page
}

const (
	overviewPath      = "/site-admin/overview"
	usersPath         = "/site-admin/users"
	orgsPath          = "/site-admin/organizations"
	appsPath          = "/site-admin/oauth-apps"
	repositoriesPath  = "/site-admin/repositories"
	servicesPath      = "/site-admin/external-services"
	configurationPath = "/site-admin/configuration"
	backupsPath       = "/site-admin/backups"
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
	{Searches, "Saved searches", "/user/searches", []page{{
		path: "/users/{user}/searches", template: "searches.html", blank: func() content { return &searchesData{} },
		done:    map[string]string{"kept": "The search is saved.", "deleted": "The search is deleted."},
		actions: []action{{"", keepSearch}},
	}, {
		path: "/users/{user}/searches/{id}", template: "search.html", blank: func() content { return &searchData{} },
		done: map[string]string{
			"saved": "Saved.", "monitored": "The search is monitored.", "unmonitored": "The search is not monitored any more.",
		},
		actions: []action{{"", changeSearch}, {"/delete", deleteSearch}, {"/monitor", setMonitor}, {"/unmonitor", endMonitor}},
	}}},
	{Searches, "Search jobs", "/user/jobs", []page{{
		path: "/users/{user}/jobs", template: "jobs.html", scripts: []string{"jobs.js"}, blank: func() content { return &jobsData{} },
		done:    map[string]string{"queued": "The search job begins as soon as those before it have ended.", "deleted": "The search job is deleted."},
		actions: []action{{"", createJob}},
	}, {
		path: "/users/{user}/jobs/{id}", template: "job.html", scripts: []string{"jobs.js"}, blank: func() content { return &jobData{} },
		done:    map[string]string{"cancelled": "The search job has ended. What it found stays."},
		actions: []action{{"/cancel", cancelJob}, {"/delete", deleteJob}},
	}}},
	{Searches, "Search contexts", "/user/contexts", []page{{
		path: "/users/{user}/contexts", template: "contexts.html", blank: func() content { return &contextsData{} },
		done: map[string]string{
			"made": "The search context is there.", "deleted": "The search context is deleted.",
			"default": "Searches of the search page begin there.", "everywhere": "Searches of the search page begin in all repositories.",
			"marked": "The search page offers it.", "unmarked": "Saved.",
		},
		actions: []action{{"", createContext}},
	}, {
		path: "/users/{user}/contexts/{id}", template: "context.html", blank: func() content { return &contextData{} },
		done: map[string]string{"saved": "Saved."},
		actions: []action{
			{"", changeContext}, {"/delete", deleteContext}, {"/default", onListed("default", (*manage.Contexts).SetDefault)}, {"/no-default", onListed("everywhere", noDefault)},
			{"/star", onListed("marked", starContext)}, {"/unstar", onListed("unmarked", unstarContext)},
		},
	}}},
	{SiteAdmin, "Overview", overviewPath, []page{{
		path: overviewPath, template: "overview.html", blank: func() content { return &overviewData{} },
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
	}, {
		path: repositoriesPath + "/{id}", template: "repository.html", blank: func() content { return &repositoryData{} },
		done: map[string]string{
			"saved": "Saved.", "readers": "Saved. These may see it from now on.", "sync": "It is synced as soon as syncs that run have ended.",
			"reindex": "All of it is read again as soon as syncs that run have ended. Searches go on over what is there until that is done.",
		},
		actions: []action{
			{"/sync", syncNow}, {"/reindex", reindex}, {"/facts", changeFacts}, {"/metadata", putMetadata}, {"/metadata/remove", removeMetadata}, {"/readers", changeReaders},
		},
	}}},
	{SiteAdmin, "External services", servicesPath, []page{{
		path: servicesPath, template: "services.html", blank: func() content { return &servicesData{} },
		done: map[string]string{
			"added":   "It is there, and is asked in a moment.",
			"removed": "It is deleted, with the repositories that only it had.",
		},
		actions: []action{{"", addService}, {"/preview", previewNewService}},
	}, {
		path: servicesPath + "/{id}", template: "service.html", blank: func() content { return &serviceData{} },
		done:    map[string]string{"saved": "Saved. It is asked in a moment.", "sync": "It is asked in a moment."},
		actions: []action{{"", changeService}, {"/preview", previewService}, {"/sync", syncService}, {"/remove", removeService}},
	}}},
	{SiteAdmin, "Configuration", configurationPath, []page{{
		path: configurationPath, template: "configuration.html", blank: func() content { return &configurationData{} },
		done:    map[string]string{"saved": "Saved, and in force."},
		actions: []action{{"", configure}},
	}}},
	{SiteAdmin, "Backups", backupsPath, []page{{
		path: backupsPath, template: "backups.html", blank: func() content { return &backupsData{} },
		done: map[string]string{
			"begun":     "A backup begins. It is made in the background.",
			"verifying": "The backup is read in the background, every byte. What is found stands in its row.",
		},
		actions: []action{{"", backUpNow}, {"/verify", verifyBackup}},
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
	// Fixed paths stand before those of pages that take any number.
	all := append([]httpapi.Route{a.leadTo("/settings", "/settings")}, a.jobRoutes()...)
	for i := range sections {
		s := &sections[i]
		for j := range s.pages {
			all = append(all, a.routes(s, &s.pages[j])...)
		}
		if s.group.ofUsers() {
			all = append(all, a.leadTo(s.path, strings.TrimPrefix(s.path, "/user")))
		}
	}
	all = append(all, a.searchRoutes()...)
	for _, s := range a.More {
		for _, r := range s.Routes {
			r.Holds = pageHolds
			all = append(all, r)
		}
	}
	return all
}

// leadTo redirects to a page below that of the user who asks, with what the request
// asks of it.
func (a *Area) leadTo(from, page string) httpapi.Route {
	return httpapi.Route{Method: "GET", Path: from, Access: auth.ForUsers, Handler: func(w http.ResponseWriter, r *http.Request) error {
		u := auth.From(r.Context()).User
		if u == nil {
			return errNoAccount
		}
		to := a.Server.Path(userPath(u.Name) + page)
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		http.Redirect(w, r, to, http.StatusFound)
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
	for _, g := range []Group{Account, Searches, SiteAdmin, Tools} {
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
