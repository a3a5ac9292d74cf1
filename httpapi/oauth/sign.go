package oauth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/http"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/identity"
)

// sign signs what a page shows, so that an answer is known to be one to exactly that,
// given in the same session. The key is the secret of the session, which the browser
// and the server know, so any node can judge what another one signed. A request without
// a session has no signature: the result is "".
func sign(r *http.Request, parts ...string) string {
	c, err := r.Cookie(auth.CookieName)
	if err != nil || c.Value == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(c.Value))
	for _, p := range append([]string{"trawl consent"}, parts...) {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		mac.Write([]byte(p))
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// signed reports whether signature is that of the parts.
func signed(r *http.Request, signature string, parts ...string) bool {
	want := sign(r, parts...)
	return want != "" && hmac.Equal([]byte(signature), []byte(want))
}

// person returns the user of a session. A token, or an admin who acts as
// another user, cannot consent for a person.
func (s *Server) person(r *http.Request) (*identity.User, error) {
	a := auth.From(r.Context())
	if a.User == nil || !a.Session || a.Real != nil {
		return nil, httpapi.ErrSignIn
	}
	return a.User, nil
}

var (
	errForeign = &httpapi.Error{Status: http.StatusForbidden, Message: "this request came from a page of another site"}
	errStale   = &httpapi.Error{Status: http.StatusForbidden, Message: "this page is too old: go back to the program and begin again"}
	errForm    = &httpapi.Error{Status: http.StatusBadRequest, Message: "the form cannot be read"}
)

// readPage reads the form of one of our pages.
func (s *Server) readPage(w http.ResponseWriter, r *http.Request) error {
	if !s.Site.Gate.FromOurs(r) {
		return errForeign
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
	if err := r.ParseForm(); err != nil || repeated(r.PostForm) != "" {
		return errForm
	}
	return nil
}
