package oauth_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/oauth"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/store/identity"
	kept "github.com/trawlsearch/trawl/store/oauth"
)

// RFC 9700, section 4.1: redirect URIs as attackers change them. None of them
// gets anything, not even an error.
func TestRedirectAttacks(t *testing.T) {
	w := newWorld(t)
	b := w.as("ann")
	for _, uri := range []string{
		"https://app.example/cb", "https://app.example/cb?keep=1&more", "https://app.example/cb?keep=1#", "https://app.example:443/cb?keep=1",
		"https://app.example.evil.example/cb?keep=1", "https://evil.example/?https://app.example/cb?keep=1", "https://app.example@evil.example/cb?keep=1",
		"https://evil.example\\@app.example/cb?keep=1", "//evil.example/cb", "javascript:alert(1)", "data:text/html,x", "https://app.example/%63b?keep=1",
		"https://app.example/x/../cb?keep=1", "https://APP.example/cb?keep=1", "http://app.example/cb?keep=1", callback + "\r\nSet-Cookie: sgs=x", callback + "\x00",
	} {
		got := b.get(request(w.web, "redirect_uri", uri))
		if got.status != 400 || got.header.Get("Location") != "" {
			t.Errorf("%q: %d to %q", uri, got.status, got.header.Get("Location"))
		}
	}
	// RFC 8252, section 7.3: any port of this machine, and nothing but the port
	for uri, want := range map[string]int{
		"http://127.0.0.1:49152/cb": 200, "http://127.0.0.1/cb": 200, "org.example.app:/done": 200,
		"http://127.0.0.1:49152/cb2": 400, "http://localhost:49152/cb": 400, "http://[::1]:49152/cb": 400, "http://127.0.0.1:49152@evil.example/cb": 400,
		"https://127.0.0.1:49152/cb": 400, "org.example.app:/done/": 400, "org.example.evil:/done": 400,
	} {
		if got := b.get(request(w.native, "redirect_uri", uri)); got.status != want {
			t.Errorf("%q: %d, want %d", uri, got.status, want)
		}
	}
	if u := b.allow(request(w.native, "redirect_uri", "http://127.0.0.1:49152/cb")); u.Host != "127.0.0.1:49152" {
		t.Errorf("led to %s", u)
	}
	if u := b.allow(request(w.native, "redirect_uri", "org.example.app:/done")); u.Scheme != "org.example.app" || u.Path != "/done" || u.Query().Get("code") == "" {
		t.Errorf("led to %s", u)
	}
}

// What the app's request says comes back encoded, in headers as in pages, and
// replaces nothing of ours.
func TestInjection(t *testing.T) {
	w := newWorld(t)
	b := w.as("ann")
	for _, state := range []string{"a\r\nSet-Cookie: sgs=evil", "x&code=evil&iss=evil", "#x", "\"><script>alert(1)</script>", "é\x00\x7f"} {
		page := b.get(request(w.web, "state", state))
		if strings.Contains(page.text, "<script>alert") || strings.Contains(page.text, "\x00") {
			t.Errorf("state %q stands in the page as it is:\n%s", state, page.text)
		}
		u := b.allow(request(w.web, "state", state))
		q := u.Query()
		if q.Get("state") != state || len(q["code"]) != 1 || !strings.HasPrefix(q.Get("code"), "sgo_ac_") || q.Get("iss") != base || u.Fragment != "" {
			t.Errorf("state %q: led to %s", state, u)
		}
		got := b.get(request(w.web, "state", state, "scope", "x\" \r\nX-Evil: 1 \\ <b>"))
		if strings.ContainsAny(got.header.Get("Location"), "\r\n<\"\\ ") || got.header.Get("X-Evil") != "" || got.location(t).Query().Get("state") != state {
			t.Errorf("state %q: error to %q", state, got.header.Get("Location"))
		}
	}
	w.refused("a scope with quotes", w.post(oauth.TokenPath, "grant_type", "client_credentials", "client_id", w.robot.ID, "client_secret", w.robotSecret, "scope", "a\"b\\c\x01é"), 400, "invalid_scope")
	w.refused("a user agent's nonsense", w.post(oauth.DeviceCodePath, "client_id", "<b>\"\\\r\n", "scope", "x"), 401, "invalid_client")
}

// Sections 4.7 and 4.16: neither page can be answered from elsewhere, for
// another user, for another request, or in a frame.
func TestForgedDecisions(t *testing.T) {
	w := newWorld(t)
	w.SignUp(identity.NewUser{Name: "eve"})
	ann, eve := w.as("ann"), w.as("eve")
	before := len(w.entries())
	refused := func(what string, got answer) {
		t.Helper()
		if got.status != 403 && got.status != 401 || got.header.Get("Location") != "" {
			t.Errorf("%s: %d to %q: %s", what, got.status, got.header.Get("Location"), got.text)
		}
	}
	d := w.begin()
	device := func(b *browser) url.Values {
		form := fields(b.get(oauth.DevicePath + "?user_code=" + d.user))
		form.Set("decision", "allow")
		return form
	}
	consent := func(b *browser, changes ...string) url.Values {
		form := fields(b.get(request(w.web, changes...)))
		form.Set("decision", "allow")
		return form
	}
	for _, page := range []struct {
		path string
		form func(b *browser) url.Values
	}{{oauth.DevicePath, device}, {oauth.AuthorizePath, func(b *browser) url.Values { return consent(b) }}} {
		good := page.form(ann)
		for what, headers := range map[string][]string{
			"another origin":          {"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"},
			"an opaque origin":        {"Origin", "null", "Sec-Fetch-Site", "cross-site"},
			"another host below ours": {"Origin", "http://evil.localhost", "Sec-Fetch-Site", "same-site"},
			"an old browser":          {"Origin", "https://evil.example", "Sec-Fetch-Site", ""},
			"no origin":               {"Origin", "", "Sec-Fetch-Site", "cross-site"},
		} {
			refused(page.path+" from "+what, ann.submit(page.path, good, headers...))
		}
		// a page of ours, but not this one
		for what, check := range map[string]string{"no check": "", "a made-up check": good.Get("check")[1:] + "A", "the check of eve's page": page.form(eve).Get("check")} {
			forged := url.Values{}
			for name := range good {
				forged.Set(name, good.Get(name))
			}
			forged.Set("check", check)
			refused(page.path+" with "+what, ann.submit(page.path, forged))
		}
		// without a session, or with less than one
		refused(page.path+" signed out", (&browser{w, ""}).submit(page.path, good))
		week := 7 * 24 * time.Hour
		token, _, err := w.Registry.CreateToken(identity.Author{UserID: w.ann.ID, User: "ann"}, identity.NewToken{User: w.ann.ID, Scopes: []string{identity.ScopeAll}, Lifetime: &week})
		w.Must(err)
		refused(page.path+" with a token", w.ask("POST", page.path, good.Encode(), "Content-Type", formType, "Authorization", "token "+token))
	}
	// the check of one request does not do for another
	form := consent(ann)
	form.Set("request", consent(ann, "scope", "user:all offline_access email").Get("request"))
	refused("more scope than was shown", ann.submit(oauth.AuthorizePath, form))
	form = consent(ann)
	form.Set("request", strings.Replace(form.Get("request"), challenge, s256("evil"), 1))
	refused("another challenge", ann.submit(oauth.AuthorizePath, form))
	form = consent(ann)
	form.Add("request", form.Get("request"))
	if got := ann.submit(oauth.AuthorizePath, form); got.status != 400 {
		t.Errorf("a request twice: %d", got.status)
	}
	// a link does nothing
	for _, target := range []string{oauth.AuthorizePath + "?" + consent(ann).Encode(), oauth.DevicePath + "?" + device(ann).Encode()} {
		ann.get(target)
	}
	w.refused("the device", w.poll(d), 400, "authorization_pending")
	for _, e := range w.entries()[:len(w.entries())-before] {
		if e.Action == kept.ActionGrant {
			t.Errorf("something was granted: %+v", e)
		}
	}
	// the signature lives as long as the session, whatever process made it
	form = consent(ann)
	w.crash()
	ann.world = w
	if code := ann.submit(oauth.AuthorizePath, form).location(t).Query().Get("code"); code == "" {
		t.Error("a page from before a restart gets no code")
	}
	refused("in a later session", w.as("ann").submit(oauth.AuthorizePath, form))
	w.Must(w.Registry.SignOut(identity.Operator, w.ann.ID))
	if got := ann.submit(oauth.AuthorizePath, form); strings.Contains(got.header.Get("Location"), "code=") {
		t.Errorf("after signing out: %d to %s", got.status, got.header.Get("Location"))
	}
}

// Section 4.16: no page that decides can be put in a frame, and nothing runs
// there; the form leads to the app and nowhere else.
func TestPagePolicy(t *testing.T) {
	w := newWorld(t)
	b := w.as("ann")
	d := w.begin()
	for target, action := range map[string]string{
		request(w.web): "form-action 'self' https://app.example;",
		request(w.native, "redirect_uri", "http://127.0.0.1:5000/cb"): "form-action 'self' http://127.0.0.1:5000;",
		request(w.native, "redirect_uri", "org.example.app:/done"):    "form-action 'self' org.example.app:;",
		oauth.DevicePath: "form-action 'self';",
		oauth.DevicePath + "?user_code=" + d.user: "form-action 'self';",
	} {
		got := b.get(target)
		if strings.Contains(target, "127.0.0.1") && !strings.Contains(got.text, "on your own machine") {
			t.Errorf("%s: the page does not say where the app is: %s", target, got.text)
		}
		policy := got.header.Get("Content-Security-Policy")
		for _, want := range []string{action, "default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(policy+";", want) {
				t.Errorf("%s: policy %q lacks %q", target, policy, want)
			}
		}
		if strings.Contains(policy, "unsafe") || got.header.Get("X-Frame-Options") != "DENY" || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: headers %v", target, got.header)
		}
	}
	// a frame of another site shows no signed-in user
	got := b.ask("GET", request(w.web), "", "Cookie", auth.CookieName+"="+b.cookie, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe")
	if got.status != 302 || !strings.HasPrefix(got.header.Get("Location"), "/sign-in?") {
		t.Errorf("in a frame: %d to %q", got.status, got.header.Get("Location"))
	}
}

// Section 4.12: what the user posted stays here.
func TestRedirectStatus(t *testing.T) {
	w := newWorld(t)
	b := w.as("ann")
	form := fields(b.get(request(w.web)))
	form.Set("decision", "allow")
	if got := b.submit(oauth.AuthorizePath, form); got.status != http.StatusSeeOther {
		t.Errorf("status %d, want 303", got.status)
	}
	// who is not signed in comes back to the same request
	target := request(w.web)
	if got := w.ask("GET", target, ""); got.status != 302 || got.header.Get("Location") != "/sign-in?returnTo="+url.QueryEscape(target) {
		t.Errorf("signed out: %d to %q", got.status, got.header.Get("Location"))
	}
}

// Section 4.14.2: a refresh token that is used twice ends all tokens of its
// grant, whichever use came first.
func TestRefreshReuse(t *testing.T) {
	w := newWorld(t)
	_, stolen := w.tokens()
	ask := func(refresh string) answer {
		return w.post(oauth.TokenPath, w.asWeb("grant_type", "refresh_token", "refresh_token", refresh)...)
	}
	_, refresh := w.pair(ask(stolen))
	access, refresh := w.pair(ask(refresh))
	w.crash()
	w.refused("the stolen one", ask(stolen), 400, "invalid_grant")
	if w.who(access) != "" {
		t.Error("the access token is still good")
	}
	w.refused("the newest one", ask(refresh), 400, "invalid_grant")
	w.logged(kept.ActionGrantRevoke, "app:"+w.web.ID, "")
	w.crash()
	if w.who(access) != "" {
		t.Error("the access token is good again after a crash")
	}
	// that of another app for the same user is not touched by a theft at this one
	access, refresh = w.tokens()
	w.refused("a token at another app", w.post(oauth.TokenPath, "grant_type", "refresh_token", "refresh_token", refresh, "client_id", w.native.ID), 400, "invalid_grant")
	if w.who(access) != "ann" {
		t.Error("a token shown by another app ended the grant")
	}
}

var secretForm = regexp.MustCompile(`sgo_(ac|at|rt|dc|cs)_[A-Za-z0-9_-]+`)

// No secret gets into the log, the audit log, an error, or a page; of what is
// in URLs there is only the code, which RFC 6749 puts there.
func TestNoSecretLeaks(t *testing.T) {
	w := newWorld(t)
	access, refresh := w.tokens()
	d := w.begin()
	b := w.as("ann")
	b.decide(d, "allow")
	w.pair(w.poll(d))
	next, _ := w.pair(w.post(oauth.TokenPath, w.asWeb("grant_type", "refresh_token", "refresh_token", refresh)...))
	answers := []answer{
		w.post(oauth.TokenPath, w.asWeb("grant_type", "refresh_token", "refresh_token", refresh)...),
		w.post(oauth.TokenPath, w.asWeb("grant_type", refresh, "refresh_token", refresh)...),
		w.post(oauth.TokenPath, "grant_type", "client_credentials", "client_id", w.webSecret, "client_secret", access),
		w.post(oauth.TokenPath, "grant_type", "client_credentials", "client_id", w.robot.ID, "client_secret", w.robotSecret, "scope", refresh),
		w.post(oauth.DeviceCodePath, "client_id", w.webSecret, "scope", access),
		w.post(oauth.RevokePath, w.asWeb("token", next)...),
		w.post(oauth.IntrospectPath, w.asWeb("token", next)...),
		w.ask("GET", whoPath+"?access_token="+access+"&token="+access, "", "Authorization", "Bearer "+access+"x"),
		w.ask("GET", oauth.AuthorizePath+"?client_id="+w.webSecret, "", "Cookie", auth.CookieName+"="+b.cookie),
		b.get(oauth.DevicePath + "?user_code=" + access),
		b.get(request(w.web)),
	}
	for i, got := range answers {
		for _, s := range append(got.header.Values("Location"), got.text) {
			if found := secretForm.FindString(s); found != "" {
				t.Errorf("answer %d holds %s: %d %s", i, found, got.status, s)
			}
		}
	}
	log := w.log.String()
	if !strings.Contains(log, oauth.TokenPath) {
		t.Fatalf("the log does not tell of the requests:\n%s", log)
	}
	for _, e := range w.entries() {
		log += e.Detail + e.Target + e.Via + "\n"
	}
	for _, line := range strings.Split(log, "\n") {
		if found := secretForm.FindString(line); found != "" || strings.Contains(line, d.user) || strings.Contains(line, verifier) || strings.Contains(line, worldtest.Password) {
			t.Errorf("a log holds %q: %s", found, line)
		}
	}
}
