package settings

import (
	"net/http"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store/identity"
)

// users is the section about all users, for site admins.
func (a *Area) users() Section {
	const one = usersPath + "/{user}"
	return Section{SiteAdmin, web.Link{Title: "Users", Path: usersPath}, []httpapi.Route{
		{Method: "GET", Path: usersPath, Handler: a.serveUsers, Access: auth.ForSiteAdmins},
		{Method: "POST", Path: usersPath, Handler: a.createUser, Access: auth.ForSiteAdmins},
		{Method: "GET", Path: one, Handler: a.serveUser, Access: auth.ForSiteAdmins},
		{Method: "POST", Path: one + "/admin", Handler: a.setAdmin, Access: auth.ForSiteAdmins},
		{Method: "POST", Path: one + "/lock", Handler: a.setLocked, Access: auth.ForSiteAdmins},
		{Method: "POST", Path: one + "/password", Handler: a.resetPassword, Access: auth.ForSiteAdmins},
		{Method: "POST", Path: one + "/delete", Handler: a.deleteUser, Access: auth.ForSiteAdmins},
	}}
}

// usersData is what the list of users shows.
type usersData struct {
	notice
	paging
	Path  string
	Users []userRow
	// Name, Email, Admin and Service are what was filled in.
	Name, Email    string
	Admin, Service bool
}

// userRow is a line of the list.
type userRow struct {
	*identity.User
	Path       string
	LastActive time.Time
}

func (a *Area) serveUsers(w http.ResponseWriter, r *http.Request) error {
	return a.usersPage(w, r, http.StatusOK, usersData{notice: done(r, map[string]string{"deleted": "The user is deleted, with all that was theirs."})})
}

// usersPage fills in what the list shows beside what d has.
func (a *Area) usersPage(w http.ResponseWriter, r *http.Request, status int, d usersData) error {
	reg := a.registry()
	q, all := searchedFor(r), []listed{}
	err := reg.EachUser(func(u *identity.User) {
		if matches(q, u.Name, u.DisplayName, u.PrimaryEmail()) {
			all = append(all, listed{strings.ToLower(u.Name), u.ID})
		}
	})
	if err != nil {
		return err
	}
	byName(all)
	d.Path = a.Server.Path(usersPath)
	d.paging = newPaging(r, d.Path, len(all))
	for _, l := range shown(d.paging, all) {
		u, err := reg.User(l.id)
		if isGone(err) {
			continue
		}
		if err != nil {
			return err
		}
		active, err := reg.LastActive(u.ID)
		if err != nil && !isGone(err) {
			return err
		}
		d.Users = append(d.Users, userRow{u, a.Server.Path(adminPath(u.Name)), active})
	}
	return a.serve(w, r, web.View{Page: "users.html", Status: status, Here: usersPath, Data: d})
}

// createUser makes a user. A person gets a link by which they choose a
// password, a service account is shown where its tokens are made.
func (a *Area) createUser(w http.ResponseWriter, r *http.Request) error {
	f, err := a.Server.ReadForm(w, r)
	if err != nil {
		return err
	}
	d := usersData{
		Name: strings.TrimSpace(f.Values["name"]), Email: strings.TrimSpace(f.Values["email"]),
		Admin: f.Values["siteAdmin"] != "", Service: f.Values["service"] != "",
	}
	// A site admin answers for the address.
	u, err := a.registry().CreateUser(author(r), identity.NewUser{
		Name: d.Name, Email: d.Email, EmailVerified: d.Email != "", SiteAdmin: d.Admin, Service: d.Service,
	})
	if err != nil {
		status, n, err := problem(w, err)
		if err != nil {
			return err
		}
		d.notice = n
		return a.usersPage(w, r, status, d)
	}
	if u.Service {
		return a.back(w, r, userPath(u.Name)+"/settings/tokens", "created")
	}
	return a.showLink(w, r, u)
}

// adminPath is the page by which site admins change a user.
func adminPath(name string) string { return usersPath + strings.TrimPrefix(userPath(name), "/users") }
