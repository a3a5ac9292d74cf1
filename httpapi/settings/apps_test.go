package settings_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
)

const appsPath = "/site-admin/oauth-apps"

var secretForm = regexp.MustCompile(`sgo_cs_[-_0-9A-Za-z]{43}`)

func TestApps(t *testing.T) {
	w := newWorld(t, identity.TokenPolicy{})
	w.SignUp(identity.NewUser{Name: "root", SiteAdmin: true})
	w.SignUp(identity.NewUser{Name: "ann"})
	w.SignUp(identity.NewUser{Name: "bot", Service: true})
	root := w.as("root")
	w.has("the first look", root.get(appsPath), 200, "src, on the command line", "came with trawl", `aria-current="page">OAuth apps<`)
	w.hasNot("what came with trawl", root.get(appsPath), appsPath+"/delete")

	// a secret is shown once
	made := root.post(appsPath, url.Values{"name": {`Wiki <b>`}, "kind": {"confidential"}, "redirects": {" https://wiki.example.org/a\r\nhttps://wiki.example.org/b "}})
	w.has("a new app", made, 200, "Wiki <b> has the client ID", "Copy it now", "https://wiki.example.org/b")
	secret := secretForm.FindString(made.text)
	app := w.app("Wiki <b>")
	if secret == "" || !app.SecretIs(secret) || len(app.Redirects) != 2 || made.header.Get("Cache-Control") != "no-store" {
		t.Errorf("secret %q, app %+v, headers %v", secret, app, made.header)
	}
	w.logged(oauth.ActionAppCreate, "app:"+app.ID, "root")
	w.hasNot("the next look", root.get(appsPath), secret)
	again := root.post(appsPath+"/secret", url.Values{"id": {app.ID}})
	next := secretForm.FindString(again.text)
	if app = w.app("Wiki <b>"); next == "" || next == secret || app.SecretIs(secret) || !app.SecretIs(next) {
		t.Errorf("another secret: %q after %q", next, secret)
	}
	w.logged(oauth.ActionAppSecret, "app:"+app.ID, "root")

	// other kinds
	w.has("a public one", root.post(appsPath, url.Values{"name": {"Editor"}, "kind": {"public"}, "redirects": {"http://127.0.0.1/done"}}), 200, "Editor has the client ID")
	w.has("a service's", root.post(appsPath, url.Values{"name": {"Nightly"}, "kind": {"service"}, "account": {"bot"}}), 200, "Copy it now", "service, as bot")

	// what cannot be is told, with what was filled in
	for what, c := range map[string]struct {
		values url.Values
		want   string
	}{
		"no name":         {url.Values{"kind": {"public"}}, "needs a name"},
		"no URI":          {url.Values{"name": {"x"}, "kind": {"confidential"}}, "needs a redirect URI"},
		"no kind":         {url.Values{"name": {"x"}}, "no kind of app"},
		"http":            {url.Values{"name": {"x"}, "kind": {"public"}, "redirects": {"http://x.example/"}}, "must be https"},
		"nobody":          {url.Values{"name": {"x"}, "kind": {"service"}, "account": {"nobody"}}, "no service account of that name"},
		"another account": {url.Values{"name": {"x"}, "kind": {"service"}, "account": {"ann"}}, "ann is no service account"},
	} {
		got := root.post(appsPath, c.values)
		w.has(what, got, 422, `role="alert"`, c.want)
		for _, v := range c.values["redirects"] {
			w.has(what, got, 422, ">"+v+"</textarea>")
		}
	}
	w.has("one that is not there", root.post(appsPath+"/delete", url.Values{"id": {"none"}}), 404, "gone already")

	// off, on, and away
	w.has("off", root.follow(root.post(appsPath+"/disable", url.Values{"id": {app.ID}})), 200, "switched off, and none")
	w.has("on", root.follow(root.post(appsPath+"/enable", url.Values{"id": {app.ID}})), 200, "switched on again")
	w.has("away", root.follow(root.post(appsPath+"/delete", url.Values{"id": {app.ID}})), 200, "The app is deleted")
	w.hasNot("after that", root.get(appsPath), "Wiki")
	w.logged(oauth.ActionAppDelete, "app:"+app.ID, "root")
	w.has("what came with trawl", root.post(appsPath+"/delete", url.Values{"id": {oauth.CommandLine}}), 422, "cannot be deleted")

	// none of it is for others
	before := len(w.entries())
	ann := w.as("ann")
	for _, path := range []string{"", "/secret", "/disable", "/enable", "/delete"} {
		if got := ann.post(appsPath+path, url.Values{"id": {oauth.CommandLine}, "name": {"x"}, "kind": {"public"}}); got.status != 403 {
			t.Errorf("POST %s by ann: %d", path, got.status)
		}
	}
	for _, e := range w.entries()[:len(w.entries())-before] {
		if strings.HasPrefix(e.Action, "app.") {
			t.Errorf("ann did something: %+v", e)
		}
	}
}

// app finds an app by name.
func (w *world) app(name string) *oauth.App {
	w.Helper()
	all, err := w.apps.Apps.All()
	if err != nil {
		w.Fatal(err)
	}
	for _, a := range all {
		if a.Name == name {
			return a
		}
	}
	w.Fatalf("there is no app %q", name)
	return nil
}

// letIn gives the command line a token of a user.
func (w *world) letIn(u *identity.User) oauth.Key {
	w.Helper()
	must := func(err error) {
		w.Helper()
		if err != nil {
			w.Fatal(err)
		}
	}
	id, err := w.apps.Grants.NewID(u.ID)
	must(err)
	key := func(kind oauth.Kind) oauth.Key {
		text, err := w.apps.Grants.NewText(kind, id)
		must(err)
		k, _ := oauth.ParseText(kind, text)
		return k
	}
	code, access := key(oauth.CodeText), key(oauth.AccessText)
	must(w.apps.Grants.Agree(identity.Author{UserID: u.ID, User: u.Name}, code, oauth.Ask{App: oauth.CommandLine, Scopes: []string{"user:all"}}))
	must(w.apps.Grants.Redeem(identity.Author{}, code, oauth.Tokens{Access: access, Scopes: []string{"user:all"}}))
	return access
}

func TestAuthorisedApps(t *testing.T) {
	w := newWorld(t, identity.TokenPolicy{})
	ann := w.SignUp(identity.NewUser{Name: "ann"})
	bob := w.SignUp(identity.NewUser{Name: "bob"})
	w.SignUp(identity.NewUser{Name: "root", SiteAdmin: true})
	const path = "/users/ann/settings/authorised-apps"
	b := w.as("ann")
	w.has("before", b.get(path), 200, "There are none", `aria-current="page">Authorised apps<`)
	first, second, his := w.letIn(ann), w.letIn(ann), w.letIn(bob)
	page := b.follow(b.get("/user/settings/authorised-apps"))
	w.has("two sign-ins", page, 200, "src, on the command line", "<td>2</td>", "user:all")

	// not for others
	w.has("bob looks", w.as("bob").get(path), 404)
	w.has("bob revokes", w.as("bob").post(path+"/revoke", url.Values{"id": {oauth.CommandLine}}), 404)
	good := func(k oauth.Key) bool {
		_, _, err := w.apps.Grants.ByAccess(k)
		return err == nil
	}
	if !good(first) {
		t.Fatal("bob ended a token of ann")
	}
	w.has("revoked", b.follow(b.post(path+"/revoke", url.Values{"id": {oauth.CommandLine}})), 200, "cannot act for this account any more", "There are none")
	if good(first) || good(second) || !good(his) {
		t.Errorf("after that ann's tokens are good: %t, %t; bob's: %t", good(first), good(second), good(his))
	}
	w.logged(oauth.ActionGrantRevoke, "app:"+oauth.CommandLine, "ann")
	w.has("again", b.follow(b.post(path+"/revoke", url.Values{"id": {oauth.CommandLine}})), 200)

	// an admin can for them
	third := w.letIn(ann)
	root := w.as("root")
	w.has("an admin looks", root.get(path), 200, "Authorised apps of ann")
	root.post(path+"/revoke", url.Values{"id": {oauth.CommandLine}})
	if good(third) {
		t.Error("the token is good after an admin revoked it")
	}
	w.logged(oauth.ActionGrantRevoke, "app:"+oauth.CommandLine, "root")
}
