package oauth

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	kept "github.com/trawlsearch/trawl/store/oauth"
)

// subject is how a user is named to apps: an ID that is never given to another.
func subject(u *identity.User) string { return strconv.FormatUint(uint64(u.ID), 10) }

// unlessGone leaves an error that is not about something being gone.
func unlessGone(err error) error {
	if errors.Is(err, kept.ErrNoGrant) || errors.Is(err, kept.ErrReused) || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// userInfo is what an app learns of the user it acts for.
type userInfo struct {
	Subject       string `json:"sub"`
	Name          string `json:"name,omitempty"`
	Username      string `json:"preferred_username,omitempty"`
	Email         string `json:"email,omitempty"`
	EmailVerified *bool  `json:"email_verified,omitempty"`
}

// serveUserInfo describes its user to an app, as far as its scopes allow.
func (s *Server) serveUserInfo(w http.ResponseWriter, r *http.Request) error {
	a := auth.From(r.Context())
	switch {
	case a.User == nil || a.Client == "":
		w.Header().Set("Www-Authenticate", "Bearer")
		return &httpapi.Error{Status: http.StatusUnauthorized, Message: "This needs an OAuth access token."}
	case !a.Has(kept.ScopeOpenID):
		w.Header().Set("Www-Authenticate", `Bearer error="insufficient_scope", scope="openid"`)
		return &httpapi.Error{Status: http.StatusForbidden, Message: "The access token lacks the scope openid."}
	}
	out := userInfo{Subject: subject(a.User)}
	if a.Has(kept.ScopeProfile) {
		out.Name, out.Username = a.User.DisplayName, a.User.Name
	}
	if a.Has(kept.ScopeEmail) {
		for _, e := range a.User.Emails {
			if e.Primary {
				out.Email, out.EmailVerified = e.Address, &e.Verified
			}
		}
	}
	return serveJSON(w, http.StatusOK, out)
}
