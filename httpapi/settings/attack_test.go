package settings_test

import (
	"net/url"
	"slices"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/saved"
)

// everyPage shows all that a site admin can see of the settings.
var everyPage = []string{
	"/users/root/settings", "/users/root/settings/tokens", "/users/bot/settings/tokens", "/site-admin/users", "/site-admin/users/bob",
	"/users/root/settings/authorised-apps", "/site-admin/oauth-apps", "/site-admin/organizations", "/site-admin/repositories", "/site-admin/repositories/1", "/site-admin/audit", "/site-admin/nodes", "/site-admin/backups", "/site-admin/configuration", "/site-admin/overview",
	"/users/root/searches", "/users/root/searches/1", "/users/root/jobs", "/users/root/jobs/1", "/users/root/contexts", "/users/root/contexts/1",
}

// Each form there is on a page is posted as a page of another origin would have
// a browser do it, whose user is signed in here. Nothing may come of it.
func TestFormsFromElsewhere(t *testing.T) {
	w := newWorld(t, identity.TokenPolicy{})
	root := w.SignUp(identity.NewUser{Name: "root", SiteAdmin: true})
	w.SignUp(identity.NewUser{Name: "bot", Service: true})
	if _, _, err := w.Registry.CreateToken(identity.Operator, identity.NewToken{User: root.ID, Scopes: []string{identity.ScopeAll}, Lifetime: days(1)}); err != nil {
		t.Fatal(err)
	}
	w.SignUp(identity.NewUser{Name: "bob"})
	if _, err := w.Registry.CreateOrg(identity.Author{UserID: root.ID, User: "root"}, "lab", ""); err != nil {
		t.Fatal(err)
	}
	w.letIn(root)
	w.keep(root, "glaze")
	if _, err := w.kept.Book.Contexts.Add(saved.Context{Name: "glazes", Owner: manage.SiteOwner, Public: true, Query: "repo:glaze"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.kept.Book.Jobs.Add("glaze", root.ID); err != nil {
		t.Fatal(err)
	}
	w.repos.all = []*store.Repository{{ID: 1, Name: "kiln", Metadata: map[string]*string{"team": nil}}}
	w.backups.status = planned()
	b := w.as("root")
	before := len(w.entries())
	values := url.Values{
		"id": {"1"}, "name": {"kiln"}, "user": {"bot"}, "displayName": {"Eve"}, "note": {"x"}, "days": {"7"},
		"query": {"evil"}, "description": {"evil"},
		"old": {worldtest.Password}, "new": {"known to eve now"}, "confirm": {"bob"}, "locked": {"yes"}, "stars": {"9"}, "key": {"team"}, "readers": {"nobody"}, "siteAdmin": {"yes"}, "last": {"0"}, "max-timeout": {"1s"},
	}
	var tried []string
	for _, page := range everyPage {
		for _, found := range forms.FindAllStringSubmatch(b.get(page).text, -1) {
			if action := found[1]; action != "/-/sign-out" && !slices.Contains(tried, action) {
				tried = append(tried, action)
			}
		}
	}
	if len(tried) < 15 {
		t.Fatalf("found only the forms %q", tried)
	}
	for _, action := range tried {
		for what, headers := range map[string][]string{
			"another origin":          {"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"},
			"a frame without origin":  {"Origin", "null", "Sec-Fetch-Site", "cross-site"},
			"another host below ours": {"Origin", "http://evil.localhost", "Sec-Fetch-Site", "same-site"},
			"an old browser":          {"Origin", "https://evil.example", "Sec-Fetch-Site", ""},
			"no origin":               {"Origin", "", "Sec-Fetch-Site", "cross-site"},
		} {
			got := b.post(action, values, headers...)
			if got.status != 401 && got.status != 403 {
				t.Errorf("POST %s from %s: %d %s, want it refused", action, what, got.status, got.text)
			}
		}
		// a program's body is taken from our pages only, too
		got := b.ask("POST", action, `{"note": "x", "days": "7"}`, "Content-Type", "text/plain", "Origin", "https://evil.example")
		if got.status != 401 && got.status != 403 {
			t.Errorf("POST %s with JSON from another origin: %d %s, want it refused", action, got.status, got.text)
		}
		// and nothing is done by a link
		if got := b.ask("GET", action+"?"+values.Encode(), ""); got.status == 303 {
			t.Errorf("GET %s does something", action)
		}
	}
	if len(w.repos.refreshed) > 0 {
		t.Errorf("%q were synced", w.repos.refreshed)
	}
	if len(w.backups.begun) > 0 {
		t.Errorf("%q were begun", w.backups.begun)
	}
	all, err := w.kept.Book.Searches.All()
	if err != nil || len(all) != 1 || all[0].Query != "glaze" {
		t.Errorf("the saved searches are %+v, %v; want the one", all, err)
	}
	jobs, err := w.kept.Book.Jobs.All()
	if err != nil || len(jobs) != 1 || jobs[0].State.Final() {
		t.Errorf("the search jobs are %+v, %v; want the one", jobs, err)
	}
	if c, err := w.kept.Book.Contexts.Get(manage.SiteOwner, "glazes"); err != nil || c.Query != "repo:glaze" {
		t.Errorf("the search context is %+v, %v", c, err)
	}
	if c, err := w.kept.Book.Contexts.Choice(root.ID); err != nil || c.Default != 0 || len(c.Starred) > 0 {
		t.Errorf("root chose %+v, %v", c, err)
	}
	if after := w.entries(); len(after) != before {
		t.Errorf("something was done:\n%v", after[:len(after)-before])
	}
}

func (w *world) entries() []identity.Entry {
	w.Helper()
	entries, err := w.Registry.Audit(identity.AuditFilter{})
	if err != nil {
		w.Fatal(err)
	}
	return entries
}

// No page of the settings answers users who are not signed in, or may not see it.
func TestPagesAreNotForStrangers(t *testing.T) {
	w := newWorld(t, identity.TokenPolicy{})
	w.SignUp(identity.NewUser{Name: "root", SiteAdmin: true})
	w.SignUp(identity.NewUser{Name: "bot", Service: true})
	w.SignUp(identity.NewUser{Name: "ann"})
	w.SignUp(identity.NewUser{Name: "bob"})
	for _, page := range everyPage {
		if got := w.as("").get(page).status; got != 302 {
			t.Errorf("GET %s signed out: %d, want 302", page, got)
		}
		if got := w.as("ann").get(page).status; got != 403 && got != 404 {
			t.Errorf("GET %s by ann: %d, want 403 or 404", page, got)
		}
	}
}
