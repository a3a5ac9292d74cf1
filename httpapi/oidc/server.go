package oidc

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/gorilla/mux"
	"github.com/rs/zerolog"
	"golang.org/x/oauth2"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/store/identity"
)

// The paths where the sign-in at a provider begins and ends.
const (
	loginPath    = "/sign-in/{provider}"
	callbackPath = "/sign-in/{provider}/callback"
	// cookieName is that of the cookie that a sign-in leaves in the browser.
	cookieName = "trawl_oidc"
	// lasts is how long a user may take at the provider.
	lasts = 15 * time.Minute
	// mostReturnBytes is what a cookie has room for.
	mostReturnBytes = 2000
)

// Server signs people in at other services. Its fields are set before Routes and not
// changed afterwards.
type Server struct {
	Providers []Provider
	// Site is the server that it is part of. It has a registry.
	Site *httpapi.Server
	// HTTP asks the providers. Without one no provider leads the server to its own machine
	// or to a metadata service, unless its issuer is there.
	HTTP *http.Client
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	once     sync.Once
	services map[string]*service
}

// Routes returns the routes of all providers.
func (s *Server) Routes() []httpapi.Route {
	s.once.Do(s.prepare)
	return []httpapi.Route{
		{Method: "GET", Path: loginPath, Handler: s.login, Access: auth.ForClients, About: "sign in at another service"},
		{Method: "GET", Path: callbackPath, Handler: s.callback, Access: auth.ForClients},
	}
}

func (s *Server) prepare() {
	if s.Now == nil {
		s.Now = time.Now
	}
	s.services = map[string]*service{}
	for _, p := range s.Providers {
		s.services[p.Name] = &service{Provider: p, http: s.client(p), now: s.Now}
	}
}

// client returns what asks a provider. A provider describes itself: its endpoints may be
// anywhere, and what it says is not to make the server a way to where others do not get.
func (s *Server) client(p Provider) *http.Client {
	c := &http.Client{}
	if s.HTTP != nil {
		*c = *s.HTTP
	}
	if c.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.DialContext = hosts.Guard{AllowLocal: !auth.Published(p.Issuer)}.Dial
		c.Transport = t
	}
	c.Transport, c.Timeout = bounded{c.Transport}, timeout
	return c
}

// Choices are the providers as the page to sign in shows them.
func (s *Server) Choices() (all []httpapi.SignInChoice) {
	for _, p := range s.Providers {
		all = append(all, httpapi.SignInChoice{Title: p.Title, Path: strings.Replace(loginPath, "{provider}", p.Name, 1)})
	}
	return all
}

// kept is what a browser keeps between the two halves of a sign-in. Only the browser that
// began it can end it.
type kept struct {
	Provider string `json:"p"`
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	ReturnTo string `json:"r"`
	Expires  int64  `json:"e"`
}

var (
	errNoProvider = &httpapi.Error{Status: http.StatusNotFound, Message: "there is no such service to sign in at"}
	errOpening    = &httpapi.Error{Status: http.StatusServiceUnavailable, Message: "opening data directory"}
	errStale      = &httpapi.Error{Status: http.StatusForbidden, Message: "this sign-in has not begun in this browser, or took too long: begin again at the page to sign in"}
	errService    = &httpapi.Error{Status: http.StatusBadGateway, Message: "the service to sign in at did not answer as it should: try again, or tell a site admin"}
)

func (s *Server) service(r *http.Request) (*service, error) {
	if s.Site.Gate.Registry() == nil {
		return nil, errOpening
	}
	svc := s.services[mux.Vars(r)["provider"]]
	if svc == nil {
		return nil, errNoProvider
	}
	return svc, nil
}

// redirect is our address that the service sends the browser back to.
func (s *Server) redirect(r *http.Request, svc *service) string {
	return auth.BaseURL(s.Site.ExternalURL, r) + strings.Replace(callbackPath, "{provider}", svc.Name, 1)
}

// login sends the browser to the service.
func (s *Server) login(w http.ResponseWriter, r *http.Request) error {
	svc, err := s.service(r)
	if err != nil {
		return err
	}
	p, err := svc.discover(r.Context())
	if err != nil {
		return logged(r, err, errService)
	}
	returnTo := s.Site.LocalPath(r.URL.Query().Get("returnTo"))
	if len(returnTo) > mostReturnBytes {
		returnTo = s.Site.LocalPath("")
	}
	k := kept{
		Provider: svc.Name, State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(),
		ReturnTo: returnTo, Expires: s.Now().Add(lasts).Unix(),
	}
	if err := s.keep(w, r, &k); err != nil {
		return err
	}
	to := svc.config(p, s.redirect(r, svc)).AuthCodeURL(k.State, oidc.Nonce(k.Nonce), oauth2.S256ChallengeOption(k.Verifier))
	return lead(w, to)
}

// lead sends the browser on with nothing to cache.
func lead(w http.ResponseWriter, to string) error {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// callback ends a sign-in: the service has sent the browser back.
func (s *Server) callback(w http.ResponseWriter, r *http.Request) error {
	svc, err := s.service(r)
	if err != nil {
		return err
	}
	k, ok := s.kept(r)
	s.forget(w, r) // whatever happens, it is not used again
	q := r.URL.Query()
	if !ok || k.Provider != svc.Name || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(k.State)) != 1 {
		return errStale
	}
	if iss := q.Get("iss"); iss != "" && iss != svc.Issuer { // RFC 9207
		return errStale
	}
	if q.Get("error") != "" || q.Get("code") == "" {
		return &httpapi.Error{Status: http.StatusForbidden, Message: svc.Title + " did not let you in here"}
	}
	c, err := svc.redeem(r.Context(), s.redirect(r, svc), q.Get("code"), k)
	if err != nil {
		return logged(r, err, errService)
	}
	x := svc.external(c)
	if why := svc.refusal(x); why != "" {
		return &httpapi.Error{Status: http.StatusForbidden, Message: why}
	}
	reg := s.Site.Gate.Registry()
	secret, _, err := reg.SignInExternal(r.Context(), identity.Author{Address: auth.From(r.Context()).Address}, x, svc.Policy)
	var rule *identity.RuleError
	if errors.As(err, &rule) {
		return &httpapi.Error{Status: http.StatusForbidden, Message: rule.Text}
	}
	if err != nil {
		return err
	}
	s.Site.SetSession(w, r, secret, reg.SessionExpiry())
	return lead(w, s.Site.LocalPath(k.ReturnTo))
}

// logged logs what the user does not see.
func logged(r *http.Request, err error, shown *httpapi.Error) error {
	zerolog.Ctx(r.Context()).Warn().Err(err).Msg("sign in by OpenID Connect")
	return shown
}

// keep leaves k in the browser, where no script and no page of another site reaches it.
func (s *Server) keep(w http.ResponseWriter, r *http.Request, k *kept) error {
	text, err := json.Marshal(k)
	if err != nil {
		return err
	}
	s.cookie(w, r, base64.RawURLEncoding.EncodeToString(text), int(lasts/time.Second))
	return nil
}

func (s *Server) forget(w http.ResponseWriter, r *http.Request) { s.cookie(w, r, "", -1) }

func (s *Server) cookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: value, Path: s.Site.Path("/sign-in"), MaxAge: age, HttpOnly: true,
		Secure: isSecure(auth.BaseURL(s.Site.ExternalURL, r)), SameSite: http.SameSiteLaxMode,
	})
}

func isSecure(base string) bool {
	u, err := url.Parse(base)
	return err == nil && u.Scheme == "https"
}

// kept reads what the browser kept; ok is false for none, and for one that took too long.
func (s *Server) kept(r *http.Request) (k kept, ok bool) {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return k, false
	}
	text, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil || json.Unmarshal(text, &k) != nil {
		return kept{}, false
	}
	return k, k.State != "" && k.Nonce != "" && k.Verifier != "" && s.Now().Unix() < k.Expires
}
