package identity_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// outside signs a user of another service in.
func (w *world) outside(t *testing.T, x identity.External, p identity.ExternalPolicy) (*identity.User, error) {
	t.Helper()
	if x.Provider == "" {
		x.Provider = "corp"
	}
	secret, u, err := w.SignInExternal(t.Context(), identity.Author{Address: "192.0.2.1"}, x, p)
	if err != nil {
		return nil, err
	}
	if _, of, err := w.CheckSession(secret); err != nil || of.ID != u.ID {
		t.Errorf("%+v: the session is of %v, %v", x, of, err)
	}
	return u, nil
}

var everybody = identity.ExternalPolicy{Create: true}

func TestSignInExternal(t *testing.T) {
	w := newWorld(t, identity.Options{})
	if _, err := w.outside(t, identity.External{Subject: "1", Name: "eve"}, everybody); err == nil || w.Used() {
		t.Errorf("before there is a user: got %v", err)
	}
	root := w.admin(t, "root")
	first, err := w.outside(t, identity.External{Subject: "1", Name: "Ann Lee", DisplayName: "Ann", Email: "ann@corp.example"}, everybody)
	check(t, "first", err, "")
	if first.Name != "Ann-Lee" || first.SiteAdmin || first.DisplayName != "Ann" || first.PrimaryEmail() != "ann@corp.example" {
		t.Errorf("got %+v", first)
	}
	// the service's own name for the user counts, and nothing else
	again, err := w.outside(t, identity.External{Subject: "1", Name: "root", Email: "root@corp.example"}, identity.ExternalPolicy{})
	check(t, "again", err, "")
	if again.ID != first.ID || again.Name != "Ann-Lee" {
		t.Errorf("again: got %+v", again)
	}
	for _, name := range []string{"root", "ROOT", "ro/ot", "root@evil.example", "ann-lee", "", "-", "..", "a..b", "\u202e", strings.Repeat("x", 300), "sgs; DROP"} {
		u, err := w.outside(t, identity.External{Subject: "name " + name[:min(len(name), 20)], Name: name}, everybody)
		check(t, name, err, "")
		if u.ID == root.ID || u.ID == first.ID || u.SiteAdmin || identity.CheckName(u.Name) != nil {
			t.Errorf("the name %.30q is %+v", name, u)
		}
	}
	other, err := w.outside(t, identity.External{Provider: "other", Subject: "1", Name: "Ann Lee"}, everybody)
	check(t, "other service", err, "")
	if other.ID == first.ID || other.Name != "Ann-Lee-3" {
		t.Errorf("the same subject of another service: got %+v", other)
	}
	_, err = w.outside(t, identity.External{Subject: "9"}, identity.ExternalPolicy{})
	check(t, "no account", err, "you have no account here")
	_, err = w.outside(t, identity.External{}, everybody)
	check(t, "no subject", err, "nothing that can be kept")
	locked := true
	_, err = w.ChangeUser(identity.Operator, first.ID, identity.UserChange{Locked: &locked})
	check(t, "lock", err, "")
	_, err = w.outside(t, identity.External{Subject: "1"}, everybody)
	check(t, "locked", err, "is locked")
	// a deleted account is another's after that
	check(t, "delete", w.DeleteUser(identity.Operator, first.ID), "")
	after, err := w.outside(t, identity.External{Subject: "1", Name: "Ann Lee"}, everybody)
	check(t, "after the account was deleted", err, "")
	if after.ID == first.ID {
		t.Errorf("got %+v", after)
	}
	check(t, "verify", identity.Verify(w.st, func(f store.FaultyRecord) {
		if !f.Stray { // sessions end with their user
			t.Errorf("damage: %+v", f)
		}
	}), "")
}

// An address leads to an account only where the settings trust the service with it.
func TestLinkByAddress(t *testing.T) {
	w := newWorld(t, identity.Options{})
	ann, err := w.CreateUser(identity.Operator, identity.NewUser{Name: "ann", Email: "ann@corp.example", EmailVerified: true})
	check(t, "ann", err, "")
	_, err = w.CreateUser(identity.Operator, identity.NewUser{Name: "root", Email: "root@corp.example", EmailVerified: true, SiteAdmin: true})
	check(t, "root", err, "")
	_, err = w.CreateUser(identity.Operator, identity.NewUser{Name: "bob", Email: "bob@corp.example"})
	check(t, "bob", err, "")
	link := identity.ExternalPolicy{Create: true, Link: true}
	_, err = w.outside(t, identity.External{Subject: "1", Email: "ann@corp.example"}, everybody)
	check(t, "not trusted", err, "which does not sign in by corp")
	_, err = w.outside(t, identity.External{Subject: "2", Email: "ROOT@corp.example"}, link)
	check(t, "a site admin", err, "which does not sign in by corp")
	u, err := w.outside(t, identity.External{Subject: "1", Email: "Ann@corp.example"}, link)
	check(t, "trusted", err, "")
	if u.ID != ann.ID {
		t.Errorf("got %+v", u)
	}
	// an address that bob has not verified is not his
	u, err = w.outside(t, identity.External{Subject: "3", Name: "bob", Email: "bob@corp.example"}, link)
	check(t, "an address that is not verified", err, "")
	if u.Name != "bob-2" {
		t.Errorf("got %+v", u)
	}
}

func TestGroupsAreOrganisations(t *testing.T) {
	w := newWorld(t, identity.Options{})
	w.admin(t, "root")
	ids := map[string]uint32{}
	for _, name := range []string{"lab", "ops", "own"} {
		o, err := w.CreateOrg(identity.Operator, name, "")
		check(t, name, err, "")
		ids[name] = o.ID
	}
	p := identity.ExternalPolicy{Create: true, Orgs: map[string]string{"kilns": "LAB", "chemists": "lab", "admins": "ops", "new": "not-made"}}
	var u *identity.User
	for _, c := range []struct {
		groups []string
		want   string
	}{{[]string{"kilns", "new", "lab"}, "[lab]"}, {[]string{"chemists", "admins"}, "[lab ops]"}, {[]string{"own"}, "[own]"}, {nil, "[own]"}} {
		var err error
		u, err = w.outside(t, identity.External{Subject: "1", Name: "ann", Groups: c.groups}, p)
		check(t, fmt.Sprint(c.groups), err, "")
		if len(c.groups) == 2 { // what the settings do not name stays as it is
			check(t, "own", w.AddMember(identity.Operator, ids["own"], u.ID), "")
		}
		of, err := w.OrgsOf(u.ID)
		check(t, "orgs", err, "")
		got := []string{}
		for _, id := range of {
			o, err := w.Org(id)
			check(t, "org", err, "")
			got = append(got, o.Name)
		}
		if c.groups != nil && c.groups[0] == "chemists" {
			got = got[:2]
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%v: got %v, want %s", c.groups, got, c.want)
		}
	}
}

// A name of the configuration file is never given to a user of another service.
func TestReservedNameIsNotGiven(t *testing.T) {
	w := newWorld(t, identity.Options{Declared: map[string][]string{"vault": {"user:boss"}}})
	w.admin(t, "root")
	u, err := w.outside(t, identity.External{Subject: "1", Name: "boss"}, everybody)
	check(t, "boss", err, "")
	if u.Name != "boss-2" {
		t.Errorf("got %+v", u)
	}
	var rule *identity.RuleError
	if _, err := w.outside(t, identity.External{Subject: strings.Repeat("x", 256)}, everybody); !errors.As(err, &rule) {
		t.Errorf("got %v", err)
	}
}

func TestExternalSignInsAreCounted(t *testing.T) {
	var got []identity.SignInOutcome
	w := newWorld(t, identity.Options{Tried: func(o identity.SignInOutcome) { got = append(got, o) }})
	w.admin(t, "root")
	for _, p := range []identity.ExternalPolicy{everybody, {}} {
		_, _ = w.outside(t, identity.External{Subject: fmt.Sprint(p.Create), Name: "ann"}, p)
	}
	if fmt.Sprint(got) != "[done refused]" {
		t.Errorf("got %v", got)
	}
}
