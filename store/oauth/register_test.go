package oauth_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
)

func (w *world) register(from string, n oauth.NewApp) (*oauth.App, string, error) {
	if n.Redirects == nil {
		n.Redirects = []string{"http://127.0.0.1/cb"}
	}
	secret, a, err := w.Apps.Register(identity.Author{Via: "registration", Address: from}, n)
	return a, secret, err
}

func TestRegister(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		n    oauth.NewApp
		want string // part of the error, "" for none
	}{
		{oauth.NewApp{Name: "Editor", Kind: oauth.Public}, ""},
		{oauth.NewApp{Name: "Editor", Kind: oauth.Confidential}, ""},
		{oauth.NewApp{Name: "Editor", Kind: oauth.Public, Redirects: []string{"cursor://anysphere.cursor-mcp/oauth/callback"}}, ""},
		// what it asks for does not count
		{oauth.NewApp{ID: "mine", Name: "Editor", Kind: oauth.Public, Scopes: []string{"user:all"}}, ""},
		{oauth.NewApp{Kind: oauth.Public}, "needs a name"},
		{oauth.NewApp{Name: "a\u202eb", Kind: oauth.Public}, "cannot be the name"},
		{oauth.NewApp{Name: "x", Kind: oauth.Public, Redirects: []string{}}, "1 to 5 redirect URIs"},
		{oauth.NewApp{Name: "x", Kind: oauth.Public, Redirects: []string{"http://evil.example/"}}, "must be https"},
		{oauth.NewApp{Name: "x", Kind: oauth.Public, Redirects: []string{"javascript:alert(1)"}}, "needs the scheme https"},
		{oauth.NewApp{Name: "x", Kind: oauth.Public, Redirects: strings.Fields("https://a.example https://b.example https://c.example https://d.example https://e.example https://f.example")}, "1 to 5 redirect URIs"},
	} {
		a, secret, err := w.register("192.0.2.1", c.n)
		switch {
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%+v: got %v, want %q in it", c.n, err, c.want)
		case c.want == "" && err != nil:
			t.Errorf("%+v: %v", c.n, err)
		case c.want == "":
			if (secret == "") != (c.n.Kind == oauth.Public) || fmt.Sprint(a.Scopes) != "[mcp offline_access]" || !strings.HasPrefix(a.ID, "sgo_cid_dcr_") || !a.Registered {
				t.Errorf("%+v: got %+v and the secret %q", c.n, a, secret)
			}
			if n := w.logged(oauth.ActionAppRegister, "app:"+a.ID); n != 1 {
				t.Errorf("%+v: %d lines in the audit log, want 1", c.n, n)
			}
		}
	}
}

// An app that no user consents to is gone after a day, and one that is used stays.
func TestRegisteredAppsExpire(t *testing.T) {
	w := newWorld(t)
	idle, _, err := w.register("192.0.2.1", oauth.NewApp{Name: "idle", Kind: oauth.Public})
	w.must(err)
	used, _, err := w.register("192.0.2.1", oauth.NewApp{Name: "used", Kind: oauth.Public})
	w.must(err)
	grant, err := w.Grants.NewID(w.ann.ID)
	w.must(err)
	code := oauth.Key{Grant: grant, Hash: oauth.Hash{1}}
	by := identity.Author{UserID: w.ann.ID, User: "ann"}
	w.must(w.Grants.Agree(by, code, oauth.Ask{App: used.ID, Scopes: []string{"mcp", "offline_access"}}))
	old := oauth.Key{Grant: grant, Family: oauth.Hash{9}, Hash: oauth.Hash{2}}
	w.must(w.Grants.Redeem(by, code, oauth.Tokens{Access: oauth.Key{Grant: grant, Hash: oauth.Hash{3}}, Refresh: &old, Scopes: []string{"mcp"}}))
	w.clock.Add(25 * time.Hour)
	if !w.Apps.Over(idle) {
		t.Error("an app without a user lasts longer than a day")
	}
	w.must(w.Sweep())
	if _, err := w.Apps.Get(idle.ID); err == nil {
		t.Error("an app without a user was not swept")
	}
	// each use has it last on
	for i := range 4 {
		w.clock.Add(60 * 24 * time.Hour)
		w.must(w.Sweep())
		next := oauth.Key{Grant: grant, Family: oauth.Hash{9}, Hash: oauth.Hash{byte(10 + i)}}
		w.must(w.Grants.Rotate(by, old, oauth.Tokens{Access: oauth.Key{Grant: grant, Hash: oauth.Hash{byte(20 + i)}}, Refresh: &next, Scopes: []string{"mcp"}}))
		old = next
	}
	w.clock.Add(91 * 24 * time.Hour)
	if _, err := w.Grants.ByRefresh(old); !errors.Is(err, oauth.ErrNoGrant) {
		t.Errorf("after 91 days: got %v", err)
	}
	w.must(w.Sweep())
	if _, err := w.Apps.Get(used.ID); err == nil {
		t.Error("an app that is not used any more was not swept")
	}
}

// TestManyRegister: one address cannot have many apps that nobody uses, and many
// addresses cannot keep others from registering for long.
func TestManyRegister(t *testing.T) {
	w := newWorld(t)
	n := oauth.NewApp{Name: "x", Kind: oauth.Public}
	for range 20 {
		_, _, err := w.register("192.0.2.1", n)
		w.must(err)
	}
	if _, _, err := w.register("192.0.2.1", n); !errors.Is(err, oauth.ErrFull) {
		t.Errorf("the 21st of an address: got %v", err)
	}
	for i := range 980 {
		_, _, err := w.register(fmt.Sprintf("198.51.%d.1", i/20), n)
		w.must(err)
	}
	if _, _, err := w.register("203.0.113.1", n); !errors.Is(err, oauth.ErrFull) {
		t.Errorf("the 1001st: got %v", err)
	}
	w.clock.Add(11 * time.Minute)
	_, _, err := w.register("203.0.113.1", n)
	w.must(err)
	all, err := w.Apps.All()
	w.must(err)
	if len(all) != 1001 { // with the one that came with the program
		t.Errorf("there are %d apps", len(all))
	}
	if _, _, err := w.Apps.Create(identity.Operator, n); err != nil {
		t.Errorf("an admin cannot make an app beside: %v", err)
	}
}
