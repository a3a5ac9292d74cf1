package settings

import (
	"errors"
	"net/http"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// author is who a request is from.
func author(r *http.Request) identity.Author { return auth.From(r.Context()).Author() }

func isGone(err error) bool { return errors.Is(err, store.ErrNotFound) }

// problem tells a person why what they asked for was not done. What is not
// theirs to know of is returned as it is.
func problem(w http.ResponseWriter, err error) (status int, n notice, unknown error) {
	switch {
	case isGone(err):
		return http.StatusNotFound, notice{Problem: "It is gone already."}, nil
	case errors.Is(err, store.ErrExists):
		return http.StatusConflict, notice{Problem: err.Error()}, nil
	}
	known := httpapi.FormError(err)
	if known.Cause != nil {
		return 0, notice{}, err
	}
	if known.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	return known.Status, notice{Problem: known.Message}, nil
}

// wrongPassword is a sign-in that failed, told to who is signed in.
func wrongPassword(err error) error {
	if errors.Is(err, identity.ErrWrongPassword) {
		return &httpapi.Error{Status: http.StatusUnprocessableEntity, Message: "The current password is wrong"}
	}
	return err
}
