package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// site is a server with users, asked without a network.
type site struct {
	*httpapi.Server
	reg *identity.Registry
	st  *store.Store
	log bytes.Buffer
}

// newSite returns a site on loopback without users.
func newSite(t testing.TB, do searcher) *site { return newSiteOn(t, do, store.Options{}) }

func newSiteOn(t testing.TB, do searcher, o store.Options) *site {
	t.Helper()
	s := &site{Server: newServer(do)}
	s.Random = nil
	s.Log = zerolog.New(&s.log).Level(zerolog.DebugLevel)
	s.Gate = &auth.Gate{Reach: auth.Reach{Local: true}}
	w := worldtest.InMemory(t, worldtest.Options{Store: o, Gate: s.Gate})
	s.reg, s.st = w.Registry, w.Store
	return s
}

// user makes a user with a password and a token.
func (s *site) user(t testing.TB, n identity.NewUser, scopes ...string) (u *identity.User, token string) {
	t.Helper()
	u, err := s.reg.CreateUser(identity.Operator, n)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.reg.SetPassword(t.Context(), identity.Operator, u.ID, worldtest.Password); err != nil {
		t.Fatal(err)
	}
	week := 7 * 24 * time.Hour
	token, _, err = s.reg.CreateToken(identity.Operator, identity.NewToken{User: u.ID, Scopes: append(scopes, identity.ScopeAll), Lifetime: &week})
	if err != nil {
		t.Fatal(err)
	}
	return u, token
}

// ask sends a request from this machine, with headers as name, value.
func (s *site) ask(method, target, body string, headers ...string) *http.Response {
	return worldtest.Serve(s.Handler(), method, target, body, headers...)
}

// postForm sends a form as a browser does, from a page of the server.
func (s *site) postForm(target string, values url.Values, headers ...string) *http.Response {
	return s.ask("POST", target, values.Encode(), append([]string{"Content-Type", "application/x-www-form-urlencoded",
		"Origin", "http://localhost", "Sec-Fetch-Site", "same-origin"}, headers...)...)
}

func postJSON(s *site, target string, v map[string]string, headers ...string) *http.Response {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return s.ask("POST", target, string(body), headers...)
}

// sessionOf returns the cookie that an answer sets, nil if none.
func sessionOf(r *http.Response) *http.Cookie {
	for _, c := range r.Cookies() {
		if c.Name == auth.CookieName {
			return c
		}
	}
	return nil
}

func (s *site) signIn(t testing.TB, name string) *http.Cookie {
	t.Helper()
	resp := postJSON(s, "/-/sign-in", map[string]string{"email": name, "password": worldtest.Password})
	c := sessionOf(resp)
	if body := bodyOf(t, resp); resp.StatusCode != 200 || body != "" || c == nil {
		t.Fatalf("sign in as %s: %d %q, cookie %v", name, resp.StatusCode, body, c)
	}
	return c
}

// who tells whom a session stands for, by what it may search.
func (s *site) status(c *http.Cookie) int {
	return s.ask("GET", "/.api/search/stream?q=x", "", "Cookie", c.String(), "X-Requested-With", "x").StatusCode
}

func TestSignInAndOut(t *testing.T) {
	s := newSite(t, nothing)
	s.user(t, identity.NewUser{Name: "ann", Email: "ann@example.org", EmailVerified: true})
	first, second := s.signIn(t, "ann"), s.signIn(t, "ann@example.org")
	if first.Value == second.Value {
		t.Error("two sessions are one")
	}
	if !first.HttpOnly || first.Path != "/" || first.SameSite != http.SameSiteLaxMode || first.Secure || first.MaxAge != 90*24*3600 {
		t.Errorf("the cookie: got %+v", first)
	}
	for _, c := range []*http.Cookie{first, second} {
		if got := s.status(c); got != 200 {
			t.Errorf("a search with a session: %d", got)
		}
	}
	// no page but ours signs a user out
	if resp := s.ask("POST", "/-/sign-out", "", "Cookie", first.String(), "Origin", "https://evil.example"); resp.StatusCode != 403 || s.status(first) != 200 {
		t.Errorf("sign-out by a page of another origin: %d, then a search %d", resp.StatusCode, s.status(first))
	}
	link := []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document", "Cookie", first.String()}
	if resp := s.ask("GET", "/-/sign-out", "", link...); resp.StatusCode != 403 || s.status(first) != 200 {
		t.Errorf("sign-out by a link elsewhere: %d, then a search %d", resp.StatusCode, s.status(first))
	}
	resp := s.ask("GET", "/-/sign-out", "", "Cookie", first.String())
	if c := sessionOf(resp); resp.StatusCode != 303 || resp.Header.Get("Location") != "/search" || c == nil || c.MaxAge >= 0 || c.Value != "" {
		t.Errorf("sign-out: %d to %q with %v", resp.StatusCode, resp.Header.Get("Location"), c)
	}
	for _, c := range []*http.Cookie{first, second} {
		if got := s.status(c); got != 401 {
			t.Errorf("a search after sign-out: %d, want 401", got)
		}
	}
}

func TestCookieOverTLS(t *testing.T) {
	s := newSite(t, nothing)
	s.ExternalURL = "https://search.example.org/base"
	s.user(t, identity.NewUser{Name: "ann"})
	if c := s.signIn(t, "ann"); !c.Secure || c.SameSite != http.SameSiteNoneMode || !c.HttpOnly {
		t.Errorf("the cookie: got %+v", c)
	}
	resp := s.ask("GET", "/-/trace/x", "")
	if got := resp.Header.Get("Location"); resp.StatusCode != 302 || got != "/base/sign-in?returnTo=%2Fbase%2F-%2Ftrace%2Fx" {
		t.Errorf("a page: %d to %q", resp.StatusCode, got)
	}
}

// A session that an attacker chose stays worthless.
func TestSessionFixation(t *testing.T) {
	s := newSite(t, nothing)
	s.user(t, identity.NewUser{Name: "ann"})
	chosen := &http.Cookie{Name: auth.CookieName, Value: strings.Repeat("A", 43)}
	resp := postJSON(s, "/-/sign-in", map[string]string{"email": "ann", "password": worldtest.Password}, "Cookie", chosen.String())
	if c := sessionOf(resp); resp.StatusCode != 200 || c == nil || c.Value == chosen.Value {
		t.Fatalf("sign in: %d, %v", resp.StatusCode, c)
	}
	if got := s.status(chosen); got != 401 {
		t.Errorf("a search with the chosen session: %d, want 401", got)
	}
}

func TestSignInRefusals(t *testing.T) {
	s := newSite(t, nothing)
	s.user(t, identity.NewUser{Name: "ann"})
	right := `{"email":"ann","password":"` + worldtest.Password + `"}`
	for _, c := range []struct {
		body    string
		headers []string
		status  int
		text    string
	}{
		{right, []string{"Origin", "https://evil.example"}, 403, "this request came from a page of another site\n"},
		{right, []string{"Origin", "null"}, 403, "this request came from a page of another site\n"},
		{right, []string{"Sec-Fetch-Site", "cross-site"}, 403, "this request came from a page of another site\n"},
		{right, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 403, "this request came from a page of another site\n"},
		{"", nil, 400, "Could not decode request body\n"}, {"[]", nil, 400, "Could not decode request body\n"}, {"null", nil, 400, "Could not decode request body\n"},
		{`{"email":1}`, nil, 400, "Could not decode request body\n"}, {strings.Repeat(" ", 20<<10) + right, nil, 400, "Could not decode request body\n"},
		{"a=%zz", []string{"Content-Type", "application/x-www-form-urlencoded"}, 400, "Could not decode request body\n"},
		{`{"email":"ann","password":"wrong"}`, nil, 401, "Authentication failed\n"},
		{`{"email":"eve","password":"wrong"}`, nil, 401, "Authentication failed\n"},
		{`{}`, nil, 401, "Authentication failed\n"},
	} {
		resp := s.ask("POST", "/-/sign-in", c.body, c.headers...)
		if body := bodyOf(t, resp); resp.StatusCode != c.status || body != c.text || sessionOf(resp) != nil {
			t.Errorf("%.60q %q: got %d %q %v, want %d %q", c.body, c.headers, resp.StatusCode, body, resp.Cookies(), c.status, c.text)
		}
	}
	for range 4 {
		postJSON(s, "/-/sign-in", map[string]string{"email": "ann", "password": "wrong"})
	}
	resp := s.ask("POST", "/-/sign-in", right)
	if body := bodyOf(t, resp); resp.StatusCode != 422 || body != "Account has been locked out due to \"too many failed attempts\"\n" {
		t.Errorf("after 5 failures: %d %q", resp.StatusCode, body)
	}
	if strings.Contains(s.log.String(), "wrong") || strings.Contains(s.log.String(), worldtest.Password) {
		t.Errorf("the log holds a password:\n%s", &s.log)
	}
}

// Who wants a page and has to sign in comes back to it, and nowhere else.
func TestReturnTo(t *testing.T) {
	s := newSite(t, nothing)
	s.user(t, identity.NewUser{Name: "ann"})
	for target, want := range map[string]string{
		"/":                          "/sign-in?returnTo=%2F",
		"/-/trace/0123?format=json":  "/sign-in?returnTo=%2F-%2Ftrace%2F0123%3Fformat%3Djson",
		"/search/stream?q=a+b":       "/sign-in?returnTo=%2Fsearch%2Fstream%3Fq%3Da%2Bb",
		"/no/such/page":              "/sign-in?returnTo=%2Fno%2Fsuch%2Fpage",
		"//evil.example/%0d%0aX:%20": "",
	} {
		resp := s.ask("GET", target, "")
		if got := resp.Header.Get("Location"); want != "" && (resp.StatusCode != 302 || got != want) {
			t.Errorf("GET %s: %d to %q, want %q", target, resp.StatusCode, got, want)
		}
	}
	for target, status := range map[string]int{"/.api/search/stream?q=x": 401, "/.api/nothing": 401, "/lab/kiln/-/raw/a": 401, "/.well-known/openid-configuration": 401, "/.auth/x": 401} {
		resp := s.ask("GET", target, "")
		if body := bodyOf(t, resp); resp.StatusCode != status || body != "Private mode requires authentication.\n" {
			t.Errorf("GET %s: %d %q, want %d", target, resp.StatusCode, body, status)
		}
	}
	for to, want := range map[string]string{
		"/search?q=x&t=y": "/search?q=x&t=y", "/": "/", "": "/",
		// elsewhere, as browsers read it
		"https://evil.example": "/", "//evil.example": "/", `/\evil.example`: "/", `\\evil.example`: "/", "/\t/evil.example": "/", "javascript:alert(1)": "/",
		"/\n/evil.example": "/", "evil.example": "/", "/ /evil.example": "/", "http:evil.example": "/", "/x\r\nSet-Cookie: a=b": "/", "/%0d%0aX": "/%0d%0aX",
	} {
		resp := s.postForm("/-/sign-in", url.Values{"email": {"ann"}, "password": {worldtest.Password}, "returnTo": {to}})
		if got := resp.Header.Get("Location"); resp.StatusCode != 303 || got != want || sessionOf(resp) == nil {
			t.Errorf("returnTo %q: %d to %q, want %q", to, resp.StatusCode, got, want)
		}
		resp = s.ask("GET", "/sign-in?returnTo="+url.QueryEscape(to), "")
		if body := bodyOf(t, resp); strings.Contains(body, "evil.example") {
			t.Errorf("the page for returnTo %q holds it:\n%s", to, body)
		}
	}
}

func TestSignInPage(t *testing.T) {
	s := newSite(t, nothing)
	s.user(t, identity.NewUser{Name: "ann"})
	resp := s.ask("GET", "/sign-in?returnTo=/x%22%3E%3Cscript%3E", "")
	body := bodyOf(t, resp)
	if resp.StatusCode != 200 || !strings.Contains(body, `action="/-/sign-in"`) || strings.Contains(body, "needsSiteInit") || strings.Contains(body, `"><script>`) {
		t.Errorf("got %d\n%s", resp.StatusCode, body)
	}
	csp := resp.Header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(csp, part) {
			t.Errorf("Content-Security-Policy %q has no %s", csp, part)
		}
	}
	resp = s.postForm("/-/sign-in", url.Values{"email": {`<b>ann`}, "password": {"wrong"}, "returnTo": {"/x"}})
	body = bodyOf(t, resp)
	if resp.StatusCode != 401 || !strings.Contains(body, "Authentication failed") || !strings.Contains(body, `value="&lt;b&gt;ann"`) || strings.Contains(body, "wrong") {
		t.Errorf("after a failure: %d\n%s", resp.StatusCode, body)
	}
	if body := bodyOf(t, s.ask("GET", "/sign-in", "", "Cookie", s.signIn(t, "ann").String())); !strings.Contains(body, "signed in as <strong>ann</strong>") {
		t.Errorf("for who is signed in:\n%s", body)
	}
}

func TestFirstUser(t *testing.T) {
	s := newSite(t, nothing)
	if got := s.ask("GET", "/.api/search/stream?q=x", "").StatusCode; got != 200 {
		t.Errorf("a search from the same machine while there is no user: %d", got)
	}
	if body := bodyOf(t, s.ask("GET", "/sign-in", "")); !strings.Contains(body, `"needsSiteInit":true`) || strings.Contains(body, `name="secret"`) {
		t.Errorf("the page:\n%s", body)
	}
	ann := map[string]string{"username": "ann", "email": "ann@example.org", "password": worldtest.Password}
	for what, resp := range map[string]*http.Response{
		"a page of another origin": postJSON(s, "/-/site-init", ann, "Origin", "https://evil.example"),
		"a page of another site":   postJSON(s, "/-/site-init", ann, "Sec-Fetch-Site", "cross-site"),
		"through a proxy":          postJSON(s, "/-/site-init", ann, "X-Forwarded-For", "198.51.100.7"),
	} {
		if resp.StatusCode != 403 || sessionOf(resp) != nil {
			t.Errorf("%s: %d", what, resp.StatusCode)
		}
	}
	// a page whose name leads here, which is its own origin then
	r := httptest.NewRequest("POST", "http://evil.example/-/site-init", strings.NewReader(`{"username":"eve","password":"`+worldtest.Password+`"}`))
	r.RemoteAddr = "127.0.0.1:1"
	r.Header.Set("Origin", "http://evil.example")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	rec := httptest.NewRecorder()
	s.Handler().ServeHTTP(rec, r)
	if rec.Code != 403 || s.reg.Used() {
		t.Errorf("by a stranger's name: %d, used %t", rec.Code, s.reg.Used())
	}
	if resp := postJSON(s, "/-/site-init", map[string]string{"username": "-", "password": worldtest.Password}); resp.StatusCode != 422 {
		t.Errorf("a bad name: %d", resp.StatusCode)
	}
	resp := s.postForm("/-/site-init", url.Values{"username": {"ann"}, "password": {"short"}})
	if body := bodyOf(t, resp); resp.StatusCode != 422 || !strings.Contains(body, "too short") || !strings.Contains(body, `value="ann"`) {
		t.Errorf("a short password: %d\n%s", resp.StatusCode, body)
	}
	resp = s.postForm("/-/site-init", url.Values{"username": {"ann"}, "password": {worldtest.Password}, "email": {"ann@example.org"}})
	c := sessionOf(resp)
	if resp.StatusCode != 303 || c == nil || s.status(c) != 200 {
		t.Fatalf("the first user: %d, %v", resp.StatusCode, c)
	}
	if u, err := s.reg.UserNamed("ann"); err != nil || !u.SiteAdmin {
		t.Errorf("got %+v, %v; want a site admin", u, err)
	}
	if got := s.ask("GET", "/.api/search/stream?q=x", "").StatusCode; got != 401 {
		t.Errorf("a search without a name afterwards: %d, want 401", got)
	}
	if resp := postJSON(s, "/-/site-init", map[string]string{"username": "eve", "password": worldtest.Password}); resp.StatusCode != 403 {
		t.Errorf("a second first user: %d", resp.StatusCode)
	}
	if body := bodyOf(t, s.ask("GET", "/sign-in", "")); strings.Contains(body, "needsSiteInit") {
		t.Errorf("the page afterwards:\n%s", body)
	}
}

func TestFirstUserFromElsewhere(t *testing.T) {
	s := newSite(t, nothing)
	s.Gate.Local = false
	ann := map[string]string{"username": "ann", "password": worldtest.Password}
	if resp := postJSON(s, "/-/site-init", ann); resp.StatusCode != 403 || s.reg.Used() {
		t.Errorf("without a secret to ask for: %d", resp.StatusCode)
	}
	s = newSite(t, nothing)
	s.Gate.Local = false
	s.SetupSecret = "open sesame"
	for _, secret := range []string{"", "open", "open sesame ", "OPEN SESAME"} {
		ann["secret"] = secret
		if resp := postJSON(s, "/-/site-init", ann); resp.StatusCode != 403 || s.reg.Used() {
			t.Errorf("with the secret %q: %d", secret, resp.StatusCode)
		}
	}
	if body := bodyOf(t, s.ask("GET", "/sign-in", "")); !strings.Contains(body, `name="secret"`) {
		t.Errorf("the page:\n%s", body)
	}
	ann["secret"] = "open sesame"
	if resp := postJSON(s, "/-/site-init", ann); resp.StatusCode != 200 || sessionOf(resp) == nil {
		t.Errorf("with the secret: %d", resp.StatusCode)
	}
	if strings.Contains(s.log.String(), "sesame") {
		t.Errorf("the log holds the secret:\n%s", &s.log)
	}
}

func TestPasswordReset(t *testing.T) {
	s := newSite(t, nothing)
	ann, _ := s.user(t, identity.NewUser{Name: "ann"})
	old := s.signIn(t, "ann")
	code, err := s.reg.ResetPassword(identity.Operator, ann.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.status(old); got != 401 {
		t.Errorf("a session from before: %d", got)
	}
	link := httpapi.ResetPath(ann.ID, code)
	resp := s.ask("GET", link, "")
	if body := bodyOf(t, resp); resp.StatusCode != 200 || !strings.Contains(body, `value="ann"`) || resp.Header.Get("Referrer-Policy") != "same-origin" {
		t.Errorf("the page: %d\n%s", resp.StatusCode, body)
	}
	for _, bad := range []string{link[:len(link)-1], link + "x", "/password-reset", "/password-reset?userID=99&code=" + code, "/password-reset?userID=x"} {
		if resp := s.ask("GET", bad, ""); resp.StatusCode != 401 {
			t.Errorf("GET %s: %d", bad, resp.StatusCode)
		}
	}
	form := func(password string) url.Values {
		return url.Values{"userID": {fmt.Sprint(ann.ID)}, "code": {code}, "password": {password}}
	}
	resp = s.postForm("/-/reset-password", form("short"))
	if body := bodyOf(t, resp); resp.StatusCode != 422 || !strings.Contains(body, "too short") || !strings.Contains(body, code) {
		t.Errorf("a short password: %d\n%s", resp.StatusCode, body)
	}
	if resp := s.postForm("/-/reset-password", form(worldtest.Password), "Origin", "https://evil.example"); resp.StatusCode != 403 {
		t.Errorf("by a page of another origin: %d", resp.StatusCode)
	}
	if resp := s.postForm("/-/reset-password", form(worldtest.Password)); resp.StatusCode != 303 || resp.Header.Get("Location") != "/sign-in" {
		t.Errorf("a password: %d", resp.StatusCode)
	}
	if resp := s.postForm("/-/reset-password", form(worldtest.Password)); resp.StatusCode != 401 {
		t.Errorf("the code again: %d", resp.StatusCode)
	}
	s.signIn(t, "ann")
	if strings.Contains(s.log.String(), code) {
		t.Errorf("the log holds the code:\n%s", &s.log)
	}
}

// A search sees what its actor may see, and its trace is theirs alone.
func TestTracesBelongToTheirActor(t *testing.T) {
	hidden := &store.Repository{Name: "hidden", Readers: &store.Readers{}}
	s := newSite(t, func(_ context.Context, _ *query.Query, o search.Options, _ answer.Sink) search.Outcome {
		sees := o.Visible == nil || o.Visible(hidden)
		o.Trace.Add(report.Step{Name: fmt.Sprintf("sees hidden: %t", sees)})
		return search.Outcome{}
	})
	s.Gate.OperatorToken = "operator's"
	tokens := map[string][]string{}
	for _, n := range []identity.NewUser{{Name: "ann"}, {Name: "bob"}, {Name: "root", SiteAdmin: true}} {
		scopes := []string{}
		if n.SiteAdmin {
			scopes = append(scopes, identity.ScopeSudo)
		}
		_, token := s.user(t, n, scopes...)
		tokens[n.Name] = []string{"Authorization", "token " + token}
		if n.SiteAdmin {
			tokens["root as ann"] = []string{"Authorization", `token-sudo user="ann",token="` + token + `"`}
		}
	}
	tokens["operator"] = []string{auth.OperatorHeader, "operator's"}
	may := map[string][]string{
		"ann": {"ann", "root as ann"}, "bob": {"bob"}, "root": {"root"}, "root as ann": {"ann", "root as ann"}, "operator": {"operator", "root"},
	}
	for searcher, headers := range tokens {
		resp := s.ask("GET", "/.api/search/stream?q=x", "", headers...)
		bodyOf(t, resp)
		id := resp.Header.Get("X-Trace")
		for reader, headers := range tokens {
			want := 404
			for _, name := range may[searcher] {
				if name == reader {
					want = 200
				}
			}
			resp := s.ask("GET", "/-/trace/"+id+"?format=json", "", headers...)
			body := bodyOf(t, resp)
			if resp.StatusCode != want {
				t.Errorf("the trace of %s for %s: %d, want %d", searcher, reader, resp.StatusCode, want)
			}
			sees := fmt.Sprintf("sees hidden: %t", searcher == "root" || searcher == "operator")
			if want == 200 && !strings.Contains(body, sees) {
				t.Errorf("the trace of %s: want %s in\n%s", searcher, sees, body)
			}
			if want == 404 && body != bodyOf(t, s.ask("GET", "/-/trace/none", "", headers...)) {
				t.Errorf("the trace of %s for %s is refused in other words than one that is not there: %q", searcher, reader, body)
			}
		}
	}
}

// A token in a URL is in no log line and on no trace page.
func TestTokenIsNotLogged(t *testing.T) {
	s := newSite(t, nothing)
	_, token := s.user(t, identity.NewUser{Name: "ann"})
	for _, target := range []string{"/.api/search/stream?q=x&token=", "/search/stream?q=count:none&token=", "/-/trace/none?token=", "/none?token=", "/.api/search/stream?token="} {
		resp := s.ask("GET", target+token, "")
		body := bodyOf(t, resp)
		trace := bodyOf(t, s.ask("GET", "/-/trace/"+resp.Header.Get("X-Trace"), "", "Authorization", "token "+token))
		for where, text := range map[string]string{"log": s.log.String(), "answer": body, "trace": trace, "headers": fmt.Sprint(resp.Header)} {
			if strings.Contains(text, token) || strings.Contains(text, strings.TrimPrefix(token, "sgp_local_")) {
				t.Errorf("%s: the %s holds the token:\n%s", target, where, text)
			}
		}
	}
	if !strings.Contains(s.log.String(), `"actor":"user:1"`) {
		t.Errorf("the log does not tell who asked:\n%s", &s.log)
	}
}

// A stream ends with its credential.
func TestStreamEndsWithItsToken(t *testing.T) {
	begun := make(chan struct{})
	s := newSite(t, func(ctx context.Context, _ *query.Query, _ search.Options, _ answer.Sink) search.Outcome {
		close(begun)
		<-ctx.Done()
		return search.Outcome{}
	})
	ann, token := s.user(t, identity.NewUser{Name: "ann"})
	open(t, s.Server)
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+"/.api/search/stream?q=x", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "token "+token)
	client := newClient(t)
	answer := make(chan string, 1)
	go func() {
		resp, err := client.Do(r)
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		answer <- string(body)
	}()
	<-begun
	tokens, err := s.reg.Tokens(ann.ID)
	if err != nil || len(tokens) != 1 {
		t.Fatalf("tokens: %v, %v", tokens, err)
	}
	if err := s.reg.RevokeToken(identity.Operator, tokens[0].ID); err != nil {
		t.Fatal(err)
	}
	select {
	case body := <-answer:
		if !strings.Contains(body, `"reason":"credential-ended"`) || !strings.HasSuffix(body, "event: done\ndata: {}\n\n") {
			t.Errorf("got\n%s", body)
		}
	case <-time.After(patience): // the search itself would never end
		t.Errorf("the stream goes on %v after its token was revoked", patience)
	}
}

// Nothing that a client can send in a header ends up in another, or breaks the
// server.
func TestHostileHeaders(t *testing.T) {
	s := newSite(t, nothing)
	s.user(t, identity.NewUser{Name: "ann"})
	open(t, s.Server)
	client := newClient(t)
	for _, header := range []string{
		"token " + strings.Repeat("a", 200<<10), `token-sudo user="` + strings.Repeat(`\"`, 50<<10) + `",token="x"`, "token " + strings.Repeat("a=b,", 30<<10),
		"Basic " + strings.Repeat("A", 100<<10), "Bearer " + strings.Repeat("\xff", 1000), "token \"", "token-sudo \"=\"",
	} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+"/.api/search/stream?q=x", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", header)
		resp, err := client.Do(r)
		if err != nil {
			t.Errorf("%.40q: %v", header, err)
			continue
		}
		if body := bodyOf(t, resp); resp.StatusCode != 401 || len(body) > 100 {
			t.Errorf("%.40q: %d %.200q", header, resp.StatusCode, body)
		}
	}
	resp := s.ask("GET", "/.api/search/stream?q=x", "", "Origin", "https://a.example\r\nSet-Cookie: a=b")
	if resp.Header.Get("Set-Cookie") != "" {
		t.Errorf("an origin set a cookie: %v", resp.Header)
	}
}
