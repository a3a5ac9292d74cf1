package oauth

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store/identity"
	kept "github.com/trawlsearch/trawl/store/oauth"
)

// deviceData is the data of the page for devices: a field for a code; or, with
// App, the request; or, with Done, that it is over.
type deviceData struct {
	User, Problem, Done string
	Code                string
	App, Address        string
	Began               string
	Scopes              []string
	Action, Check       string
}

// serveDevice asks for a code or, if the address has one, whether its device may
// come in (RFC 8628, section 3.3).
func (s *Server) serveDevice(w http.ResponseWriter, r *http.Request) error {
	u, err := s.person(r)
	if err != nil {
		return err
	}
	code := r.URL.Query().Get("user_code")
	if code == "" {
		return s.devicePage(w, r, http.StatusOK, deviceData{User: u.Name})
	}
	return s.askDevice(w, r, u, code)
}

func (s *Server) devicePage(w http.ResponseWriter, r *http.Request, status int, data deviceData) error {
	data.Action = s.Site.Path(DevicePath)
	return s.Site.ServePage(w, r, pages, web.View{Page: "device.html", Status: status, Data: data})
}

// waiting returns the device with a code. A wrong one is counted.
func (s *Server) waiting(r *http.Request, u *identity.User, code string) (*kept.Device, error) {
	reg := s.Site.Gate.Registry()
	guesses := []identity.Limit{
		{Key: "code of user " + subject(u), Most: mostGuesses},
		{Key: "code of address " + identity.AddressKey(auth.From(r.Context()).Address), Most: addressGuesses},
	}
	if err := reg.CheckLimits(guesses...); err != nil {
		return nil, err
	}
	d, err := s.Book().Devices.Waiting(code)
	if errors.Is(err, kept.ErrNoGrant) {
		if counting := reg.CountFailure(guesses...); counting != nil {
			return nil, counting
		}
	}
	return d, err
}

// askDevice asks whether the device with a code may come in.
func (s *Server) askDevice(w http.ResponseWriter, r *http.Request, u *identity.User, code string) error {
	d, err := s.waiting(r, u, code)
	if err != nil {
		return s.wrongCode(w, r, u, err)
	}
	app, err := s.Book().Apps.Get(d.App)
	if err != nil {
		return err
	}
	code = strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(code))
	code = code[:4] + "-" + code[4:]
	return s.devicePage(w, r, http.StatusOK, deviceData{
		User: u.Name, Code: code, App: app.Name, Address: d.Address, Began: ago(s.Now().Sub(d.Created)),
		Scopes: scopeTexts(d.Scopes), Check: sign(r, "device", code, d.App),
	})
}

// ago returns in words how long ago a time was, to the minute.
func ago(d time.Duration) string {
	switch minutes := int(d.Minutes()); minutes {
	case 0:
		return "just now"
	case 1:
		return "a minute ago"
	default:
		return fmt.Sprintf("%d minutes ago", minutes)
	}
}

// wrongCode asks for a code again.
func (s *Server) wrongCode(w http.ResponseWriter, r *http.Request, u *identity.User, err error) error {
	data := deviceData{User: u.Name}
	switch {
	case errors.As(err, new(*identity.LockedError)):
		w.Header().Set("Retry-After", "1800")
		data.Problem = "Too many codes were wrong. Wait half an hour, and begin again in the program."
		return s.devicePage(w, r, http.StatusTooManyRequests, data)
	case errors.Is(err, kept.ErrNoGrant):
		data.Problem = "No program waits with this code. It may be mistyped, or older than half an hour."
		return s.devicePage(w, r, http.StatusNotFound, data)
	}
	return err
}

// decideDevice takes a code, or the decision about its device.
func (s *Server) decideDevice(w http.ResponseWriter, r *http.Request) error {
	if err := s.readPage(w, r); err != nil {
		return err
	}
	u, err := s.person(r)
	if err != nil {
		return err
	}
	code := r.PostForm.Get("user_code")
	if !r.PostForm.Has("decision") {
		return s.askDevice(w, r, u, code)
	}
	d, err := s.waiting(r, u, code)
	if err != nil {
		return s.wrongCode(w, r, u, err)
	}
	if !signed(r, r.PostForm.Get("check"), "device", code, d.App) {
		return errStale
	}
	decision, done := kept.Denied, "The program was not let in. You can close this page."
	if r.PostForm.Get("decision") == decisionAllow {
		decision, done = kept.Granted, "The program is signed in as you. You can close this page."
	}
	if err := s.Book().Devices.Decide(author(r.Context()), code, u.ID, decision); err != nil {
		return s.wrongCode(w, r, u, err)
	}
	return s.devicePage(w, r, http.StatusOK, deviceData{User: u.Name, Done: done})
}
