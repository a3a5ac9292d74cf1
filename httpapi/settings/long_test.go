package settings_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
)

// Lists that people can make long are shown in part, and say so.
func TestLongLists(t *testing.T) {
	w := newWorld(t, identity.TokenPolicy{Allow: identity.TokensAll, MaxPerUser: 1000})
	ann := w.SignUp(identity.NewUser{Name: "ann", SiteAdmin: true})
	org, err := w.Registry.CreateOrg(identity.Operator, "lab", "")
	if err != nil {
		t.Fatal(err)
	}
	var readers store.Readers
	month := 30 * 24 * time.Hour
	for i := range 130 {
		u, err := w.Registry.CreateUser(identity.Operator, identity.NewUser{Name: fmt.Sprintf("user%03d", i)})
		if err != nil {
			t.Fatal(err)
		}
		readers.Users = append(readers.Users, u.ID)
		if err := w.Registry.AddMember(identity.Operator, org.ID, u.ID); err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.Registry.CreateToken(identity.Operator, identity.NewToken{User: ann.ID, Note: fmt.Sprintf("note%03d", i), Scopes: []string{identity.ScopeAll}, Lifetime: &month}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.apps.Apps.Create(identity.Operator, oauth.NewApp{Name: fmt.Sprintf("app%03d", i), Kind: oauth.Public, Redirects: []string{"https://x.example.org/"}}); err != nil {
			t.Fatal(err)
		}
		o, err := w.Registry.CreateOrg(identity.Operator, fmt.Sprintf("zorg%03d", i), "")
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Registry.AddMember(identity.Operator, o.ID, ann.ID); err != nil {
			t.Fatal(err)
		}
	}
	w.repos.all = []*store.Repository{{Name: "lab/kiln", Readers: &readers}}
	b := w.as("ann")
	for _, c := range []struct {
		path, row string
		rows      int
		want      string
	}{
		{"/users/ann/settings/tokens", "note", 50, "Page 1 of 3"},
		{"/users/ann/settings/tokens?page=3", "note", 30, "Page 3 of 3"},
		{"/site-admin/oauth-apps?page=3", "<td>app", 30, "Page 3 of 3"},
		{"/site-admin/users", "user", 50, "Page 1 of 3"},
		{"/site-admin/organizations", "Remove user", 100, "30 more members are not shown."},
		{"/users/ann/settings", "zorg", 100, "and 30 more"},
		{"/site-admin/users/ann", "zorg", 100, "and 30 more"},
		{"/site-admin/repositories", "user:user", 100, "and 30 more"},
		{"/site-admin/audit", "<tr>", 101, "Older"},
	} {
		a := b.get(c.path)
		w.has(c.path, a, 200, c.want)
		n := strings.Count(a.text, c.row)
		if c.row == "note" {
			n = strings.Count(a.text, "<tr><td>note")
		}
		if c.row == "user" {
			n = strings.Count(a.text, "/site-admin/users/")
		}
		if n != c.rows {
			t.Errorf("%s: %d rows, want %d", c.path, n, c.rows)
		}
	}
}
