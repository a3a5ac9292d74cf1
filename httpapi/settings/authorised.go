package settings

import (
	"net/http"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store/oauth"
)

const authorisedPath = "/user/settings/authorised-apps"

// authorised is the section about the apps that a user let act for them.
func (a *Area) authorised() Section {
	const path = "/users/{user}/settings/authorised-apps"
	return Section{Account, web.Link{Title: "Authorised apps", Path: authorisedPath}, []httpapi.Route{
		{Method: "GET", Path: authorisedPath, Handler: a.leadTo("/settings/authorised-apps"), Access: auth.ForUsers},
		{Method: "GET", Path: path, Handler: a.serveAuthorised, Access: auth.ForUsers},
		{Method: "POST", Path: path + "/revoke", Handler: a.revokeApp, Access: auth.ForUsers},
	}}
}

// authorisedData is what the list of a user's apps shows.
type authorisedData struct {
	notice
	subject
	paging
	Path string
	Apps []*oauth.Authorised
}

func (a *Area) serveAuthorised(w http.ResponseWriter, r *http.Request) error {
	s, err := a.subject(r)
	if err != nil {
		return err
	}
	all, err := a.Apps().Authorised(s.ID)
	if err != nil {
		return err
	}
	path := a.Server.Path(userPath(s.Name) + "/settings/authorised-apps")
	p := newPaging(r, path, len(all))
	return a.serve(w, r, web.View{Page: "authorised.html", Here: s.here(authorisedPath), Data: authorisedData{
		notice:  done(r, map[string]string{"revoked": "The app cannot act for this account any more, anywhere."}),
		subject: s, paging: p, Path: path, Apps: shown(p, all),
	}})
}

// revokeApp ends all that an app may do for a user.
func (a *Area) revokeApp(w http.ResponseWriter, r *http.Request) error {
	s, err := a.subject(r)
	if err != nil {
		return err
	}
	f, err := a.Server.ReadForm(w, r)
	if err != nil {
		return err
	}
	// Somebody else may have been faster, and then it is as was asked for.
	if err := a.Apps().RevokeApp(author(r), s.ID, f.Values["id"]); err != nil && !isGone(err) {
		return err
	}
	return a.back(w, r, userPath(s.Name)+"/settings/authorised-apps", "revoked")
}
