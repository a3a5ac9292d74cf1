package oauth

import (
	"embed"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/ory/fosite"

	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store/identity"
	kept "github.com/trawlsearch/trawl/store/oauth"
)

//go:embed pages
var pageFiles embed.FS

var pages = web.NewTemplates(pageFiles, "pages", nil)

// maxRequestBytes bounds an authorization request, which the page for consent
// carries along.
const maxRequestBytes = 8 << 10

// The decisions of the two pages.
const (
	decisionAllow = "allow"
	decisionDeny  = "deny"
)

// consent is an authorization request that can be put before a user.
type consent struct {
	app *kept.App
	ask fosite.AuthorizeRequester
	// query is the request itself.
	query string
}

// pageError is a request that is answered to the user and not to the app,
// since it does not say who the app is, or where it is (RFC 6749, section
// 4.1.2.1).
type pageError struct{ text string }

func (e *pageError) Error() string { return e.text }

// readConsent judges an authorization request. A *pageError is for the user, any
// other error for the app, with the request.
func (s *Server) readConsent(r *http.Request, query string) (*consent, error) {
	form, err := url.ParseQuery(query)
	if err != nil || len(query) > maxRequestBytes || repeated(form) != "" {
		return nil, &pageError{"The address of this page is broken: it is too long, or says something twice."}
	}
	app, err := storage{s}.app(form.Get("client_id"))
	if errors.Is(err, fosite.ErrNotFound) {
		return nil, &pageError{"There is no app with this client ID, or it is switched off."}
	}
	if err != nil {
		return nil, err
	}
	if uri := form.Get("redirect_uri"); uri == "" && len(app.Redirects) != 1 || uri != "" && !app.Allows(uri) {
		return nil, &pageError{"The app asks to be answered at an address that is not one of its own, so it gets no answer."}
	}
	again := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: AuthorizePath, RawQuery: query}, Header: http.Header{}}
	c := &consent{app: app, query: query}
	c.ask, err = s.provider.NewAuthorizeRequest(r.Context(), again.WithContext(r.Context()))
	// The lack of a state is what the library looks at last, when all else is
	// right. PKCE does what it was for (RFC 9700, section 2.1).
	if errors.Is(err, fosite.ErrInvalidState) && form.Get("code_challenge") != "" {
		err = nil
	}
	if err != nil {
		return c, err
	}
	if err := c.check(form); err != nil {
		return c, err
	}
	scopes, err := s.narrow(r, form.Get("resource"), c.ask.GetRequestedScopes())
	c.ask.SetRequestedScopes(scopes)
	return c, err
}

// challengeForm is what S256 makes of a verifier.
var challengeForm = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// check refuses requests that the library would refuse only after the user had
// agreed, or not at all. A request without scopes gets all of the app's but the
// one to stay signed in.
func (c *consent) check(form url.Values) error {
	challenge, method := form.Get("code_challenge"), form.Get("code_challenge_method")
	switch {
	case form.Get("request") != "":
		return fosite.ErrRequestNotSupported
	case form.Get("request_uri") != "":
		return fosite.ErrRequestURINotSupported
	case challenge == "" && (c.app.Kind == kept.Public || c.app.Registered || method != ""):
		return fosite.ErrInvalidRequest.WithHint("The app must send a code_challenge.")
	case challenge != "" && (method != "S256" || !challengeForm.MatchString(challenge)):
		return fosite.ErrInvalidRequest.WithHint("The code_challenge must be of code_challenge_method S256.")
	case !c.ask.GetResponseTypes().ExactOne("code"):
		return fosite.ErrUnsupportedResponseType
	case strings.Contains(" "+form.Get("prompt")+" ", " none "):
		return fosite.ErrInteractionRequired.WithHint("Users of this server are always asked.")
	}
	if len(c.ask.GetRequestedScopes()) == 0 {
		var all fosite.Arguments
		for _, scope := range c.app.Scopes {
			if scope != kept.ScopeOffline {
				all = append(all, scope)
			}
		}
		c.ask.SetRequestedScopes(all)
	}
	// Agents do not know the scope to stay signed in, and would ask again each hour.
	if asked := c.ask.GetRequestedScopes(); c.app.Registered && !asked.Has(kept.ScopeOffline) {
		c.ask.SetRequestedScopes(append(slices.Clone(asked), kept.ScopeOffline))
	}
	return nil
}

// redirect is where the app gets its answer; the request has been judged.
func (c *consent) redirect() *url.URL {
	if u := c.ask.GetRedirectURI(); u != nil {
		out := *u
		return &out
	}
	form, _ := url.ParseQuery(c.query) // read before
	text := form.Get("redirect_uri")
	if text == "" {
		text = c.app.Redirects[0]
	}
	u, err := url.Parse(text)
	if err != nil {
		panic("httpapi/oauth: a redirect URI that was allowed cannot be parsed: " + err.Error())
	}
	return u
}

// source is where the answer to the form leads, for the policy of its page.
func (c *consent) source() string {
	u := c.redirect()
	if u.Scheme == "https" || u.Scheme == "http" {
		return u.Scheme + "://" + u.Host
	}
	return u.Scheme + ":"
}

// answer sends the browser back to the app. The issuer lets the app distinguish
// our answers from those of other servers (RFC 9207), and 303 keeps the browser
// from posting the form again (RFC 9700, section 4.12).
func (s *Server) answer(w http.ResponseWriter, r *http.Request, c *consent, values url.Values) error {
	u := c.redirect()
	q := u.Query()
	for name := range values {
		q.Set(name, values.Get(name))
	}
	if state := c.ask.GetState(); state != "" {
		q.Set("state", state)
	}
	q.Set("iss", s.base(r))
	u.RawQuery = q.Encode()
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Location", u.String())
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// fail reports an error of a request to the app, or to the user.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, c *consent, err error) error {
	var told *pageError
	if errors.As(err, &told) {
		return s.Site.ServePage(w, r, pages, web.View{Page: "problem.html", Status: http.StatusBadRequest, Data: told.text})
	}
	if c == nil {
		return err
	}
	out := refusalOf(err, c.ask.GetRequestForm())
	if out.status == http.StatusInternalServerError {
		logCause(r, err)
	}
	return s.answer(w, r, c, url.Values{"error": {out.Code}, "error_description": {out.Description}})
}

// serveAuthorize asks a user whether an app may act for them.
func (s *Server) serveAuthorize(w http.ResponseWriter, r *http.Request) error {
	c, err := s.readConsent(r, r.URL.RawQuery)
	if err != nil {
		return s.fail(w, r, c, err)
	}
	u, err := s.person(r)
	if err != nil {
		return err
	}
	// Browsers hold the redirect after a form against the policy, too.
	policy := map[string]string{"form-action": "'self' " + c.source()}
	return s.Site.ServePage(w, r, pages, web.View{Page: "consent.html", Policy: policy, Data: consentData{
		App: c.app.Name, User: u.Name, Scopes: scopeTexts(c.ask.GetRequestedScopes()), To: c.destination(), Unknown: c.app.Registered,
		Action: s.Site.Path(AuthorizePath), Request: c.query, Check: sign(r, "consent", c.query),
	}})
}

// consentData is the data of the page for consent.
type consentData struct {
	App, User, To string
	Scopes        []string
	// Unknown says that the app registered itself.
	Unknown        bool
	Action         string
	Request, Check string
}

// destination describes the app's address to the user.
func (c *consent) destination() string {
	switch u := c.redirect(); {
	case u.Scheme == "https":
		return "at " + u.Host
	case u.Scheme == "http":
		return "on your own machine"
	default:
		return "the program " + u.Scheme + " on your own machine"
	}
}

// scopeTexts describes the scopes to the user.
func scopeTexts(scopes []string) []string {
	var out []string
	for _, s := range scopes {
		switch s {
		case identity.ScopeAll:
			out = append(out, "search and change all that you may, as you")
		case identity.ScopeMCP:
			out = append(out, "search and read the code that you may read, by the Model Context Protocol")
		case kept.ScopeOpenID:
			out = append(out, "know which user you are")
		case kept.ScopeProfile:
			out = append(out, "see your names")
		case kept.ScopeEmail:
			out = append(out, "see your e-mail address")
		case kept.ScopeOffline:
			out = append(out, "stay signed in until you take this back")
		}
	}
	return out
}

// decideAuthorize takes the user's answer to the app.
func (s *Server) decideAuthorize(w http.ResponseWriter, r *http.Request) error {
	if err := s.readPage(w, r); err != nil {
		return err
	}
	u, err := s.person(r)
	if err != nil {
		return err
	}
	query := r.PostForm.Get("request")
	if !signed(r, r.PostForm.Get("check"), "consent", query) {
		return errStale
	}
	c, err := s.readConsent(r, query)
	if err == nil && r.PostForm.Get("decision") != decisionAllow {
		err = fosite.ErrAccessDenied
	}
	if err != nil {
		return s.fail(w, r, c, err)
	}
	code, err := s.agree(r, c, u)
	if err != nil {
		return s.fail(w, r, c, err)
	}
	return s.answer(w, r, c, url.Values{"code": {code}})
}

// agree makes the code for a request that a user has agreed to.
func (s *Server) agree(r *http.Request, c *consent, u *identity.User) (string, error) {
	id, err := s.Book().Grants.NewID(u.ID)
	if err != nil {
		return "", err
	}
	c.ask.SetID(id.String())
	for _, scope := range c.ask.GetRequestedScopes() {
		c.ask.GrantScope(scope)
	}
	resp, err := s.provider.NewAuthorizeResponse(r.Context(), c.ask, &fosite.DefaultSession{Subject: subject(u)})
	if err != nil {
		return "", err
	}
	return resp.GetCode(), nil
}
