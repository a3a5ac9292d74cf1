package settings

import (
	"context"
	"errors"
	"net/http"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store/identity"
)

// accountData is what the page about an account shows.
type accountData struct {
	frame
	manage.Details
	LeastCharacters int
}

func (d *accountData) fill(v *visit) (err error) {
	d.LeastCharacters = identity.LeastPasswordRunes
	d.Details, err = details(v, d.ID)
	return err
}

// details tells in a name more how many organisations are left out.
func details(v *visit, user uint32) (manage.Details, error) {
	d, err := v.Details(user, namesShown)
	d.Organizations = andMore(d.Organizations, d.More)
	return d, err
}

// andMore adds to names how many more there are.
func andMore(names []string, more int) []string {
	if more > 0 {
		names = append(names, "and "+web.Number(more)+" more")
	}
	return names
}

func changeProfile(v *visit) (answer, error) {
	name := v.form.Values["displayName"]
	_, err := v.ChangeUser(v.subject.ID, identity.UserChange{DisplayName: &name})
	return answer{did: "profile"}, err
}

// changePassword takes the old password of the user who asks. The new one ends all
// sessions; that of this browser begins again.
func changePassword(v *visit) (answer, error) {
	if !v.subject.Self {
		return answer{}, errNoUser
	}
	// The request ends with the session that the new password ends.
	secret, err := v.ChangePassword(context.WithoutCancel(v.r.Context()), v.form.Values["old"], v.form.Values["new"])
	if errors.Is(err, identity.ErrWrongPassword) {
		err = &httpapi.Error{Status: http.StatusUnprocessableEntity, Message: "The current password is wrong"}
	}
	if err == nil {
		v.area.Server.SetSession(v.w, v.r, secret, v.Registry.SessionExpiry())
	}
	return answer{did: "password"}, err
}
