package httpapi

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store/identity"
)

const signInPath = "/sign-in"

// signInPages are the pages of a server with users for signing in and out, for
// creating the first user and for choosing a password.
type signInPages struct{ *Server }

func (s signInPages) routes() []Route {
	return []Route{
		{Method: "GET", Path: "/sign-in", Handler: s.serve, Holds: PageHolds, Access: auth.ForPublic, About: "sign in"},
		{Method: "POST", Path: "/-/sign-in", Handler: s.signIn, Access: auth.ForAnyone},
		{Method: "GET", Path: "/-/sign-out", Handler: s.signOut, Access: auth.ForAnyone},
		{Method: "POST", Path: "/-/sign-out", Handler: s.signOut, Access: auth.ForAnyone},
		{Method: "POST", Path: "/-/site-init", Handler: s.setUp, Access: auth.ForAnyone},
		{Method: "GET", Path: resetPath, Handler: s.serveReset, Holds: PageHolds, Access: auth.ForAnyone},
		{Method: "POST", Path: "/-/reset-password", Handler: s.resetPassword, Access: auth.ForAnyone},
	}
}

// signInData is the data of the sign-in page, or of the one that creates the
// first user.
type signInData struct {
	// NeedsSetup says that there is no user yet, NeedsSecret that the one who
	// creates the first must know the secret of the log.
	NeedsSetup, NeedsSecret bool
	// User is the name of the user who is signed in already.
	User string
	// Problem is what went wrong; Login, Name and ReturnTo were filled in.
	Problem, Login, Name, ReturnTo string
	LeastCharacters                int
	Base                           string
	// Choices are services to sign in at, NoPasswords says that there is no other way.
	Choices     []SignInChoice
	NoPasswords bool
}

// SignInChoice is another service to sign in at. Path is where that begins.
type SignInChoice struct{ Title, Path string }

func (s signInPages) serve(w http.ResponseWriter, r *http.Request) error {
	data := s.data(r)
	data.ReturnTo = s.LocalPath(r.URL.Query().Get("returnTo"))
	return s.servePage(w, r, http.StatusOK, data)
}

func (s signInPages) servePage(w http.ResponseWriter, r *http.Request, status int, data signInData) error {
	return s.ServePage(w, r, pages, web.View{Page: "signin.html", Status: status, Here: signInPath, Data: data})
}

func (s signInPages) data(r *http.Request) signInData {
	reg := s.Gate.Registry()
	data := signInData{NeedsSetup: !reg.Used(), NeedsSecret: s.SetupSecret != "", Base: s.Path(""), LeastCharacters: identity.LeastPasswordRunes, Choices: s.SignInChoices, NoPasswords: s.NoPasswords}
	if u := auth.From(r.Context()).User; u != nil {
		data.User = u.Name
	}
	return data
}

// signIn begins a session for a name or address and a password.
func (s signInPages) signIn(w http.ResponseWriter, r *http.Request) error {
	f, err := s.ReadForm(w, r)
	if err != nil {
		return err
	}
	if s.NoPasswords {
		return s.answerForm(w, r, f, &Error{Status: http.StatusForbidden, Message: "Passwords are switched off on this server"})
	}
	reg := s.Gate.Registry()
	by := identity.Author{Address: auth.From(r.Context()).Address}
	secret, _, err := reg.SignIn(r.Context(), by, f.Values["email"], f.Values["password"])
	if err != nil {
		return s.answerForm(w, r, f, err)
	}
	return s.signedIn(w, r, f, reg, secret)
}

// setUp creates the first user.
func (s signInPages) setUp(w http.ResponseWriter, r *http.Request) error {
	f, err := s.ReadForm(w, r)
	if err != nil {
		return err
	}
	reg := s.Gate.Registry()
	// The first user ends anonymous requests, this one among them, which is to say why it
	// comes too late.
	ctx := context.WithoutCancel(r.Context())
	if err := reg.CatchUp(ctx); err != nil {
		return s.answerForm(w, r, f, err)
	}
	if err := s.maySetUp(r, f); err != nil {
		return s.answerForm(w, r, f, err)
	}
	by := identity.Author{Address: auth.From(r.Context()).Address, Via: "setup"}
	n := identity.NewUser{Name: f.Values["username"], Email: f.Values["email"]}
	secret, _, err := reg.CreateFirstUser(ctx, by, n, f.Values["password"])
	if err != nil {
		return s.answerForm(w, r, f, err)
	}
	return s.signedIn(w, r, f, reg, secret)
}

// maySetUp judges whether the client may create the first user.
func (s signInPages) maySetUp(r *http.Request, f Form) error {
	switch {
	case s.SetupSecret != "":
		given := f.Values["secret"]
		if subtle.ConstantTimeCompare([]byte(given), []byte(s.SetupSecret)) != 1 && !s.Gate.Registry().IsSetupSecret(given) {
			return &Error{Status: http.StatusForbidden, Message: "The setup secret is wrong: it stands in the server's log"}
		}
	case !s.Gate.Local || !auth.FromThisMachine(r) || auth.Forwarded(r):
		return &Error{Status: http.StatusForbidden, Message: "Only the same machine may create the first user here: use trawl user create --admin"}
	}
	return nil
}

// signedIn answers a user who has a session now.
func (s signInPages) signedIn(w http.ResponseWriter, r *http.Request, f Form, reg *identity.Registry, secret string) error {
	s.SetSession(w, r, secret, reg.SessionExpiry())
	w.Header().Set("Cache-Control", "no-store")
	if f.Person {
		http.Redirect(w, r, s.LocalPath(f.Values["returnTo"]), http.StatusSeeOther)
	}
	return nil
}

// answerForm answers with what went wrong: a person gets the form again.
func (s signInPages) answerForm(w http.ResponseWriter, r *http.Request, f Form, err error) error {
	known := FormError(err)
	if known.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	if !f.Person {
		return known
	}
	if known.Cause != nil {
		zerolog.Ctx(r.Context()).Error().Err(known.Cause).Msg("sign in")
	}
	data := s.data(r)
	data.Problem, data.Login, data.Name = known.Message, f.Values["email"], f.Values["username"]
	data.ReturnTo = s.LocalPath(f.Values["returnTo"])
	return s.servePage(w, r, known.Status, data)
}

// signOut ends all sessions of the signed-in user.
func (s signInPages) signOut(w http.ResponseWriter, r *http.Request) error {
	// Not even a link elsewhere signs a user out.
	site := r.Header.Get("Sec-Fetch-Site")
	if !s.Gate.FromOurs(r) || site == "cross-site" || site == "same-site" {
		return errForeign
	}
	reg := s.Gate.Registry()
	if a := auth.From(r.Context()); a.Session {
		if err := reg.SignOut(a.Author(), a.User.ID); err != nil {
			return err
		}
	}
	s.SetSession(w, r, "", 0)
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, s.Path(searchPath), http.StatusSeeOther)
	return nil
}

const resetPath = "/password-reset"

// ResetPath is the path, below the server's URL, of the page where a user
// chooses a password by a code of Registry.ResetPassword.
func ResetPath(user uint32, code string) string {
	return fmt.Sprintf("%s?userID=%d&code=%s", resetPath, user, url.QueryEscape(code))
}

// resetData is the data of the page for choosing a password.
type resetData struct {
	User            string
	ID              uint32
	Code, Problem   string
	LeastCharacters int
	Base            string
}

func (s signInPages) serveReset(w http.ResponseWriter, r *http.Request) error {
	if err := s.Gate.Registry().CatchUp(r.Context()); err != nil {
		return err
	}
	q := r.URL.Query()
	return s.resetForm(w, r, http.StatusOK, q.Get("userID"), q.Get("code"), "")
}

// resetForm answers with the form for who knows the code.
func (s signInPages) resetForm(w http.ResponseWriter, r *http.Request, status int, id, code, problem string) error {
	reg := s.Gate.Registry()
	user, err := strconv.ParseUint(id, 10, 32)
	if err != nil {
		return FormError(identity.ErrNoCredential)
	}
	u, err := reg.CheckReset(uint32(user), code)
	if err != nil {
		return FormError(err)
	}
	return s.ServePage(w, r, pages, web.View{Page: "reset.html", Status: status, Data: resetData{
		User: u.Name, ID: u.ID, Code: code, Problem: problem, LeastCharacters: identity.LeastPasswordRunes, Base: s.Path(""),
	}})
}

// resetPassword sets the password of who knows the code.
func (s signInPages) resetPassword(w http.ResponseWriter, r *http.Request) error {
	f, err := s.ReadForm(w, r)
	if err != nil {
		return err
	}
	reg := s.Gate.Registry()
	id, _ := strconv.ParseUint(f.Values["userID"], 10, 32) // 0 is no user
	by := identity.Author{Address: auth.From(r.Context()).Address}
	err = reg.ChoosePassword(r.Context(), by, uint32(id), f.Values["code"], f.Values["password"])
	switch {
	case err == nil && f.Person:
		http.Redirect(w, r, s.Path("/sign-in"), http.StatusSeeOther)
		return nil
	case err == nil:
		return nil
	}
	known := FormError(err)
	if f.Person && known.Status == http.StatusUnprocessableEntity {
		return s.resetForm(w, r, known.Status, f.Values["userID"], f.Values["code"], known.Message)
	}
	return known
}
