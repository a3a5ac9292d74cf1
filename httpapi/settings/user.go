package settings

import (
	"net/http"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/identity"
)

// userData is what the page by which site admins change a user shows.
type userData struct {
	frame
	manage.Details
	Settings string
	// Link leads the user to where they choose a password; who has it may do so.
	Link string
}

func (d *userData) fill(v *visit) (err error) {
	d.Path, d.Settings = v.area.Server.Path(adminPath(d.Name)), v.area.Server.Path(userPath(d.Name)+"/settings")
	d.Details, err = details(v, d.ID)
	return err
}

// showLink answers with the link by which a user chooses a password, once.
func showLink(v *visit, u *identity.User, code string) answer {
	link := auth.BaseURL(v.area.Server.ExternalURL, v.r) + httpapi.ResetPath(u.ID, code)
	return answer{data: &userData{frame: frame{subject: subject{User: u}}, Link: link}, template: "user.html"}
}

func setAdmin(v *visit) (answer, error) {
	admin := v.form.Values["siteAdmin"] == "yes"
	_, err := v.ChangeUser(v.subject.ID, identity.UserChange{SiteAdmin: &admin})
	return answer{did: "admin"}, err
}

func setLocked(v *visit) (answer, error) {
	locked := v.form.Values["locked"] == "yes"
	_, err := v.ChangeUser(v.subject.ID, identity.UserChange{Locked: &locked})
	return answer{did: map[bool]string{true: "locked", false: "open"}[locked]}, err
}

// resetPassword takes the password of another user away.
func resetPassword(v *visit) (answer, error) {
	if v.subject.Self {
		return answer{}, manage.SelfError("unable to reset the password of the current user")
	}
	code, err := v.SetPassword(v.r.Context(), v.subject.ID, "")
	if err != nil {
		return answer{}, err
	}
	return showLink(v, v.subject.User, code), nil
}

// deleteUser takes the name of the user, typed: it cannot be undone.
func deleteUser(v *visit) (answer, error) {
	if v.form.Values["confirm"] != v.subject.Name {
		return answer{}, &httpapi.Error{Status: http.StatusUnprocessableEntity, Message: "Type the user name to delete the user"}
	}
	return answer{did: "deleted", to: usersPath}, v.DeleteUser(v.subject.ID)
}
