package oidc_test

import (
	"crypto/rsa"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/oidc"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/store/identity"
)

// site is where the server is.
const site = "https://trawl.example"

// world is a server with the user root, and a service to sign in at.
type world struct {
	*testing.T
	corp     *corp
	reg      *identity.Registry
	provider oidc.Provider
	server   *httpapi.Server
	handler  http.Handler
	// cookies are those of the browser.
	cookies map[string]*http.Cookie
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, corp: newCorp(t), cookies: map[string]*http.Cookie{}}
	kit := worldtest.InMemory(t, worldtest.Options{})
	kit.User(identity.NewUser{Name: "root", SiteAdmin: true, Email: "root@corp.example", EmailVerified: true})
	w.reg = kit.Registry
	w.provider = oidc.Provider{
		Name: "corp", Title: "Corp <&>", Issuer: w.corp.URL, ClientID: clientID, ClientSecret: clientSecret, Scopes: []string{"profile", "email"},
		GroupsClaim: "groups", Policy: identity.ExternalPolicy{Create: true},
	}
	w.open()
	return w
}

// open makes the server of the provider's settings.
func (w *world) open() {
	gate := &auth.Gate{Registry: func() *identity.Registry { return w.reg }, Reach: auth.Reach{ExternalURL: site}, Anonymous: auth.AnonymousNo}
	w.server = &httpapi.Server{Gate: gate, ExternalURL: site, Log: zerolog.New(io.Discard)}
	people := &oidc.Server{Providers: []oidc.Provider{w.provider}, Site: w.server, HTTP: w.corp.Client()}
	w.server.SignInChoices = people.Choices()
	w.server.Extra = people.Routes()
	w.handler = w.server.Handler()
}

// get asks the server as the browser.
func (w *world) get(target string) *http.Response {
	w.Helper()
	r := httptest.NewRequest("GET", target, nil)
	r.Host = "trawl.example"
	r.RemoteAddr = "192.0.2.1:1"
	r.Header.Set("Accept", "text/html")
	for _, c := range w.cookies {
		r.AddCookie(c)
	}
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	resp := rec.Result()
	for _, c := range resp.Cookies() {
		if w.cookies[c.Name] = c; c.MaxAge < 0 {
			delete(w.cookies, c.Name)
		}
	}
	return resp
}

// away has the service answer the browser, and returns where it is sent back to.
func (w *world) away(to string) string {
	w.Helper()
	client := w.corp.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Get(to)
	if err != nil {
		w.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.Header.Get("Location")
}

// signIn goes through the whole of a sign-in, and returns the last answer and the name of
// who is signed in, "" for nobody.
func (w *world) signIn(returnTo string) (*http.Response, string) {
	w.Helper()
	begun := w.get(site + "/sign-in/corp?returnTo=" + url.QueryEscape(returnTo))
	if begun.StatusCode != http.StatusSeeOther {
		text, _ := io.ReadAll(begun.Body)
		w.Fatalf("begin: %s %s", begun.Status, text)
	}
	resp := w.get(w.away(begun.Header.Get("Location")))
	return resp, w.who()
}

func (w *world) who() string {
	c := w.cookies[auth.CookieName]
	if c == nil {
		return ""
	}
	_, u, err := w.reg.CheckSession(c.Value)
	if err != nil {
		return ""
	}
	return u.Name
}

func text(t *testing.T, resp *http.Response) string {
	t.Helper()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

func TestSignIn(t *testing.T) {
	w := newWorld(t)
	if page := text(t, w.get(site+"/sign-in?returnTo=/search%3Fq%3Dx")); !strings.Contains(strings.ToUpper(page), `HREF="/SIGN-IN/CORP?RETURNTO=%2FSEARCH%3FQ%3DX"`) || !strings.Contains(page, "Corp &lt;&amp;&gt;") {
		t.Errorf("the page to sign in is %s", page)
	}
	resp, who := w.signIn("/search?q=x")
	if who != "ann" || resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/search?q=x" {
		t.Fatalf("%s to %q as %q: %s", resp.Status, resp.Header.Get("Location"), who, text(t, resp))
	}
	if q := w.corp.asked; q.Get("code_challenge_method") != "S256" || q.Get("nonce") == "" || len(q.Get("state")) < 20 || q.Get("scope") != "openid profile email" {
		t.Errorf("the service was asked %v", q)
	}
	if c := w.cookies[auth.CookieName]; !c.HttpOnly || !c.Secure {
		t.Errorf("the cookie is %v", c)
	}
	if w.cookies["trawl_oidc"] != nil {
		t.Error("the sign-in is still in the browser")
	}
	if w.get(site + "/-/sign-out"); w.who() != "" {
		t.Error("signed out, but the session is good")
	}
	// the same person under another name is the same user
	w.corp.claims["preferred_username"] = "root"
	if _, who := w.signIn("/"); who != "ann" {
		t.Errorf("again: signed in as %q", who)
	}
}

// What is wrong with an ID token lets nobody in.
func TestForgedTokens(t *testing.T) {
	w := newWorld(t)
	other := newKey(t)
	nothing := func(map[string]any) {}
	set := func(name string, v any) func(map[string]any) { return func(all map[string]any) { all[name] = v } }
	for what, c := range map[string]struct {
		key    *rsa.PrivateKey
		change func(map[string]any)
	}{
		"signed by another": {other, nothing}, "unsigned": {nil, nothing},
		"of another issuer": {w.corp.key, set("iss", "https://evil.example")}, "for another audience": {w.corp.key, set("aud", "other")},
		"for two, without a party": {w.corp.key, set("aud", []string{clientID, "other"})}, "of another party": {w.corp.key, set("azp", "other")},
		"of another sign-in": {w.corp.key, set("nonce", "other")}, "without a nonce": {w.corp.key, func(all map[string]any) { delete(all, "nonce") }},
		"expired": {w.corp.key, set("exp", time.Now().Add(-time.Minute).Unix())}, "of the future": {w.corp.key, set("iat", time.Now().Add(time.Hour).Unix())},
		"of nobody": {w.corp.key, set("sub", "")},
	} {
		w.corp.forge = func(token string) string { return w.corp.resign(t, token, c.key, c.change) }
		if resp, who := w.signIn("/"); who != "" || resp.StatusCode < 400 {
			t.Errorf("%s: %s as %q", what, resp.Status, who)
		}
	}
	w.corp.forge = func(string) string { return "nonsense" }
	if resp, who := w.signIn("/"); who != "" || resp.StatusCode != http.StatusBadGateway || strings.Contains(text(t, resp), clientSecret) {
		t.Errorf("no token: %s as %q", resp.Status, who)
	}
	// as a proof that the same way leads in
	w.corp.forge = func(token string) string { return w.corp.resign(t, token, w.corp.key, nothing) }
	if _, who := w.signIn("/"); who != "ann" {
		t.Errorf("signed again with nothing changed: %q", who)
	}
}

// Only the browser that began a sign-in ends it, once.
func TestState(t *testing.T) {
	w := newWorld(t)
	back := w.away(w.get(site + "/sign-in/corp").Header.Get("Location"))
	mine := w.cookies["trawl_oidc"]
	w.cookies = map[string]*http.Cookie{} // another browser
	if resp := w.get(back); resp.StatusCode != http.StatusForbidden || w.who() != "" {
		t.Errorf("in another browser: %s", resp.Status)
	}
	w.get(site + "/sign-in/corp") // one that has begun itself
	if resp := w.get(back); resp.StatusCode != http.StatusForbidden || w.who() != "" {
		t.Errorf("in a browser with another sign-in: %s", resp.Status)
	}
	w.cookies = map[string]*http.Cookie{mine.Name: mine}
	if resp := w.get(back + "&iss=https%3A%2F%2Fevil.example"); resp.StatusCode != http.StatusForbidden || w.who() != "" {
		t.Errorf("an answer of another service: %s", resp.Status)
	}
	w.cookies = map[string]*http.Cookie{mine.Name: mine}
	if resp := w.get(back); resp.StatusCode != http.StatusSeeOther || w.who() != "ann" {
		t.Errorf("in its own: %s as %q", resp.Status, w.who())
	}
	w.cookies = map[string]*http.Cookie{mine.Name: mine}
	if resp := w.get(back); resp.StatusCode < 400 || w.who() != "" {
		t.Errorf("a second time: %s as %q", resp.Status, w.who())
	}
	for _, target := range []string{"/sign-in/corp/callback", "/sign-in/corp/callback?state=&code=x", "/sign-in/corp/callback?error=access_denied"} {
		if resp := w.get(site + target); resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s", target, resp.Status)
		}
	}
	if resp := w.get(site + "/sign-in/other"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("another service: %s", resp.Status)
	}
}

// A sign-in leads to a path of this server, whatever the link to it said.
func TestNoOpenRedirect(t *testing.T) {
	w := newWorld(t)
	for _, to := range []string{"https://evil.example/", "//evil.example", `/\evil.example`, "javascript:alert(1)", "/%09/evil.example\t", ""} {
		if resp, _ := w.signIn(to); resp.Header.Get("Location") != "/" && !strings.HasPrefix(resp.Header.Get("Location"), "/%09/") {
			t.Errorf("%q led to %q", to, resp.Header.Get("Location"))
		}
	}
}

func TestWhoMayComeIn(t *testing.T) {
	for what, c := range map[string]struct {
		claims map[string]any
		change func(p *oidc.Provider)
		want   string // the user, or a part of the refusal
	}{
		"another domain":                  {nil, func(p *oidc.Provider) { p.Domains = []string{"example"} }, "certain domains"},
		"its domain":                      {nil, func(p *oidc.Provider) { p.Domains = []string{"CORP.example"} }, "ann"},
		"an address that is not verified": {map[string]any{"email_verified": false}, func(p *oidc.Provider) { p.Domains = []string{"corp.example"} }, "certain domains"},
		"two domains in one":              {map[string]any{"email": "ann@evil.example@corp.example"}, func(p *oidc.Provider) { p.Domains = []string{"corp.example"} }, "certain domains"},
		"another group":                   {map[string]any{"groups": []string{"a", "c"}}, func(p *oidc.Provider) { p.Groups = []string{"b"} }, "certain groups"},
		"no group":                        {nil, func(p *oidc.Provider) { p.Groups = []string{"b"} }, "certain groups"},
		"its group":                       {map[string]any{"groups": []string{"a", "b"}}, func(p *oidc.Provider) { p.Groups = []string{"b"} }, "ann"},
		"no accounts are made":            {nil, func(p *oidc.Provider) { p.Policy.Create = false }, "no account here"},
		"the address of a site admin":     {map[string]any{"email": "root@corp.example"}, func(p *oidc.Provider) { p.Policy.Link = true }, "does not sign in by corp"},
		"that address, not verified":      {map[string]any{"email": "root@corp.example", "email_verified": false}, func(p *oidc.Provider) { p.Policy.Link = true }, "ann"},
		"the name of a site admin":        {map[string]any{"preferred_username": "root"}, func(*oidc.Provider) {}, "root-2"},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			for name, v := range c.claims {
				w.corp.claims[name] = v
			}
			c.change(&w.provider)
			w.open()
			resp, who := w.signIn("/")
			page := text(t, resp)
			if who != c.want && (who != "" || resp.StatusCode != http.StatusForbidden || !strings.Contains(page, c.want)) {
				t.Errorf("%s as %q: %s", resp.Status, who, page)
			}
		})
	}
}

// A service that is away is said to be, and asked again.
func TestServiceAway(t *testing.T) {
	w := newWorld(t)
	issuer := w.corp.URL
	w.provider.Issuer = issuer + "/nothing-here"
	w.open()
	if resp := w.get(site + "/sign-in/corp"); resp.StatusCode != http.StatusBadGateway || strings.Contains(text(t, resp), issuer) {
		t.Errorf("got %s", resp.Status)
	}
}

func TestPasswordsOff(t *testing.T) {
	w := newWorld(t)
	w.server.NoPasswords = true
	if page := text(t, w.get(site+"/sign-in")); strings.Contains(page, `type="password"`) || !strings.Contains(page, "/sign-in/corp") {
		t.Errorf("the page to sign in is %s", page)
	}
	r := httptest.NewRequest("POST", site+"/-/sign-in", strings.NewReader(`{"email":"root","password":"x"}`))
	rec := httptest.NewRecorder()
	if w.handler.ServeHTTP(rec, r); rec.Code != http.StatusForbidden {
		t.Errorf("a password: %d %s", rec.Code, rec.Body)
	}
}

// A service leads the server to no metadata service; one on this machine is asked if the
// settings have it there.
func TestInsideAddresses(t *testing.T) {
	w := newWorld(t)
	begin := func(issuer string) (status int, logged string) {
		var log strings.Builder
		p := w.provider
		p.Issuer = issuer
		gate := &auth.Gate{Registry: func() *identity.Registry { return w.reg }, Reach: auth.Reach{ExternalURL: site}, Anonymous: auth.AnonymousNo}
		server := &httpapi.Server{Gate: gate, ExternalURL: site, Log: zerolog.New(&log)}
		server.Extra = (&oidc.Server{Providers: []oidc.Provider{p}, Site: server}).Routes()
		w.handler = server.Handler()
		return w.get(site + "/sign-in/corp").StatusCode, log.String()
	}
	for _, issuer := range []string{"https://169.254.169.254", "https://100.100.100.200:8443", "https://[fd00:ec2::254]"} {
		if status, log := begin(issuer); status != http.StatusBadGateway || !strings.Contains(log, "address not allowed") {
			t.Errorf("%s: %d, logged %s", issuer, status, log)
		}
	}
	if status, log := begin(w.corp.URL); status != http.StatusSeeOther {
		t.Errorf("this machine: %d, logged %s", status, log)
	}
}
