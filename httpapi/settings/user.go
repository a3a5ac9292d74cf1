package settings

import (
	"net/http"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store/identity"
)

// userData is what the page by which site admins change a user shows.
type userData struct {
	notice
	subject
	Path, Settings string
	HasPassword    bool
	LastActive     time.Time
	Organizations  []string
	// Link leads the user to where they choose a password; who has it may do so.
	Link string
}

var userDone = map[string]string{
	"admin":  "Saved.",
	"locked": "The user is locked: nothing that stands for them is taken any more.",
	"open":   "The user is not locked any more.",
}

func (a *Area) serveUser(w http.ResponseWriter, r *http.Request) error {
	s, err := a.subject(r)
	if err != nil {
		return err
	}
	return a.userPage(w, r, http.StatusOK, userData{subject: s, notice: done(r, userDone)})
}

// userPage fills in what the page shows beside what d has.
func (a *Area) userPage(w http.ResponseWriter, r *http.Request, status int, d userData) error {
	reg := a.registry()
	d.Path, d.Settings = a.Server.Path(adminPath(d.Name)), a.Server.Path(userPath(d.Name)+"/settings")
	var err error
	if d.HasPassword, err = reg.HasPassword(d.ID); err != nil {
		return err
	}
	if d.LastActive, err = reg.LastActive(d.ID); err != nil && !isGone(err) {
		return err
	}
	if d.Organizations, err = orgNames(reg, d.ID); err != nil {
		return err
	}
	return a.serve(w, r, web.View{Page: "user.html", Status: status, Here: usersPath, Data: d})
}

// showLink answers with the link by which a user chooses a password, once.
func (a *Area) showLink(w http.ResponseWriter, r *http.Request, u *identity.User) error {
	code, err := a.registry().ResetPassword(author(r), u.ID)
	if err != nil {
		return err
	}
	link := httpapi.BaseURL(a.Server.ExternalURL, r) + httpapi.ResetPath(u.ID, code)
	return a.userPage(w, r, http.StatusOK, userData{subject: subject{User: u}, Link: link})
}

// change reads the form of a user's page and makes a change of it. What is
// done to others only is refused for oneself.
func (a *Area) change(w http.ResponseWriter, r *http.Request, change func(s subject, f httpapi.Form) error) error {
	s, err := a.subject(r)
	if err != nil {
		return err
	}
	f, err := a.Server.ReadForm(w, r)
	if err != nil {
		return err
	}
	if s.Self {
		err = &httpapi.Error{Status: http.StatusUnprocessableEntity, Message: "You cannot do this to yourself: ask another site admin"}
	} else {
		err = change(s, f)
	}
	if err == nil {
		return nil
	}
	status, n, err := problem(w, err)
	if err != nil {
		return err
	}
	return a.userPage(w, r, status, userData{subject: s, notice: n})
}

func (a *Area) setAdmin(w http.ResponseWriter, r *http.Request) error {
	return a.change(w, r, func(s subject, f httpapi.Form) error {
		admin := f.Values["siteAdmin"] == "yes"
		if _, err := a.registry().ChangeUser(author(r), s.ID, identity.UserChange{SiteAdmin: &admin}); err != nil {
			return err
		}
		return a.back(w, r, adminPath(s.Name), "admin")
	})
}

func (a *Area) setLocked(w http.ResponseWriter, r *http.Request) error {
	return a.change(w, r, func(s subject, f httpapi.Form) error {
		locked := f.Values["locked"] == "yes"
		if _, err := a.registry().ChangeUser(author(r), s.ID, identity.UserChange{Locked: &locked}); err != nil {
			return err
		}
		if locked {
			return a.back(w, r, adminPath(s.Name), "locked")
		}
		return a.back(w, r, adminPath(s.Name), "open")
	})
}

func (a *Area) resetPassword(w http.ResponseWriter, r *http.Request) error {
	return a.change(w, r, func(s subject, _ httpapi.Form) error { return a.showLink(w, r, s.User) })
}

// deleteUser takes the name of the user, typed: it cannot be undone.
func (a *Area) deleteUser(w http.ResponseWriter, r *http.Request) error {
	return a.change(w, r, func(s subject, f httpapi.Form) error {
		if f.Values["confirm"] != s.Name {
			return &httpapi.Error{Status: http.StatusUnprocessableEntity, Message: "Type the user name to delete the user"}
		}
		if err := a.registry().DeleteUser(author(r), s.ID); err != nil {
			return err
		}
		return a.back(w, r, usersPath, "deleted")
	})
}
