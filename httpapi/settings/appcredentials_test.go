package settings_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/store/identity"
)

// bearer is the OAuth token of one user.
type bearer uint32

func (b bearer) Bearer(context.Context, string) (auth.Bearer, error) {
	return auth.Bearer{User: uint32(b), Client: "app", Scopes: []string{identity.ScopeAll}}, nil
}

// An OAuth app can use the pages as its user, and makes no credentials there.
func TestAppsMakeNoCredentialsOnPages(t *testing.T) {
	w := newWorld(t, identity.TokenPolicy{})
	root := w.SignUp(identity.NewUser{Name: "zed", SiteAdmin: true})
	other := w.SignUp(identity.NewUser{Name: "eve"})
	yes := true
	if _, err := w.Registry.ChangeUser(identity.Operator, other.ID, identity.UserChange{Locked: &yes}); err != nil {
		t.Fatal(err)
	}
	w.Gate.Bearers = bearer(root.ID)
	b := &browser{world: w}
	for _, c := range []struct {
		path   string
		values url.Values
	}{
		{"/users/zed/settings/tokens", url.Values{"days": {"7"}}},
		{"/users/zed/settings/password", url.Values{"old": {worldtest.Password}, "new": {worldtest.Password + " too"}}},
		{"/site-admin/oauth-apps", url.Values{"name": {"x"}, "kind": {"confidential"}, "redirects": {"https://x.example/cb"}}},
		{"/site-admin/users", url.Values{"name": {"mallory"}}},
		{"/site-admin/users/eve/admin", url.Values{"siteAdmin": {"yes"}}},
		{"/site-admin/users/eve/lock", url.Values{"locked": {"no"}}},
		{"/site-admin/users/eve/password", url.Values{}},
	} {
		a := b.post(c.path, c.values, "Authorization", "Bearer x")
		if a.status != 422 || !strings.Contains(a.text, "an OAuth app cannot make credentials or site admins") {
			t.Errorf("POST %s: got %d %s", c.path, a.status, a.text)
		}
	}
	b.has("a page", b.ask("GET", "/users/zed/settings/tokens", "", "Authorization", "Bearer x"), 200, "Access tokens")
}
