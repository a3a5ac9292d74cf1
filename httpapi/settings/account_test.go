package settings_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/store/identity"
)

func TestWhereSettingsAre(t *testing.T) {
	w := newWorld(t, identity.TokenPolicy{})
	w.SignUp(identity.NewUser{Name: "ann"})
	ann := w.as("ann")
	for from, want := range map[string]string{
		"/settings":             "/users/ann/settings",
		"/user/settings":        "/users/ann/settings",
		"/user/settings/tokens": "/users/ann/settings/tokens",
	} {
		if got := ann.get(from); got.status != 302 || got.header.Get("Location") != want {
			t.Errorf("GET %s: %d to %q, want 302 to %q", from, got.status, got.header.Get("Location"), want)
		}
		if got := w.as("").get(from); got.status != 302 || got.header.Get("Location") != "/sign-in?returnTo="+url.QueryEscape(from) {
			t.Errorf("GET %s signed out: %d to %q, want where to sign in", from, got.status, got.header.Get("Location"))
		}
	}
}

func TestAccountPage(t *testing.T) {
	w := newWorld(t, identity.TokenPolicy{})
	w.SignUp(identity.NewUser{Name: "ann", DisplayName: `<b>"Ann"`, Email: "ann@example.org", EmailVerified: true})
	w.SignUp(identity.NewUser{Name: "bob"})
	w.SignUp(identity.NewUser{Name: "root", SiteAdmin: true})
	w.SignUp(identity.NewUser{Name: "bot", Service: true})
	page := w.as("ann").get("/users/ann/settings")
	w.has("her own", page, 200, "<h1>Account</h1>", "ann@example.org", `value="<b>"Ann""`, "Current password", `aria-current="page">Account<`)
	w.hasNot("her own", page, "Site admin")
	if got := page.header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control is %q, want no-store", got)
	}

	// nobody learns who else there is
	for _, other := range []string{"bob", "root", "nobody"} {
		w.has("ann asks for "+other, w.as("ann").get("/users/"+other+"/settings"), 404, "there is no such user")
	}
	w.has("nobody asks", w.as("").get("/users/ann/settings"), 302)

	// site admins see all, but no password field
	other := w.as("root").get("/users/ann/settings")
	w.has("an admin asks", other, 200, "Account of ann", "Site admin", `href="/site-admin/users" aria-current="page"`)
	w.hasNot("an admin asks", other, "Current password")
	w.has("a service account", w.as("root").get("/users/bot/settings"), 200, "A service account")
}

func TestProfile(t *testing.T) {
	w := newWorld(t, identity.TokenPolicy{})
	u := w.SignUp(identity.NewUser{Name: "ann"})
	w.SignUp(identity.NewUser{Name: "bob"})
	ann := w.as("ann")
	w.has("a change", ann.follow(ann.post("/users/ann/settings/profile", url.Values{"displayName": {"Ann Muster"}})), 200, "Saved.", `value="Ann Muster"`)
	w.logged(identity.ActionUserUpdate, "user:ann", "ann")
	w.has("too long", ann.post("/users/ann/settings/profile", url.Values{"displayName": {strings.Repeat("x", 2000)}}), 422, `role="alert"`)
	w.has("of another", w.as("bob").post("/users/ann/settings/profile", url.Values{"displayName": {"Bob"}}), 404)
	if got, err := w.Registry.User(u.ID); err != nil || got.DisplayName != "Ann Muster" {
		t.Errorf("the display name is %q (%v), want Ann Muster", got.DisplayName, err)
	}
}

func TestPassword(t *testing.T) {
	w := newWorld(t, identity.TokenPolicy{})
	w.SignUp(identity.NewUser{Name: "ann"})
	w.SignUp(identity.NewUser{Name: "root", SiteAdmin: true})
	here, elsewhere := w.as("ann"), w.as("ann")
	change := func(b *browser, old, new string) answer {
		return b.post("/users/ann/settings/password", url.Values{"old": {old}, "new": {new}})
	}
	const next = "staple battery horse"
	w.has("wrong old one", change(here, "guess", next), 422, "The current password is wrong")
	w.has("too short", change(here, worldtest.Password, "short"), 422, `role="alert"`)
	w.has("by an admin", change(w.as("root"), worldtest.Password, next), 404)
	if got := elsewhere.get("/users/ann/settings").status; got != 200 {
		t.Fatalf("elsewhere before the change: %d", got)
	}
	before := here.cookie
	w.has("the change", here.follow(change(here, worldtest.Password, next)), 200, "All other browsers have been signed out")
	if here.cookie == before {
		t.Error("the session is the old one")
	}
	if got := elsewhere.get("/users/ann/settings").status; got != 302 {
		t.Errorf("elsewhere after the change: %d, want to be signed out", got)
	}
	w.logged(identity.ActionPasswordSet, "user:ann", "ann")
	w.hasNot("nothing repeats what was typed", change(here, "guess-me-not", next), "guess-me-not", next)
}

// Text from a link is never shown as if the server said it.
func TestDoneIsNotFromTheLink(t *testing.T) {
	w := newWorld(t, identity.TokenPolicy{})
	w.SignUp(identity.NewUser{Name: "ann"})
	w.hasNot("a link", w.as("ann").get("/users/ann/settings?done=Call+0800"), "Call 0800", `role="status"`)
}
