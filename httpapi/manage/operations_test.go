package manage_test

import (
	"context"
	"errors"
	"testing"

	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// repositories has one, kiln, and makes every change.
type repositories struct{}

func (repositories) List(context.Context) ([]*store.Repository, error) {
	return []*store.Repository{{Name: "kiln"}}, nil
}

func (repositories) Add(_ context.Context, source string) (*store.Repository, error) {
	return &store.Repository{Name: "kiln", Source: source}, nil
}
func (r repositories) AddNamed(ctx context.Context, source string) (*store.Repository, error) {
	return r.Add(ctx, source)
}
func (repositories) Syncing() []manage.Syncing            { return nil }
func (repositories) Remove(context.Context, string) error { return nil }
func (repositories) ChangeFacts(context.Context, string, store.FactsChange) (*store.Repository, error) {
	return &store.Repository{Name: "kiln"}, nil
}
func (repositories) LastSync(context.Context, *store.Repository) manage.LastSync {
	return manage.LastSync{}
}
func (repositories) Refresh(string)       {}
func (repositories) Reindex(string) error { return nil }

// world is a store with the users ann, bob and root, of whom root is site admin, a
// token of ann's and the organisation lab, which ann is a member of.
type world struct {
	manage.Operations
	users map[string]*identity.User
	token uint32
	org   uint32
}

func newWorld(t *testing.T) *world {
	t.Helper()
	kit := worldtest.InMemory(t, worldtest.Options{Identity: identity.Options{Tokens: identity.TokenPolicy{NoExpiry: true}}})
	reg := kit.Registry
	w := &world{Operations: manage.Operations{
		Actor: auth.OperatorActor(), Registry: reg, Apps: oauth.Open(kit.Store, reg, oauth.Options{}), Repositories: repositories{},
	}, users: map[string]*identity.User{}}
	for _, name := range []string{"ann", "bob", "root"} {
		var err error
		if w.users[name], _, err = w.CreateUser(t.Context(), identity.NewUser{Name: name, SiteAdmin: name == "root"}, ""); err != nil {
			t.Fatal(err)
		}
	}
	_, token, err := reg.CreateToken(identity.Operator, identity.NewToken{User: w.users["ann"].ID, Scopes: []string{identity.ScopeAll}})
	if err != nil {
		t.Fatal(err)
	}
	lab, err := w.CreateOrg("lab", "")
	if err == nil {
		err = w.AddMember(lab.ID, "ann")
	}
	if err != nil {
		t.Fatal(err)
	}
	w.token, w.org = token.ID, lab.ID
	return w
}

// as has the operations of an actor: a user, the operator, or nobody for "".
func (w *world) as(name string) *manage.Operations {
	o := w.Operations
	switch u := w.users[name]; {
	case name == "operator":
	case u == nil:
		o.Actor = &auth.Actor{}
	default:
		o.Actor = &auth.Actor{User: u}
		if name == "ann" {
			o.Actor.Orgs = []uint32{w.org}
		}
	}
	return &o
}

// Each operation is tried by each actor on a store of its own.
func TestWhoMay(t *testing.T) {
	locked, name := true, "Ann"
	notAdmin := map[string]error{"": auth.ErrNotSignedIn, "ann": auth.ErrNotSiteAdmin, "bob": auth.ErrNotSiteAdmin}
	notAnn := map[string]error{"": auth.ErrNotSelf, "bob": auth.ErrNotSelf}
	notMember := map[string]error{"": store.ErrNotFound, "bob": auth.ErrNotMember}
	for _, c := range []struct {
		what    string
		refused map[string]error
		do      func(o *manage.Operations, w *world) error
	}{
		// users
		{"create a user", notAdmin, func(o *manage.Operations, _ *world) error {
			_, _, err := o.CreateUser(t.Context(), identity.NewUser{Name: "eve"}, "")
			return err
		}},
		{"rename ann", notAnn, func(o *manage.Operations, w *world) error {
			_, err := o.ChangeUser(w.users["ann"].ID, identity.UserChange{DisplayName: &name})
			return err
		}},
		{"lock ann", notAdmin, func(o *manage.Operations, w *world) error {
			_, err := o.ChangeUser(w.users["ann"].ID, identity.UserChange{Locked: &locked})
			return err
		}},
		{"delete ann", notAdmin, func(o *manage.Operations, w *world) error { return o.DeleteUser(w.users["ann"].ID) }},
		{"delete root", map[string]error{
			"": auth.ErrNotSignedIn, "ann": auth.ErrNotSiteAdmin, "bob": auth.ErrNotSiteAdmin, "root": manage.SelfError("unable to delete current user"),
		}, func(o *manage.Operations, w *world) error { return o.DeleteUser(w.users["root"].ID) }},
		{"reset the password of ann", notAdmin, func(o *manage.Operations, w *world) error {
			_, err := o.SetPassword(t.Context(), w.users["ann"].ID, "")
			return err
		}},
		{"read the details of ann", notAnn, func(o *manage.Operations, w *world) error {
			_, err := o.Details(w.users["ann"].ID, 0)
			return err
		}},

		// tokens
		{"list the tokens of ann", notAnn, func(o *manage.Operations, w *world) error {
			_, err := o.Tokens(w.users["ann"].ID)
			return err
		}},
		{"list all tokens", map[string]error{"": auth.ErrNotSelf, "ann": auth.ErrNotSelf, "bob": auth.ErrNotSelf}, func(o *manage.Operations, _ *world) error {
			_, err := o.Tokens(0)
			return err
		}},
		{"revoke the token of ann", map[string]error{"": manage.ErrNoToken, "bob": manage.ErrNoToken}, func(o *manage.Operations, w *world) error {
			return o.RevokeToken(w.token)
		}},

		// organisations
		{"create an organisation", map[string]error{"": auth.ErrNotSignedIn}, func(o *manage.Operations, _ *world) error {
			_, err := o.CreateOrg("team", "")
			return err
		}},
		{"delete lab", notAdmin, func(o *manage.Operations, w *world) error { return o.DeleteOrg(w.org) }},
		{"add bob to lab", notMember, func(o *manage.Operations, w *world) error { return o.AddMember(w.org, "bob") }},
		{"remove ann from lab", notMember, func(o *manage.Operations, w *world) error { return o.RemoveMember(w.org, w.users["ann"].ID) }},

		// apps
		{"create an app", notAdmin, func(o *manage.Operations, _ *world) error {
			_, err := o.CreateApp(oauth.NewApp{Name: "cli", Kind: oauth.Public}, "")
			return err
		}},
		{"switch an app off", notAdmin, func(o *manage.Operations, _ *world) error { return o.DisableApp(oauth.CommandLine, true) }},

		// repositories
		{"add a repository", notAdmin, func(o *manage.Operations, _ *world) error {
			_, err := o.AddRepository(t.Context(), "/src/kiln")
			return err
		}},
		{"add a repository by its address", notAdmin, func(o *manage.Operations, _ *world) error {
			_, err := o.AddNamedRepository(t.Context(), "https://git.example.org/kiln")
			return err
		}},
		{"remove a repository", notAdmin, func(o *manage.Operations, _ *world) error { return o.RemoveRepository(t.Context(), "kiln") }},
		{"put metadata", notAdmin, func(o *manage.Operations, _ *world) error {
			return o.PutMetadata(t.Context(), &store.Repository{Name: "kiln"}, "team", nil, false)
		}},
		{"sync a repository", notAdmin, func(o *manage.Operations, _ *world) error { return o.SyncRepository(t.Context(), "kiln") }},
		{"reindex a repository", notAdmin, func(o *manage.Operations, _ *world) error { return o.ReindexRepository("kiln") }},
	} {
		for _, actor := range []string{"", "ann", "bob", "root", "operator"} {
			w := newWorld(t)
			before := len(audit(t, w))
			err := c.do(w.as(actor), w)
			if want := c.refused[actor]; !errors.Is(err, want) {
				t.Errorf("%s as %q: got %v, want %v", c.what, actor, err, want)
			}
			if c.refused[actor] != nil && len(audit(t, w)) != before {
				t.Errorf("%s as %q: refused, and the audit log tells of it as done", c.what, actor)
			}
		}
	}
}

func audit(t *testing.T, w *world) []identity.Entry {
	t.Helper()
	entries, err := w.Registry.Audit(identity.AuditFilter{})
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// A password that is refused leaves no user.
func TestCreateUserWithBadPassword(t *testing.T) {
	w := newWorld(t)
	if _, _, err := w.CreateUser(t.Context(), identity.NewUser{Name: "eve"}, "short"); err == nil {
		t.Fatal("the password was taken")
	}
	if _, err := w.Registry.UserNamed("eve"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("eve: got %v, want that there is no such user", err)
	}
}
