package settings

import (
	"errors"
	"net/http"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store"
)

func isGone(err error) bool { return errors.Is(err, store.ErrNotFound) }

// problem tells a person why what they asked for was not done. What is not
// theirs to know of is returned as it is.
func problem(w http.ResponseWriter, err error) (status int, n notice, unknown error) {
	var self manage.SelfError
	switch {
	case errors.As(err, &self):
		return http.StatusUnprocessableEntity, notice{Problem: "You cannot do this to yourself: ask another site admin"}, nil
	case auth.IsRefusal(err):
		return http.StatusForbidden, notice{Problem: "This is for others to do: " + err.Error()}, nil
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
