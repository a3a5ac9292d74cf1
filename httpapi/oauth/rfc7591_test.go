package oauth_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/oauth"
	kept "github.com/trawlsearch/trawl/store/oauth"
)

const editorRedirect = "http://127.0.0.1:33418/cb"

// register registers an app with these members beside its redirect URI.
func (w *world) register(members map[string]any) answer {
	w.Helper()
	all := map[string]any{"redirect_uris": []string{editorRedirect}, "client_name": "Editor", "token_endpoint_auth_method": "none"}
	for name, v := range members {
		all[name] = v
	}
	text, err := json.Marshal(all)
	w.Must(err)
	w.clock.Add(time.Minute) // between addresses that register much
	return w.ask("POST", oauth.RegisterPath, string(text), "Content-Type", "application/json")
}

// editor registers a public app.
func (w *world) editor() *kept.App {
	w.Helper()
	got := w.register(nil)
	if got.status != 201 {
		w.Fatalf("registration: %d %s", got.status, got.text)
	}
	id, _ := got.json(w)["client_id"].(string)
	a, err := w.book.Apps.Get(id)
	w.Must(err)
	return a
}

// Section 3.2.1: what the client is told of itself.
func TestRegistration(t *testing.T) {
	w := newWorld(t)
	got := w.register(map[string]any{"scope": "user:all mcp", "logo_uri": "https://evil.example/logo.png", "grant_types": []string{"authorization_code"}})
	out := got.json(t)
	id, _ := out["client_id"].(string)
	if got.status != 201 || !strings.HasPrefix(id, "sgo_cid_dcr_") || out["scope"] != "mcp offline_access" || out["client_secret"] != nil || out["client_name"] != "Editor" || out["logo_uri"] != nil {
		t.Errorf("got %d %s", got.status, got.text)
	}
	if got.header.Get("Cache-Control") != "no-store" || got.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("headers %v", got.header)
	}
	w.logged(kept.ActionAppRegister, "app:"+id, "")
	got = w.register(map[string]any{"token_endpoint_auth_method": "client_secret_post"})
	if out := got.json(t); got.status != 201 || out["client_secret"] == nil || out["client_secret_expires_at"] != 0.0 {
		t.Errorf("with a secret: %d %s", got.status, got.text)
	}
	// section 3.2.2
	for _, c := range []struct {
		what    string
		members map[string]any
		want    string
	}{
		{"an address in clear", map[string]any{"redirect_uris": []string{"http://evil.example/cb"}}, "invalid_redirect_uri"},
		{"a script", map[string]any{"redirect_uris": []string{"javascript:alert(1)//x.y"}}, "invalid_redirect_uri"},
		{"no address", map[string]any{"redirect_uris": []string{}}, "invalid_redirect_uri"},
		{"no list", map[string]any{"redirect_uris": "https://x.example"}, "invalid_client_metadata"},
		{"a signed assertion", map[string]any{"token_endpoint_auth_method": "private_key_jwt"}, "invalid_client_metadata"},
		{"the implicit grant", map[string]any{"grant_types": []string{"implicit"}}, "invalid_client_metadata"},
		{"tokens in the redirect", map[string]any{"response_types": []string{"token"}}, "invalid_client_metadata"},
		{"a name that cannot be seen", map[string]any{"client_name": "a\u202eb"}, "invalid_client_metadata"},
		{"a long name", map[string]any{"client_name": strings.Repeat("x", 20<<10)}, "invalid_client_metadata"},
	} {
		w.refused(c.what, w.register(c.members), 400, c.want)
	}
	w.refused("no JSON", w.ask("POST", oauth.RegisterPath, "{"), 400, "invalid_client_metadata")
	w.clock.Add(time.Minute)
	w.closed = true
	if got := w.register(nil); got.status != 404 || got.text != "no route\n" {
		t.Errorf("switched off: %d %s", got.status, got.text)
	}
	if _, named := w.ask("GET", oauth.AuthorizationPath, "").json(t)["registration_endpoint"]; named {
		t.Error("switched off, but the metadata names the endpoint")
	}
}

func TestRegistrationIsRateLimited(t *testing.T) {
	w := newWorld(t)
	body := `{"redirect_uris":["` + editorRedirect + `"]}`
	last := answer{}
	for range 10 {
		if last = w.ask("POST", oauth.RegisterPath, body); last.status != 201 {
			break
		}
	}
	if last.status != 429 || last.header.Get("Retry-After") == "" {
		t.Errorf("got %d %s", last.status, last.text)
	}
	for range 30 {
		w.clock.Add(time.Minute)
		last = w.ask("POST", oauth.RegisterPath, body)
	}
	w.refused("twenty that nobody used", last, 503, "temporarily_unavailable")
}

// A registered app gets tokens for agents only, and says on the page that nobody knows it.
func TestRegisteredAppIsForAgents(t *testing.T) {
	w := newWorld(t)
	app := w.editor()
	ann := w.as("ann")
	target := request(app, "scope", "mcp", "resource", base+agentPath)
	if page := ann.get(target); page.status != 200 || !strings.Contains(page.text, "nobody here knows it") || !strings.Contains(page.text, "stay signed in") {
		t.Errorf("the page: %d %s", page.status, page.text)
	}
	code := w.code(target)
	redeem := func(changes ...string) answer {
		return w.post(oauth.TokenPath, append([]string{
			"grant_type", "authorization_code", "client_id", app.ID, "code", code, "redirect_uri", editorRedirect, "code_verifier", verifier,
		}, changes...)...)
	}
	w.refused("a resource of another", redeem("resource", "https://evil.example/.api/mcp"), 400, "invalid_target")
	access, refresh := w.pair(redeem("resource", base+agentPath))
	w.isForAgents("registered", access)
	got := w.post(oauth.TokenPath, "grant_type", "refresh_token", "client_id", app.ID, "refresh_token", refresh, "resource", base+agentPath)
	if out := got.json(t); out["scope"] != "mcp offline_access" {
		t.Errorf("refreshed: %s", got.text)
	}
	access, _ = w.pair(got)
	w.isForAgents("refreshed", access)
	for what, changes := range map[string][]string{
		"all scopes": {"scope", "user:all"}, "no challenge": {"code_challenge", "-", "code_challenge_method", "-"},
		"a plain challenge": {"code_challenge_method", "plain"}, "a resource of another": {"resource", base + "/.api/graphql"},
	} {
		if u := ann.get(request(app, append([]string{"scope", "mcp"}, changes...)...)).location(t); u.Query().Get("error") == "" || u.Query().Get("code") != "" {
			t.Errorf("%s: led to %s", what, u)
		}
	}
	if got := w.post(oauth.DeviceCodePath, "client_id", app.ID, "scope", "mcp"); got.status != 400 {
		t.Errorf("a device code: %d %s", got.status, got.text)
	}
}

// isForAgents checks that a token is good where agents ask and nowhere else.
func (w *world) isForAgents(what, token string) {
	w.Helper()
	for _, scheme := range []string{"Bearer ", "token "} {
		if got := w.ask("GET", agentPath, "", "Authorization", scheme+token); got.status != 200 || got.text != "ann" {
			w.Errorf("%s, %s: agents get %d %s", what, scheme, got.status, got.text)
		}
		if got := w.ask("GET", whoPath, "", "Authorization", scheme+token); got.status != 403 {
			w.Errorf("%s, %s: others get %d %s", what, scheme, got.status, got.text)
		}
	}
}

// RFC 8707: an app that may do all gets a token for agents when it asks for one.
func TestResourceIndicators(t *testing.T) {
	w := newWorld(t)
	for what, at := range map[string]struct{ authorize, token string }{
		"in both": {base + agentPath, base + agentPath}, "of the page": {base + agentPath + "/", ""}, "of the token": {"", base + agentPath},
	} {
		target := request(w.web)
		if at.authorize != "" {
			target += "&resource=" + url.QueryEscape(at.authorize)
		}
		values := w.asWeb("grant_type", "authorization_code", "code", w.code(target), "redirect_uri", callback, "code_verifier", verifier)
		if at.token != "" {
			values = append(values, "resource", at.token)
		}
		got := w.post(oauth.TokenPath, values...)
		if out := got.json(t); out["scope"] != "mcp offline_access" {
			t.Errorf("%s: got %s", what, got.text)
		}
		access, _ := w.pair(got)
		w.isForAgents(what, access)
	}
	code := w.code(request(w.web) + "&resource=" + url.QueryEscape(base))
	access, _ := w.pair(w.post(oauth.TokenPath, w.asWeb("grant_type", "authorization_code", "code", code, "redirect_uri", callback, "code_verifier", verifier)...))
	if w.who(access) != "ann" {
		t.Error("a token for the whole server is good for agents only")
	}
}

// Pages of agents ask the endpoints that take no cookie.
func TestPagesOfAgents(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{oauth.TokenPath, oauth.RegisterPath} {
		got := w.ask("OPTIONS", path, "", "Origin", "https://inspector.example", "Access-Control-Request-Method", "POST")
		if got.status != 204 || got.header.Get("Access-Control-Allow-Origin") != "*" || got.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("OPTIONS %s: %d %v", path, got.status, got.header)
		}
	}
	if got := w.ask("OPTIONS", oauth.AuthorizePath, "", "Origin", "https://inspector.example"); got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a page may ask to consent: %v", got.header)
	}
}
