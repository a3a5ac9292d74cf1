package oauth_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/oauth"
	"github.com/trawlsearch/trawl/store"
	kept "github.com/trawlsearch/trawl/store/oauth"
)

// RFC 6750, section 3: what a request without a good token is told.
func TestBearerErrors(t *testing.T) {
	w := newWorld(t)
	access, refresh := w.tokens()
	code := w.code(request(w.web))
	narrow, _ := w.pair(w.post(oauth.TokenPath, w.asWeb("grant_type", "refresh_token", "refresh_token", refresh, "scope", "offline_access")...))
	for _, c := range []struct {
		what, header string
		status       int
		challenge    string
	}{
		{"a good one", "Bearer " + access, 200, ""},
		{"in other letters", "bearer " + access, 200, ""},
		{"none", "", 401, "Bearer"},
		{"a good one in the scheme of access tokens", "token " + access, 200, ""},
		{"a refresh token in the scheme of access tokens", "token " + refresh, 401, ""},
		{"an unknown one", "Bearer x", 401, `Bearer error="invalid_token"`},
		{"none behind the scheme", "Bearer ", 401, `Bearer error="invalid_token"`},
		{"a refresh token", "Bearer " + refresh, 401, `Bearer error="invalid_token"`},
		{"a code", "Bearer " + code, 401, `Bearer error="invalid_token"`},
		{"a client secret", "Bearer " + w.webSecret, 401, `Bearer error="invalid_token"`},
		{"too little scope", "Bearer " + narrow, 403, `Bearer error="insufficient_scope", scope="user:all"`},
	} {
		headers := []string{}
		if c.header != "" {
			headers = []string{"Authorization", c.header}
		}
		got := w.ask("GET", whoPath, "", headers...)
		if got.status != c.status || got.header.Get("Www-Authenticate") != c.challenge {
			t.Errorf("%s: %d with %q, want %d with %q", c.what, got.status, got.header.Get("Www-Authenticate"), c.status, c.challenge)
		}
	}
	// section 2.2 and 2.3: a token in a form or a URL is none
	if got := w.ask("GET", whoPath+"?access_token="+access, ""); got.status != 401 {
		t.Errorf("a token in the URL: %d", got.status)
	}
}

func TestUserInfo(t *testing.T) {
	w := newWorld(t)
	ask := func(scope string) answer {
		got := w.post(oauth.TokenPath, w.asWeb("grant_type", "authorization_code", "code", w.code(request(w.web, "scope", scope)), "redirect_uri", callback, "code_verifier", verifier)...)
		access, _ := w.pair(got)
		return w.ask("GET", oauth.UserInfoPath, "", "Authorization", "Bearer "+access)
	}
	yes := true
	for scope, want := range map[string]map[string]any{
		"openid":          {"sub": "1"},
		"openid profile":  {"sub": "1", "name": "Ann", "preferred_username": "ann"},
		"openid email":    {"sub": "1", "email": "ann@example.org", "email_verified": yes},
		"openid user:all": {"sub": "1"},
	} {
		got := ask(scope)
		if out := got.json(t); got.status != 200 || !reflect.DeepEqual(out, want) || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %s, want %v", scope, got.status, got.text, want)
		}
	}
	if got := ask("user:all"); got.status != 403 || !strings.Contains(got.header.Get("Www-Authenticate"), "insufficient_scope") {
		t.Errorf("without openid: %d %v", got.status, got.header)
	}
	if got := w.ask("GET", oauth.UserInfoPath, ""); got.status != 401 || got.header.Get("Www-Authenticate") != "Bearer" {
		t.Errorf("without a token: %d %v", got.status, got.header)
	}
	if got := w.as("ann").get(oauth.UserInfoPath); got.status != 401 {
		t.Errorf("with a session: %d", got.status)
	}
}

// RFC 8414, section 2 and 3, at both paths; what is named there is there.
func TestMetadata(t *testing.T) {
	w := newWorld(t)
	openID, plain := w.ask("GET", oauth.OpenIDPath, ""), w.ask("GET", oauth.AuthorizationPath, "")
	if openID.status != 200 || openID.text != plain.text || !strings.HasPrefix(openID.header.Get("Content-Type"), "application/json") {
		t.Errorf("%d %s\n%d %s", openID.status, openID.text, plain.status, plain.text)
	}
	out := openID.json(t)
	if out["issuer"] != base {
		t.Errorf("issuer %v", out["issuer"])
	}
	for name, value := range out {
		path, ok := strings.CutPrefix(text(value), base)
		if !strings.HasSuffix(name, "_endpoint") {
			continue
		}
		if got := w.ask("POST", path, "", "Content-Type", formType); !ok || got.status == 404 || got.status == 405 || strings.Contains(got.text, "Private mode") {
			t.Errorf("%s is %v, which answers %d %s", name, value, got.status, got.text)
		}
	}
	for name, want := range map[string][]string{
		"response_types_supported":         {"code"},
		"code_challenge_methods_supported": {"S256"},
		"grant_types_supported":            {"authorization_code", "refresh_token", deviceType, "client_credentials"},
		"scopes_supported":                 {"openid", "profile", "email", "offline_access", "user:all", "mcp"},
	} {
		var got []string
		for _, v := range out[name].([]any) {
			got = append(got, text(v))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// A server below a path names its endpoints with it, and leads there.
func TestBelowAPath(t *testing.T) {
	w := newWorld(t)
	const outside = "https://search.example/code"
	site := &httpapi.Server{Gate: w.Gate, ExternalURL: outside}
	apps := &oauth.Server{Book: func() *kept.Book { return w.book }, Site: site, Now: w.clock.Now}
	site.Extra = apps.Routes()
	b := w.as("ann")
	w.handler = site.Handler()
	out := w.ask("GET", oauth.OpenIDPath, "").json(t)
	if out["issuer"] != outside || out["token_endpoint"] != outside+oauth.TokenPath || out["device_authorization_endpoint"] != outside+oauth.DeviceCodePath {
		t.Errorf("metadata %v", out)
	}
	if got := w.ask("GET", oauth.DevicePath, "").header.Get("Location"); got != "/code/sign-in?returnTo=%2Fcode%2Fdevice" {
		t.Errorf("signed out: led to %q", got)
	}
	if page := b.get(request(w.web)); !strings.Contains(page.text, `action="/code`+oauth.AuthorizePath+`"`) {
		t.Errorf("the form of the page for consent leads elsewhere: %s", page.text)
	}
	got := w.post(oauth.DeviceCodePath, "client_id", kept.CommandLine, "scope", "user:all").json(t)
	if link := text(got["verification_uri_complete"]); !strings.HasPrefix(link, outside+"/device?user_code=") {
		t.Errorf("link %q", link)
	}
	if u := b.allow(request(w.web)); u.Query().Get("iss") != outside {
		t.Errorf("led to %s", u)
	}
}

// What goes wrong on our side is logged and not told.
func TestInternalErrors(t *testing.T) {
	w := newWorld(t)
	access, _ := w.tokens()
	code := w.code(request(w.web))
	var c store.Records
	for kind, token := range map[kept.Kind]string{kept.CodeText: code, kept.AccessText: access} {
		k, ok := kept.ParseText(kind, token)
		if !ok {
			t.Fatalf("%q is none", token)
		}
		c.Put(store.RecordGrant, k.Grant[:], []byte("nonsense"))
	}
	w.Must(w.Store.CommitRecords(&c))
	got := w.post(oauth.TokenPath, w.asWeb("grant_type", "authorization_code", "code", code, "redirect_uri", callback, "code_verifier", verifier)...)
	if got.status != 500 || got.text != "{\"error\":\"server_error\"}\n" {
		t.Errorf("a code of a broken grant: %d %s", got.status, got.text)
	}
	if got := w.ask("GET", whoPath, "", "Authorization", "Bearer "+access); got.status != 500 || got.text != "internal error\n" {
		t.Errorf("a token of a broken grant: %d %s", got.status, got.text)
	}
	if n := strings.Count(w.log.String(), "corrupt"); n != 2 {
		t.Errorf("the log tells %d times what is wrong, want 2:\n%s", n, w.log.String())
	}
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
