package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

const (
	// arrivedBytes is how much of a body is waited for, and kept, before a request is
	// admitted; a form that anyone may send is no longer.
	arrivedBytes = 16 << 10
	// maxFormBytes bounds what a form of users, or the same as JSON, may say: some
	// thousand names of readers, with each letter escaped.
	maxFormBytes = 256 << 10
)

// Form is a form that a person filled in, or that a program sent as JSON with
// the same names.
type Form struct {
	Values map[string]string
	// Person says that a page is to be the answer.
	Person bool
}

// errForm is the answer to a body that is neither.
var errForm = &Error{Status: http.StatusBadRequest, Message: "Could not decode request body"}

// ReadForm reads a form or a JSON object of strings. It refuses what a page of
// another origin may have sent.
func (s *Server) ReadForm(w http.ResponseWriter, r *http.Request) (Form, error) {
	if !s.Gate.FromOurs(r) {
		return Form{}, errForeign
	}
	user := auth.From(r.Context()).User != nil
	most := int64(arrivedBytes)
	if user {
		most = maxFormBytes
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if long := (*http.MaxBytesError)(nil); user && errors.As(err, &long) {
		return Form{}, &Error{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("The form has more than %d KiB: go back and shorten it", most>>10)}
	}
	if err != nil {
		return Form{}, &Error{Status: errForm.Status, Message: errForm.Message, Cause: err}
	}
	f := Form{Values: map[string]string{}}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind == "application/x-www-form-urlencoded" {
		f.Person = true
		values, err := url.ParseQuery(string(body))
		for name := range values {
			f.Values[name] = values.Get(name)
		}
		if err == nil {
			return f, nil
		}
		return f, &Error{Status: errForm.Status, Message: errForm.Message, Cause: err}
	}
	if err := json.Unmarshal(body, &f.Values); err != nil || f.Values == nil {
		return f, &Error{Status: errForm.Status, Message: errForm.Message, Cause: err}
	}
	return f, nil
}

var errForeign = &Error{Status: http.StatusForbidden, Message: "this request came from a page of another site"}

// FormError returns the answer to an error of a user's password or name.
func FormError(err error) *Error {
	var (
		known  *Error
		rule   *identity.RuleError
		locked *identity.LockedError
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &rule):
		return &Error{Status: http.StatusUnprocessableEntity, Message: rule.Text}
	case errors.As(err, &locked):
		return &Error{Status: http.StatusUnprocessableEntity, Message: fmt.Sprintf("Account has been locked out due to %q", locked.Reason)}
	case errors.Is(err, identity.ErrWrongPassword):
		return &Error{Status: http.StatusUnauthorized, Message: "Authentication failed"}
	case errors.Is(err, identity.ErrNoCredential):
		return &Error{Status: http.StatusUnauthorized, Message: "This link is not good any more: ask for a new one"}
	case errors.Is(err, identity.ErrSetUp):
		return &Error{Status: http.StatusForbidden, Message: "The first user has been created already: sign in"}
	case errors.Is(err, store.ErrAway):
		return &Error{Status: http.StatusServiceUnavailable, Message: auth.NotCurrent}
	case errors.Is(err, identity.ErrBusy):
		return &Error{Status: http.StatusServiceUnavailable, Message: err.Error()}
	}
	return &Error{Status: http.StatusInternalServerError, Message: internalError, Cause: err}
}

// SetSession gives the browser a session that began now, or takes it away if
// secret is empty.
func (s *Server) SetSession(w http.ResponseWriter, r *http.Request, secret string, lasts time.Duration) {
	c := &http.Cookie{
		Name: auth.CookieName, Value: secret, Path: "/", MaxAge: int(lasts.Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	if strings.HasPrefix(s.baseURL(r), "https://") {
		// Browser extensions use the session from their own origins; what other
		// pages may do with it is for the gate to say.
		c.Secure, c.SameSite = true, http.SameSiteNoneMode
	}
	if secret == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// Path returns where clients reach a path of this server.
func (s *Server) Path(path string) string {
	if u, err := url.Parse(s.ExternalURL); err == nil {
		return strings.TrimSuffix(u.Path, "/") + path
	}
	return path
}

// signInURL is where to sign in and come back to a request.
func (s *Server) signInURL(r *http.Request) string {
	return s.Path(signInPath) + "?returnTo=" + url.QueryEscape(s.Path(r.URL.RequestURI()))
}

// LocalPath returns where to go on to, which is on this server whatever a link
// said.
func (s *Server) LocalPath(to string) string {
	u, err := url.Parse(to)
	home := s.Path("/")
	switch {
	case err != nil || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || u.Host != "" || u.Scheme != "":
		return home
	case strings.ContainsFunc(to, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }):
		return home // browsers read some of them as a slash, or not at all
	}
	return to
}
