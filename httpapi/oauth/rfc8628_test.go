package oauth_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/oauth"
	"github.com/trawlsearch/trawl/store/identity"
	kept "github.com/trawlsearch/trawl/store/oauth"
)

// waiting is a device that waits.
type waiting struct{ device, user string }

const deviceType = "urn:ietf:params:oauth:grant-type:device_code"

// begin has the command line ask as src login does.
func (w *world) begin() waiting {
	w.Helper()
	got := w.post(oauth.DeviceCodePath, "client_id", kept.CommandLine, "scope", "email offline_access openid profile user:all")
	if got.status != 200 {
		w.Fatalf("device code: %d %s", got.status, got.text)
	}
	out := got.json(w)
	return waiting{out["device_code"].(string), out["user_code"].(string)}
}

func (w *world) poll(d waiting) answer {
	return w.post(oauth.TokenPath, "grant_type", deviceType, "client_id", kept.CommandLine, "device_code", d.device)
}

// decide types the code of a device and says something to it.
func (b *browser) decide(d waiting, decision string) answer {
	b.Helper()
	page := b.submit(oauth.DevicePath, url.Values{"user_code": {d.user}})
	form := fields(page)
	if page.status != 200 || form.Get("check") == "" {
		b.Fatalf("the page for a device: %d %s", page.status, page.text)
	}
	form.Set("decision", decision)
	return b.submit(oauth.DevicePath, form)
}

// Section 3.1 and 3.2.
func TestDeviceCode(t *testing.T) {
	w := newWorld(t)
	got := w.post(oauth.DeviceCodePath, "client_id", kept.CommandLine, "scope", "user:all")
	out := got.json(t)
	user, _ := out["user_code"].(string)
	if got.status != 200 || out["expires_in"] != 1800.0 || out["interval"] != 5.0 || out["verification_uri"] != base+"/device" ||
		out["verification_uri_complete"] != base+"/device?user_code="+user || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %s with %v", got.status, got.text, got.header)
	}
	for _, c := range []struct {
		what   string
		values []string
		status int
		code   string
	}{
		{"no client", []string{"scope", "user:all"}, 400, "invalid_request"},
		{"an unknown client", []string{"client_id", "sgo_cid_none", "scope", "user:all"}, 401, "invalid_client"},
		{"a confidential one", w.asWeb("scope", "user:all"), 400, "unauthorized_client"},
		{"no scope", []string{"client_id", kept.CommandLine}, 400, "invalid_scope"},
		{"an unknown scope", []string{"client_id", kept.CommandLine, "scope", "site-admin:sudo"}, 400, "invalid_scope"},
		{"a scope it has not", []string{"client_id", w.native.ID, "scope", "email"}, 400, "invalid_scope"},
		{"a scope twice", []string{"client_id", w.native.ID, "scope", "openid openid"}, 400, "invalid_scope"},
	} {
		w.refused(c.what, w.post(oauth.DeviceCodePath, c.values...), c.status, c.code)
	}
	w.Must(w.book.Apps.SetDisabled(identity.Operator, kept.CommandLine, true))
	w.refused("switched off", w.post(oauth.DeviceCodePath, "client_id", kept.CommandLine, "scope", "user:all"), 401, "invalid_client")
}

// Sections 3.3 to 3.5: what src login does.
func TestDeviceFlow(t *testing.T) {
	w := newWorld(t)
	d := w.begin()
	w.refused("no decision yet", w.poll(d), 400, "authorization_pending")
	// the link leads a user who is not signed in to the sign-in page and back
	link := oauth.DevicePath + "?user_code=" + d.user
	if got := w.ask("GET", link, ""); got.status != 302 || got.header.Get("Location") != "/sign-in?returnTo="+url.QueryEscape(link) {
		t.Errorf("signed out: %d to %q", got.status, got.header.Get("Location"))
	}
	b := w.as("ann")
	page := b.get(link)
	for _, want := range []string{"src, on the command line", d.user, "127.0.0.1", "<strong>ann</strong>", "search and change all that you may", "just now"} {
		if !strings.Contains(page.text, want) {
			t.Errorf("the page lacks %q:\n%s", want, page.text)
		}
	}
	// to look is not to agree
	w.clock.Add(5 * time.Second)
	w.refused("the user has looked only", w.poll(d), 400, "authorization_pending")
	if got := b.decide(d, "allow"); got.status != 200 || !strings.Contains(got.text, "signed in as you") {
		t.Errorf("agreeing: %d %s", got.status, got.text)
	}
	w.logged(kept.ActionGrant, "app:"+kept.CommandLine, "ann")
	got := w.poll(d)
	if out := got.json(t); out["token_type"] != "Bearer" || out["expires_in"] != 3600.0 || out["scope"] != "email offline_access openid profile user:all" {
		t.Errorf("tokens: %s", got.text)
	}
	access, refresh := w.pair(got)
	if w.who(access) != "ann" {
		t.Error("the token is not good")
	}
	w.refused("the code a second time", w.poll(d), 400, "invalid_grant")
	access, _ = w.pair(w.post(oauth.TokenPath, "grant_type", "refresh_token", "client_id", kept.CommandLine, "refresh_token", refresh))
	if w.who(access) != "ann" {
		t.Error("the refreshed token is not good")
	}
}

func TestDeviceFlowThatEndsBadly(t *testing.T) {
	w := newWorld(t)
	d := w.begin()
	b := w.as("ann")
	if got := b.decide(d, "deny"); got.status != 200 || !strings.Contains(got.text, "not let in") {
		t.Errorf("denying: %d %s", got.status, got.text)
	}
	w.refused("denied", w.poll(d), 400, "access_denied")
	d = w.begin()
	w.refused("of another app", w.post(oauth.TokenPath, "grant_type", deviceType, "client_id", w.native.ID, "device_code", d.device), 400, "invalid_grant")
	w.refused("no code", w.post(oauth.TokenPath, "grant_type", deviceType, "client_id", kept.CommandLine), 400, "invalid_request")
	w.refused("the user code", w.poll(waiting{d.user, ""}), 400, "invalid_grant")
	w.clock.Add(kept.DeviceLasts)
	w.refused("too late", w.poll(d), 400, "expired_token")
	if got := b.submit(oauth.DevicePath, url.Values{"user_code": {d.user}}); got.status != 404 {
		t.Errorf("deciding too late: %d", got.status)
	}
}

// Section 3.5: who asks too often is told so, and has to wait longer for good.
func TestSlowDown(t *testing.T) {
	w := newWorld(t)
	d, other := w.begin(), w.begin()
	for _, c := range []struct {
		after time.Duration
		code  string
	}{
		{0, "authorization_pending"}, {5 * time.Second, "authorization_pending"}, {time.Second, "slow_down"}, {5 * time.Second, "slow_down"},
		{10 * time.Second, "slow_down"}, {20 * time.Second, "authorization_pending"}, {20 * time.Second, "authorization_pending"},
	} {
		w.clock.Add(c.after)
		w.refused("after "+c.after.String(), w.poll(d), 400, c.code)
	}
	w.refused("another device", w.poll(other), 400, "authorization_pending")
	w.as("ann").decide(d, "allow")
	w.pair(w.poll(d))
}

// Section 5.1: no client can try many user codes, by any way in.
func TestGuesses(t *testing.T) {
	w := newWorld(t)
	w.SignUp(identity.NewUser{Name: "eve"})
	w.SignUp(identity.NewUser{Name: "bob"})
	d := w.begin()
	eve := w.as("eve")
	for i := range 10 {
		var got answer
		if i%2 == 0 {
			got = eve.get(oauth.DevicePath + "?user_code=BBBB-BBBB")
		} else {
			got = eve.submit(oauth.DevicePath, url.Values{"user_code": {"BBBB-BBBB"}, "decision": {"allow"}})
		}
		if got.status != 404 || strings.Contains(got.text, "src, on the command line") {
			t.Fatalf("guess %d: %d %s", i, got.status, got.text)
		}
	}
	got := eve.get(oauth.DevicePath + "?user_code=" + d.user)
	if got.status != 429 || got.header.Get("Retry-After") == "" || strings.Contains(got.text, "src, on the command line") {
		t.Errorf("the right code after ten wrong ones: %d %s", got.status, got.text)
	}
	// that is no hindrance for others, until the address has been wrong too often
	ann := w.as("ann")
	if got := ann.get(oauth.DevicePath + "?user_code=" + d.user); got.status != 200 {
		t.Errorf("ann: %d", got.status)
	}
	bob := w.as("bob")
	for range 10 {
		ann.get(oauth.DevicePath + "?user_code=x")
		bob.get(oauth.DevicePath + "?user_code=x")
	}
	root := w.SignUp(identity.NewUser{Name: "root"})
	if got := w.as(root.Name).get(oauth.DevicePath + "?user_code=" + d.user); got.status != 429 {
		t.Errorf("after thirty wrong codes from one address: %d, want 429", got.status)
	}
	w.clock.Add(31 * time.Minute)
	d = w.begin()
	if got := eve.get(oauth.DevicePath + "?user_code=" + d.user); got.status != 200 {
		t.Errorf("half an hour later: %d", got.status)
	}
}

// No client can fill the server with waiting devices.
func TestManyDevices(t *testing.T) {
	w := newWorld(t)
	for range 20 {
		w.begin()
	}
	got := w.post(oauth.DeviceCodePath, "client_id", kept.CommandLine, "scope", "user:all")
	w.refused("one too many", got, 503, "temporarily_unavailable")
	if got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}
