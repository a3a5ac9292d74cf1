package settings

import (
	"errors"
	"net/http"

	"github.com/gorilla/mux"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// subject is the user whom a page is about.
type subject struct {
	*identity.User
	// Self says that it is who asks.
	Self bool
}

// errNoUser is the answer whether there is no such user or it is none of the
// client's business.
var errNoUser = &httpapi.Error{Status: http.StatusNotFound, Message: "there is no such user"}

// subject finds the user whom the path of a request names, for themselves and
// for site admins.
func (a *Area) subject(r *http.Request) (subject, error) {
	u, err := a.registry().UserNamed(mux.Vars(r)["user"])
	switch {
	case errors.Is(err, store.ErrNotFound):
		return subject{}, errNoUser
	case err != nil:
		return subject{}, err
	}
	actor := auth.From(r.Context())
	if !actor.IsOrAdministers(u.ID) {
		return subject{}, errNoUser
	}
	return subject{u, actor.Is(u.ID)}, nil
}

// self is subject for what nobody does for another.
func (a *Area) self(r *http.Request) (subject, error) {
	s, err := a.subject(r)
	if err == nil && !s.Self {
		err = errNoUser
	}
	return s, err
}

// here is the link of the sidebar that leads to a page about the subject.
func (s subject) here(own string) string {
	if s.Self {
		return own
	}
	return usersPath
}

// usersPath lists all users for site admins.
const usersPath = "/site-admin/users"
