package settings_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/store/identity"
)

var resetLink = regexp.MustCompile(`http://localhost(/password-reset\?userID=\d+&code=[^"]+)"`)

func newAdminWorld(t testing.TB) (*world, *browser) {
	t.Helper()
	w := newWorld(t, identity.TokenPolicy{})
	w.SignUp(identity.NewUser{Name: "root", SiteAdmin: true})
	return w, w.as("root")
}

func TestCreateUser(t *testing.T) {
	w, root := newAdminWorld(t)
	made := root.post("/site-admin/users", url.Values{"name": {" ann "}, "email": {"ann@example.org"}})
	w.has("created", made, 200, "is not shown again", "ann@example.org", "none yet")
	w.logged(identity.ActionUserCreate, "user:ann", "root")
	w.logged(identity.ActionPasswordLink, "user:ann", "root")
	link := resetLink.FindStringSubmatch(made.text)
	if link == nil || made.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("the page has the link %q and Cache-Control %q", link, made.header.Get("Cache-Control"))
	}
	// the link is good once, and shown once
	w.hasNot("later", root.get("/site-admin/users/ann"), "password-reset")
	code, err := url.Parse(link[1])
	if err != nil {
		t.Fatal(err)
	}
	ann := w.as("")
	w.has("the link", ann.get(link[1]), 200, "Choose a password")
	chosen := ann.post("/-/reset-password", url.Values{"userID": {code.Query().Get("userID")}, "code": {code.Query().Get("code")}, "password": {worldtest.Password}})
	if chosen.status != 303 {
		t.Fatalf("choosing a password: %d %s", chosen.status, chosen.text)
	}
	w.as("ann")
	w.has("the link again", ann.get(link[1]), 401)

	// a service account has no link, and is led to its tokens
	bot := root.follow(root.post("/site-admin/users", url.Values{"name": {"bot"}, "service": {"yes"}}))
	w.has("a service account", bot, 200, "The service account is there", "Access tokens of bot", "Create token")

	// what is refused keeps what was filled in
	w.has("taken", root.post("/site-admin/users", url.Values{"name": {"ANN"}, "email": {"x@example.org"}}), 409, `role="alert"`, `value="ANN"`, `value="x@example.org"`)
	w.has("no name", root.post("/site-admin/users", url.Values{"name": {"<b>"}}), 422, `role="alert"`)
}

func TestChangeUser(t *testing.T) {
	w, root := newAdminWorld(t)
	u := w.SignUp(identity.NewUser{Name: "ann"})
	ann := w.as("ann")
	change := func(what string, v url.Values) answer { return root.post("/site-admin/users/ann/"+what, v) }

	w.has("made admin", root.follow(change("admin", url.Values{"siteAdmin": {"yes"}})), 200, "Saved.", "Take site admin away")
	w.has("who is one now", ann.get("/site-admin/users"), 200)
	w.has("taken away", root.follow(change("admin", url.Values{})), 200, "Make site admin")
	w.has("who was one", ann.get("/site-admin/users"), 403)

	w.has("locked", root.follow(change("lock", url.Values{"locked": {"yes"}})), 200, "The user is locked", "Unlock")
	w.has("who is locked", ann.get("/user/settings"), 302)
	w.has("unlocked", root.follow(change("lock", url.Values{})), 200, "not locked any more")

	ann = w.as("ann")
	w.has("reset", change("password", url.Values{}), 200, "is not shown again", "none yet")
	w.has("whose password was reset", ann.get("/user/settings"), 302)

	w.has("deleted without the name", change("delete", url.Values{"confirm": {"an"}}), 422, "Type the user name")
	w.has("deleted", root.follow(change("delete", url.Values{"confirm": {"ann"}})), 200, "The user is deleted")
	w.logged(identity.ActionUserDelete, "user:ann", "root")
	if _, err := w.Registry.User(u.ID); err == nil {
		t.Error("the user is still there")
	}
	w.has("who is gone", root.get("/site-admin/users/ann"), 404, "there is no such user")
}

// Nobody locks themselves out.
func TestChangeOneself(t *testing.T) {
	w, root := newAdminWorld(t)
	w.has("the page", root.get("/site-admin/users/root"), 200, "This is you.")
	for _, what := range []string{"admin", "lock", "password", "delete"} {
		w.has(what, root.post("/site-admin/users/root/"+what, url.Values{"confirm": {"root"}, "locked": {"yes"}}), 422, "You cannot do this to yourself")
	}
	w.has("afterwards", root.get("/site-admin/users"), 200)
}

func TestUserList(t *testing.T) {
	w, root := newAdminWorld(t)
	for i := range 60 {
		if _, err := w.Registry.CreateUser(identity.Operator, identity.NewUser{Name: fmt.Sprintf("u%02d", i), DisplayName: fmt.Sprintf("Number %d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	rows := regexp.MustCompile(`<tr><td><a href="/site-admin/users/(\w+)"`)
	for _, c := range []struct{ query, first, last, want string }{
		{"", "root", "u48", "Page 1 of 2"},
		{"?page=2", "u49", "u59", `rel="prev"`},
		{"?page=99", "u49", "u59", "Page 2 of 2"},
		{"?page=-1", "root", "u48", `rel="next"`},
		{"?q=NUMBER+5", "u05", "u59", "11 found"},
		{"?q=number&page=2", "u50", "u59", `href="/site-admin/users?page=1&q=number"`},
		{"?q=%3Cscript%3E", "", "", "No user is called like that."},
	} {
		got := root.get("/site-admin/users" + c.query)
		w.has(c.query, got, 200, c.want)
		var names []string
		for _, m := range rows.FindAllStringSubmatch(got.text, -1) {
			names = append(names, m[1])
		}
		if len(names) == 0 && c.first == "" {
			continue
		}
		if len(names) == 0 || names[0] != c.first || names[len(names)-1] != c.last {
			t.Errorf("GET %q lists %q, want %s to %s", c.query, strings.Join(names, " "), c.first, c.last)
		}
	}
}

func TestOrganisations(t *testing.T) {
	w, root := newAdminWorld(t)
	w.SignUp(identity.NewUser{Name: "ann"})
	post := func(path string, v url.Values) answer { return root.post("/site-admin/organizations"+path, v) }
	w.has("created", root.follow(post("", url.Values{"name": {"lab"}, "displayName": {"<i>Lab"}})), 200, "Saved.", "lab", "<i>Lab")
	w.has("taken", post("", url.Values{"name": {"ann"}}), 409, `role="alert"`)
	w.has("joined", root.follow(post("/lab/add", url.Values{"user": {"ann"}})), 200, `aria-label="Remove ann"`)
	w.logged(identity.ActionMemberAdd, "org:lab", "root")
	w.has("unknown", post("/lab/add", url.Values{"user": {"eve"}}), 422, "There is no such user")
	w.hasNot("left", root.follow(post("/lab/remove", url.Values{"user": {"ann"}})), `aria-label="Remove ann"`)
	w.has("elsewhere", post("/nolab/add", url.Values{"user": {"ann"}}), 404, "It is gone already.")
	w.hasNot("deleted", root.follow(post("/lab/delete", nil)), ">lab<")
	w.logged(identity.ActionOrgDelete, "org:lab", "root")
}

func TestAuditPage(t *testing.T) {
	w, root := newAdminWorld(t)
	for i := range 120 {
		if err := w.Registry.Log(identity.Operator, "test.made", fmt.Sprintf("thing:%d", i), "<b>"); err != nil {
			t.Fatal(err)
		}
	}
	first := root.get("/site-admin/audit")
	w.has("the newest", first, 200, "thing:119", "thing:20", "<b>", "operator")
	w.hasNot("the newest", first, "thing:19<")
	older := regexp.MustCompile(`href="(/site-admin/audit\?before=\d+)"`).FindStringSubmatch(first.text)
	if older == nil {
		t.Fatal("nothing leads to older entries")
	}
	rest := root.get(older[1])
	w.has("the rest", rest, 200, "thing:19<", "thing:0<", identity.ActionUserCreate)
	w.hasNot("the rest", rest, "thing:20<", "Older")
}
