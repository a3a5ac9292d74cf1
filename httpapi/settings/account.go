package settings

import (
	"context"
	"net/http"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store/identity"
)

const accountPath = "/user/settings"

// account is the section about who one is.
func (a *Area) account() Section {
	const path = "/users/{user}/settings"
	return Section{Account, web.Link{Title: "Account", Path: accountPath}, []httpapi.Route{
		{Method: "GET", Path: path, Handler: a.serveAccount, Access: auth.ForUsers},
		{Method: "POST", Path: path + "/profile", Handler: a.changeProfile, Access: auth.ForUsers},
		{Method: "POST", Path: path + "/password", Handler: a.changePassword, Access: auth.ForUsers},
	}}
}

// accountData is what the page about an account shows.
type accountData struct {
	notice
	subject
	Path            string
	HasPassword     bool
	LeastCharacters int
	Organizations   []string
}

var accountDone = map[string]string{
	"profile":  "Saved.",
	"password": "Your password is changed. All other browsers have been signed out.",
}

func (a *Area) serveAccount(w http.ResponseWriter, r *http.Request) error {
	s, err := a.subject(r)
	if err != nil {
		return err
	}
	return a.accountPage(w, r, s, http.StatusOK, done(r, accountDone))
}

func (a *Area) accountPage(w http.ResponseWriter, r *http.Request, s subject, status int, n notice) error {
	reg := a.registry()
	has, err := reg.HasPassword(s.ID)
	if err != nil {
		return err
	}
	orgs, err := orgNames(reg, s.ID)
	if err != nil {
		return err
	}
	return a.serve(w, r, web.View{Page: "account.html", Status: status, Here: s.here(accountPath), Data: accountData{
		notice: n, subject: s, Path: a.Server.Path(userPath(s.Name) + "/settings"),
		HasPassword: has, LeastCharacters: identity.LeastPasswordRunes, Organizations: orgs,
	}})
}

// orgNames returns the names of a user's organisations.
func orgNames(reg *identity.Registry, user uint32) ([]string, error) {
	ids, err := reg.OrgsOf(user)
	if err != nil {
		return nil, err
	}
	var names []string
	ids, more := few(ids)
	for _, id := range ids {
		o, err := reg.Org(id)
		switch {
		case isGone(err):
			continue
		case err != nil:
			return nil, err
		}
		names = append(names, o.Name)
	}
	if more > 0 {
		names = append(names, "and "+web.Number(more)+" more")
	}
	return names, nil
}

func (a *Area) changeProfile(w http.ResponseWriter, r *http.Request) error {
	s, err := a.subject(r)
	if err != nil {
		return err
	}
	f, err := a.Server.ReadForm(w, r)
	if err != nil {
		return err
	}
	name := f.Values["displayName"]
	if _, err := a.registry().ChangeUser(author(r), s.ID, identity.UserChange{DisplayName: &name}); err != nil {
		return a.accountProblem(w, r, s, err)
	}
	return a.back(w, r, userPath(s.Name)+"/settings", "profile")
}

// changePassword takes the old password, so that who finds a browser signed in
// does not get the account. The new one ends all sessions; that of this
// browser begins again.
func (a *Area) changePassword(w http.ResponseWriter, r *http.Request) error {
	s, err := a.self(r)
	if err != nil {
		return err
	}
	f, err := a.Server.ReadForm(w, r)
	if err != nil {
		return err
	}
	reg, by := a.registry(), author(r)
	// The request ends with the session that the new password ends.
	ctx := context.WithoutCancel(r.Context())
	if _, _, err := reg.SignIn(ctx, by, s.Name, f.Values["old"]); err != nil {
		return a.accountProblem(w, r, s, wrongPassword(err))
	}
	if err := reg.SetPassword(ctx, by, s.ID, f.Values["new"]); err != nil {
		return a.accountProblem(w, r, s, err)
	}
	secret, _, err := reg.SignIn(ctx, by, s.Name, f.Values["new"])
	if err != nil {
		return a.accountProblem(w, r, s, err)
	}
	a.Server.SetSession(w, r, secret, reg.SessionExpiry())
	return a.back(w, r, userPath(s.Name)+"/settings", "password")
}

// accountProblem shows the page again with what went wrong.
func (a *Area) accountProblem(w http.ResponseWriter, r *http.Request, s subject, err error) error {
	status, n, err := problem(w, err)
	if err != nil {
		return err
	}
	return a.accountPage(w, r, s, status, n)
}
