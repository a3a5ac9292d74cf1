package oauth_test

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/oauth"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/store/identity"
	kept "github.com/trawlsearch/trawl/store/oauth"
)

// Section 4.1: the whole flow, and what every answer of it must have.
func TestAuthorizationCode(t *testing.T) {
	w := newWorld(t)
	b := w.as("ann")
	page := b.get(request(w.web))
	for _, want := range []string{"Web &lt;app&gt;", "at app.example", "<strong>ann</strong>", "search and change all that you may", "stay signed in"} {
		if !strings.Contains(page.text, want) {
			t.Errorf("the page for consent lacks %q:\n%s", want, page.text)
		}
	}
	u := b.allow(request(w.web))
	q := u.Query()
	if got := u.Scheme + "://" + u.Host + u.Path; got != "https://app.example/cb" || q.Get("keep") != "1" || q.Get("state") != "st" || q.Get("iss") != base {
		t.Errorf("led to %s", u)
	}
	w.logged(kept.ActionGrant, "app:"+w.web.ID, "ann")
	got := w.post(oauth.TokenPath, w.asWeb("grant_type", "authorization_code", "code", q.Get("code"), "redirect_uri", callback, "code_verifier", verifier)...)
	out := got.json(t)
	if got.status != 200 || out["token_type"] != "Bearer" || out["expires_in"] != 3600.0 || out["scope"] != "user:all offline_access" {
		t.Errorf("tokens: %d %s", got.status, got.text)
	}
	// section 5.1
	if h := got.header; h.Get("Cache-Control") != "no-store" || h.Get("Pragma") != "no-cache" || h.Get("Content-Type") != "application/json;charset=UTF-8" {
		t.Errorf("headers of the tokens: %v", h)
	}
	access, refresh := w.pair(got)
	if !strings.HasPrefix(access, "sgo_at_") || !strings.HasPrefix(refresh, "sgo_rt_") || w.who(access) != "ann" {
		t.Errorf("access token %q is for %q; refresh token %q", access, w.who(access), refresh)
	}
}

// Section 3.1.2.4 and 4.1.2.1: without a known app and one of its own redirect
// URIs the user is not redirected, but shown an error.
func TestNoRedirectForStrangers(t *testing.T) {
	w := newWorld(t)
	b := w.as("ann")
	w.Must(w.book.Apps.SetDisabled(identity.Operator, w.native.ID, true))
	for what, target := range map[string]string{
		"no client":             request(w.web, "client_id", "-"),
		"an unknown client":     request(w.web, "client_id", "sgo_cid_none"),
		"a client switched off": request(w.native),
		"another URI":           request(w.web, "redirect_uri", "https://evil.example/"),
		"a URI twice":           request(w.web) + "&redirect_uri=https%3A%2F%2Fevil.example",
		"a client twice":        request(w.web) + "&client_id=" + w.native.ID,
		"a broken query":        request(w.web) + "&x=%zz",
		"too long":              request(w.web, "state", strings.Repeat("x", 9000)),
		"a service account's":   request(&kept.App{ID: w.robot.ID, Redirects: []string{"https://evil.example/"}}),
		"an app without URIs":   request(&kept.App{ID: kept.CommandLine, Redirects: []string{"https://evil.example/"}}),
	} {
		got := b.get(target)
		if got.status != 400 || got.header.Get("Location") != "" || strings.Contains(got.text, "evil") {
			t.Errorf("%s: %d to %q: %s", what, got.status, got.header.Get("Location"), got.text)
		}
	}
}

// Section 4.1.2.1: what else is wrong the app is told, with its state.
func TestAuthorizeErrors(t *testing.T) {
	w := newWorld(t)
	b := w.as("ann")
	for _, c := range []struct{ what, target, code string }{
		{"no response type", request(w.web, "response_type", "-"), "unsupported_response_type"},
		{"the implicit grant", request(w.web, "response_type", "token"), "unsupported_response_type"},
		{"a hybrid one", request(w.web, "response_type", "code id_token"), "unsupported_response_type"},
		{"an unknown scope", request(w.web, "scope", "user:all site-admin:sudo"), "invalid_scope"},
		{"a scope the app has not", request(w.native, "scope", "email"), "invalid_scope"},
		{"an answer in the fragment", request(w.web, "response_mode", "fragment"), "unsupported_response_mode"},
		{"an answer by form", request(w.web, "response_mode", "form_post"), "unsupported_response_mode"},
		{"a request object", request(w.web, "request", "x", "scope", "openid"), "request_not_supported"},
		{"a request elsewhere", request(w.web, "request_uri", "https://evil.example/"), "request_uri_not_supported"},
		{"neither state nor challenge", request(w.web, "state", "-", "code_challenge", "-", "code_challenge_method", "-"), "invalid_state"},
		{"no page", request(w.web, "prompt", "none"), "interaction_required"},
	} {
		u := b.get(c.target).location(t)
		q := u.Query()
		if u.Host != "app.example" && u.Host != "127.0.0.1" || q.Get("error") != c.code || c.code != "invalid_state" && q.Get("state") != "st" || q.Get("iss") != base || q.Has("code") {
			t.Errorf("%s: led to %s, want %s", c.what, u, c.code)
		}
	}
	// the user says no
	form := fields(b.get(request(w.web)))
	for _, decision := range []string{"deny", "", "Allow"} {
		form.Set("decision", decision)
		if q := b.submit(oauth.AuthorizePath, form).location(t).Query(); q.Get("error") != "access_denied" || q.Get("state") != "st" {
			t.Errorf("decision %q: %v", decision, q)
		}
	}
}

// Section 3.1.2.3 and 4.1.3: a redirect URI may be left out where there is one
// only; one that was given has to be given again.
func TestRedirectOfToken(t *testing.T) {
	w := newWorld(t)
	ask := func(target string, values ...string) answer {
		return w.post(oauth.TokenPath, w.asWeb(append(values, "grant_type", "authorization_code", "code", w.code(target), "code_verifier", verifier)...)...)
	}
	w.pair(ask(request(w.web, "redirect_uri", "-")))
	w.refused("left out", ask(request(w.web)), 400, "invalid_grant")
	w.refused("another", ask(request(w.web), "redirect_uri", callback+"2"), 400, "invalid_grant")
	b := w.as("ann")
	if got := b.get(request(w.native, "redirect_uri", "-")); got.status != 400 {
		t.Errorf("left out with two of them: %d", got.status)
	}
}

// Section 3.3: who names no scope gets all but the one to stay signed in.
func TestDefaultScope(t *testing.T) {
	w := newWorld(t)
	got := w.post(oauth.TokenPath, w.asWeb("grant_type", "authorization_code", "code", w.code(request(w.web, "scope", "-")), "redirect_uri", callback, "code_verifier", verifier)...)
	if out := got.json(t); out["scope"] != "openid profile email user:all mcp" || out["refresh_token"] != nil {
		t.Errorf("got %s", got.text)
	}
}

// Section 2.3 and 5.2: how an app shows who it is.
func TestClientAuthentication(t *testing.T) {
	w := newWorld(t)
	_, refresh := w.tokens()
	basic := func(id, secret string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(id)+":"+url.QueryEscape(secret)))
	}
	ask := func(header string, values ...string) answer {
		form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}}
		for i := 0; i < len(values); i += 2 {
			form.Add(values[i], values[i+1])
		}
		headers := []string{"Content-Type", formType}
		if header != "" {
			headers = append(headers, "Authorization", header)
		}
		return w.ask("POST", oauth.TokenPath, form.Encode(), headers...)
	}
	for _, c := range []struct {
		what, header string
		values       []string
		status       int
		code         string
	}{
		{"no client", "", nil, 400, "invalid_request"},
		{"no secret", "", []string{"client_id", w.web.ID}, 401, "invalid_client"},
		{"a wrong secret", "", []string{"client_id", w.web.ID, "client_secret", w.webSecret + "x"}, 401, "invalid_client"},
		{"an empty secret", "", []string{"client_id", w.web.ID, "client_secret", ""}, 401, "invalid_client"},
		{"the secret of another", "", []string{"client_id", w.web.ID, "client_secret", w.robotSecret}, 401, "invalid_client"},
		{"an unknown client", "", []string{"client_id", "sgo_cid_none", "client_secret", w.webSecret}, 401, "invalid_client"},
		{"a wrong secret in the header", basic(w.web.ID, "x"), nil, 401, "invalid_client"},
		{"two ways at once", basic(w.web.ID, w.webSecret), []string{"client_secret", w.webSecret}, 400, "invalid_request"},
		{"two clients", basic(w.web.ID, w.webSecret), []string{"client_id", w.native.ID}, 400, "invalid_request"},
		{"a parameter twice", basic(w.web.ID, w.webSecret), []string{"scope", "user:all", "scope", "openid"}, 400, "invalid_request"},
		{"a signed assertion", "", []string{"client_id", w.web.ID, "client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer", "client_assertion", "x"}, 400, "invalid_request"},
		// section 5.2: a token of another client
		{"another client", "", []string{"client_id", w.native.ID}, 400, "invalid_grant"},
	} {
		got := ask(c.header, c.values...)
		if c.what == "a signed assertion" && got.status == 401 {
			continue // either is right
		}
		w.refused(c.what, got, c.status, c.code)
	}
	// nothing of that has used the token up
	_, refresh = w.pair(ask(basic(w.web.ID, w.webSecret)))
	w.pair(ask("", "client_id", w.web.ID, "client_secret", w.webSecret))
	// section 2.3.1: a secret in the URL is none
	got := w.ask("POST", oauth.TokenPath+"?client_id="+w.web.ID+"&client_secret="+w.webSecret, "grant_type=client_credentials", "Content-Type", formType)
	w.refused("a secret in the URL", got, 400, "invalid_request")
}

// Section 3.2: what the token endpoint takes.
func TestTokenRequests(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		what   string
		values []string
		code   string
	}{
		{"nothing", nil, "invalid_request"},
		{"no grant type", w.asWeb(), "invalid_request"},
		{"an unknown grant type", w.asWeb("grant_type", "magic"), "unsupported_grant_type"},
		{"the password of a user", w.asWeb("grant_type", "password", "username", "ann", "password", worldtest.Password), "unsupported_grant_type"},
		{"two grant types", w.asWeb("grant_type", "authorization_code refresh_token"), "unsupported_grant_type"},
		{"no code", w.asWeb("grant_type", "authorization_code"), "invalid_grant"},
		{"a code that is none", w.asWeb("grant_type", "authorization_code", "code", "x"), "invalid_grant"},
		{"no refresh token", w.asWeb("grant_type", "refresh_token"), "invalid_grant"},
		{"a refresh token that is none", w.asWeb("grant_type", "refresh_token", "refresh_token", "x"), "invalid_grant"},
		{"a service's grant for another", w.asWeb("grant_type", "client_credentials"), "unauthorized_client"},
		{"a device code for a confidential app", w.asWeb("grant_type", "urn:ietf:params:oauth:grant-type:device_code", "device_code", "x"), "unauthorized_client"},
		{"a code for a service", []string{"grant_type", "authorization_code", "code", "x", "client_id", w.robot.ID, "client_secret", w.robotSecret}, "unauthorized_client"},
	} {
		w.refused(c.what, w.post(oauth.TokenPath, c.values...), 400, c.code)
	}
	if got := w.ask("GET", oauth.TokenPath, ""); got.status != 401 {
		t.Errorf("GET: %d, want 401", got.status)
	}
	for _, kind := range []string{"", "application/json", "multipart/form-data; boundary=x", "text/plain"} {
		w.refused("body of the type "+kind, w.ask("POST", oauth.TokenPath, "grant_type=password", "Content-Type", kind), 400, "invalid_request")
	}
	w.refused("too much", w.post(oauth.TokenPath, "grant_type", strings.Repeat("x", 20<<10)), 400, "invalid_request")
}

// Section 4.1.2 and 10.5: a code is good once, for its app, for a short time; a
// second use ends what came of the first.
func TestCodeIsGoodOnce(t *testing.T) {
	w := newWorld(t)
	code := w.code(request(w.web))
	redeem := func() answer {
		return w.post(oauth.TokenPath, w.asWeb("grant_type", "authorization_code", "code", code, "redirect_uri", callback, "code_verifier", verifier)...)
	}
	other := w.post(oauth.TokenPath, "grant_type", "authorization_code", "code", code, "redirect_uri", callback, "code_verifier", verifier, "client_id", w.native.ID)
	w.refused("by another app", other, 400, "invalid_grant")
	access, refresh := w.pair(redeem())
	if w.who(access) != "ann" {
		t.Fatal("the token is not good")
	}
	w.refused("a second time", redeem(), 400, "invalid_grant")
	if w.who(access) != "" {
		t.Error("the token of the first use is still good")
	}
	w.refused("the refresh token of the first use", w.post(oauth.TokenPath, w.asWeb("grant_type", "refresh_token", "refresh_token", refresh)...), 400, "invalid_grant")
	w.logged(kept.ActionGrantRevoke, "app:"+w.web.ID, "")

	code = w.code(request(w.web))
	w.clock.Add(kept.CodeLasts)
	w.refused("too late", redeem(), 400, "invalid_grant")
}

// Section 6: a refresh token gives new tokens, of the same or less scope.
func TestRefresh(t *testing.T) {
	w := newWorld(t)
	_, refresh := w.tokens()
	ask := func(values ...string) answer {
		return w.post(oauth.TokenPath, w.asWeb(append(values, "grant_type", "refresh_token", "refresh_token", refresh)...)...)
	}
	w.refused("more scope", ask("scope", "user:all openid"), 400, "invalid_scope")
	var access string
	got := ask("scope", "user:all")
	if out := got.json(t); out["scope"] != "user:all" || out["expires_in"] != 3600.0 {
		t.Errorf("less scope: %s", got.text)
	}
	access, refresh = w.pair(got)
	if w.who(access) != "ann" {
		t.Error("the narrowed token does not search")
	}
	got = ask("scope", "offline_access")
	access, refresh = w.pair(got)
	if w.who(access) != "" {
		t.Error("a token without user:all searches")
	}
	got = ask()
	if out := got.json(t); out["scope"] != "user:all offline_access" {
		t.Errorf("the scope of the grant is lost: %s", got.text)
	}
	// without offline_access there is none
	got = w.post(oauth.TokenPath, w.asWeb("grant_type", "authorization_code", "code", w.code(request(w.web, "scope", "user:all")), "redirect_uri", callback, "code_verifier", verifier)...)
	if _, refresh := w.pair(got); refresh != "" {
		t.Errorf("a refresh token that was not asked for: %s", got.text)
	}
}

// Section 4.4: a service account's app gets a token for that account, and no
// refresh token.
func TestClientCredentials(t *testing.T) {
	w := newWorld(t)
	ask := func(secret string, values ...string) answer {
		return w.post(oauth.TokenPath, append(values, "grant_type", "client_credentials", "client_id", w.robot.ID, "client_secret", secret)...)
	}
	got := ask(w.robotSecret)
	access, refresh := w.pair(got)
	if out := got.json(t); refresh != "" || out["scope"] != "user:all" || out["expires_in"] != 3600.0 || w.who(access) != "bot" {
		t.Errorf("got %s, for %q", got.text, w.who(access))
	}
	w.pair(ask(w.robotSecret, "scope", "user:all"))
	w.refused("a scope it has not", ask(w.robotSecret, "scope", "openid"), 400, "invalid_scope")
	w.refused("a wrong secret", ask(w.webSecret), 401, "invalid_client")
	// two tokens live beside each other
	second, _ := w.pair(ask(w.robotSecret))
	if w.who(access) != "bot" || w.who(second) != "bot" {
		t.Error("a second token ended the first")
	}
	w.clock.Add(kept.AccessLasts)
	if w.who(access) != "" {
		t.Error("the token does not expire")
	}
	yes := true
	if _, err := w.Registry.ChangeUser(identity.Operator, w.bot.ID, identity.UserChange{Locked: &yes}); err != nil {
		t.Fatal(err)
	}
	w.refused("for a locked account", ask(w.robotSecret), 400, "invalid_grant")
}
