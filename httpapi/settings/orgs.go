package settings

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store/identity"
)

const orgsPath = "/site-admin/organizations"

// orgs is the section about organisations, for site admins.
func (a *Area) orgs() Section {
	const one = orgsPath + "/{org}"
	return Section{SiteAdmin, web.Link{Title: "Organisations", Path: orgsPath}, []httpapi.Route{
		{Method: "GET", Path: orgsPath, Handler: a.serveOrgs, Access: auth.ForSiteAdmins},
		{Method: "POST", Path: orgsPath, Handler: a.changeOrg(a.createOrg), Access: auth.ForSiteAdmins},
		{Method: "POST", Path: one + "/add", Handler: a.changeOrg(a.addMember), Access: auth.ForSiteAdmins},
		{Method: "POST", Path: one + "/remove", Handler: a.changeOrg(a.removeMember), Access: auth.ForSiteAdmins},
		{Method: "POST", Path: one + "/delete", Handler: a.changeOrg(a.deleteOrg), Access: auth.ForSiteAdmins},
	}}
}

// orgsData is what the list of organisations shows.
type orgsData struct {
	notice
	paging
	Path string
	Orgs []orgRow
}

// orgRow is an organisation with the names of its members.
type orgRow struct {
	*identity.Org
	Path    string
	Members []string
	// More counts the members that are not shown.
	More int
}

func (a *Area) serveOrgs(w http.ResponseWriter, r *http.Request) error {
	return a.orgsPage(w, r, http.StatusOK, done(r, map[string]string{"saved": "Saved."}))
}

func (a *Area) orgsPage(w http.ResponseWriter, r *http.Request, status int, n notice) error {
	reg := a.registry()
	q, all := searchedFor(r), []listed{}
	err := reg.EachOrg(func(o *identity.Org) {
		if matches(q, o.Name, o.DisplayName) {
			all = append(all, listed{strings.ToLower(o.Name), o.ID})
		}
	})
	if err != nil {
		return err
	}
	byName(all)
	d := orgsData{notice: n, Path: a.Server.Path(orgsPath)}
	d.paging = newPaging(r, d.Path, len(all))
	for _, l := range shown(d.paging, all) {
		o, err := reg.Org(l.id)
		if isGone(err) {
			continue
		}
		if err != nil {
			return err
		}
		row := orgRow{Org: o, Path: d.Path + "/" + url.PathEscape(o.Name)}
		if row.Members, row.More, err = memberNames(reg, o.ID); err != nil {
			return err
		}
		d.Orgs = append(d.Orgs, row)
	}
	return a.serve(w, r, web.View{Page: "orgs.html", Status: status, Here: orgsPath, Data: d})
}

// memberNames returns the names of the first members, and how many more there
// are.
func memberNames(reg *identity.Registry, org uint32) (names []string, more int, err error) {
	ids, err := reg.Members(org)
	if err != nil {
		return nil, 0, err
	}
	ids, more = few(ids)
	for _, id := range ids {
		u, err := reg.User(id)
		switch {
		case isGone(err):
			continue
		case err != nil:
			return nil, 0, err
		}
		names = append(names, u.Name)
	}
	return names, more, nil
}

// orgChange is what a form does to an organisation, which is nil where it
// names none.
type orgChange func(by identity.Author, o *identity.Org, f httpapi.Form) error

// changeOrg reads a form and makes a change of it.
func (a *Area) changeOrg(change orgChange) httpapi.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		f, err := a.Server.ReadForm(w, r)
		if err != nil {
			return err
		}
		var o *identity.Org
		if name := mux.Vars(r)["org"]; name != "" {
			o, err = a.registry().OrgNamed(name)
		}
		if err == nil {
			err = change(author(r), o, f)
		}
		if err == nil {
			return a.back(w, r, orgsPath, "saved")
		}
		status, n, err := problem(w, err)
		if err != nil {
			return err
		}
		return a.orgsPage(w, r, status, n)
	}
}

func (a *Area) createOrg(by identity.Author, _ *identity.Org, f httpapi.Form) error {
	_, err := a.registry().CreateOrg(by, strings.TrimSpace(f.Values["name"]), f.Values["displayName"])
	return err
}

// member finds the user whom a form names.
func (a *Area) member(f httpapi.Form) (*identity.User, error) {
	u, err := a.registry().UserNamed(strings.TrimSpace(f.Values["user"]))
	if isGone(err) {
		return nil, &httpapi.Error{Status: http.StatusUnprocessableEntity, Message: "There is no such user"}
	}
	return u, err
}

func (a *Area) addMember(by identity.Author, o *identity.Org, f httpapi.Form) error {
	u, err := a.member(f)
	if err != nil {
		return err
	}
	return a.registry().AddMember(by, o.ID, u.ID)
}

func (a *Area) removeMember(by identity.Author, o *identity.Org, f httpapi.Form) error {
	u, err := a.member(f)
	if err != nil {
		return err
	}
	return a.registry().RemoveMember(by, o.ID, u.ID)
}

func (a *Area) deleteOrg(by identity.Author, o *identity.Org, _ httpapi.Form) error {
	return a.registry().DeleteOrg(by, o.ID)
}
