package identity_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store/identity"
)

// lines writes entries as text, oldest first.
func lines(entries []identity.Entry) string {
	var b strings.Builder
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		who := e.User
		if e.Operator {
			who = "(operator)"
		}
		if e.Real != "" {
			who += " by " + e.Real
		}
		fmt.Fprintf(&b, "%s: %s %s %s\n", who, e.Action, e.Target, e.Detail)
	}
	return b.String()
}

func TestAudit(t *testing.T) {
	w := newWorld(t, identity.Options{})
	root := w.admin(t, "root")
	ann := w.signed(t, "ann")
	text, tok := w.token(t, root, identity.ScopeSudo)
	as := identity.Author{UserID: ann.ID, User: "ann", RealID: root.ID, Real: "root", Via: "token 1"}
	for range 3 { // logged once
		if err := w.LogSudo(as, tok.ID, ann.ID); err != nil {
			t.Fatal(err)
		}
	}
	lab, err := w.CreateOrg(as, "lab", "")
	if err != nil {
		t.Fatal(err)
	}
	w.signIn(t, "ann")
	_, _, _ = w.SignIn(t.Context(), from, "ann", wrong)
	_, _, _ = w.SignIn(t.Context(), from, "typed-"+right, wrong) // not logged
	name, yes := "anne", true
	if err := errors.Join(
		w.RemoveMember(author(root), lab.ID, ann.ID),
		w.RevokeTokenText(author(root), text),
		w.SignOut(author(ann), ann.ID),
		w.DeleteOrg(author(root), lab.ID),
		w.Log(author(root), "repository.add", "repository:kiln", "https://example.org/kiln"),
	); err != nil {
		t.Fatal(err)
	}
	if _, err := w.ChangeUser(author(root), ann.ID, identity.UserChange{Name: &name, Locked: &yes}); err != nil {
		t.Fatal(err)
	}
	// what fails is not logged as done
	_, _ = w.CreateUser(author(root), identity.NewUser{Name: "-"})
	_ = w.DeleteUser(author(root), 99)
	entries, err := w.Audit(identity.AuditFilter{})
	want := `(operator): user.create user:root site admin
(operator): user.create user:ann 
(operator): password.set user:ann 
root: token.create token:1 of user:root, scopes [site-admin:sudo user:all]
ann by root: token.sudo user:ann token 1
ann by root: org.create org:lab 
ann: session.sign-in user:ann 
: session.sign-in-failed user:ann 
root: org.member-remove org:lab user:ann
root: token.revoke token:1 of user:root, scopes [site-admin:sudo user:all]
ann: session.sign-out user:ann 
root: org.delete org:lab id 1
root: repository.add repository:kiln https://example.org/kiln
root: user.update user:anne name was ann, locked: true
`
	if got := lines(entries); err != nil || got != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
	}
	if strings.Contains(fmt.Sprintf("%+v", entries), right) {
		t.Error("the log holds what was typed as a password")
	}
}

func TestAuditFilters(t *testing.T) {
	w := newWorld(t, identity.Options{AuditEntries: 100, AuditAge: 30 * day})
	ann, bob := w.user(t, "ann"), w.user(t, "bob")
	for i := range 20 {
		w.clock.Add(time.Hour)
		by := author(ann)
		if i%2 == 1 {
			by = author(bob)
		}
		if err := w.Log(by, "x", fmt.Sprint(i), ""); err != nil {
			t.Fatal(err)
		}
	}
	count := func(f identity.AuditFilter) (n int, first string) {
		t.Helper()
		entries, err := w.Audit(f)
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) > 0 {
			first = entries[0].Target
		}
		return len(entries), first
	}
	for _, c := range []struct {
		f     identity.AuditFilter
		n     int
		first string
	}{
		{identity.AuditFilter{}, 22, "19"},
		{identity.AuditFilter{Limit: 3}, 3, "19"},
		{identity.AuditFilter{Limit: 3, Before: 20}, 3, "16"}, // entry 19 is the 17th of them
		{identity.AuditFilter{Since: w.clock.Now().Add(-4 * time.Hour)}, 5, "19"},
		{identity.AuditFilter{User: ann.ID}, 11, "18"}, // with her creation
		{identity.AuditFilter{User: bob.ID, Limit: 2}, 2, "19"},
	} {
		if n, first := count(c.f); n != c.n || first != c.first {
			t.Errorf("%+v: got %d from %q, want %d from %q", c.f, n, first, c.n, c.first)
		}
	}
	// what was done to a user is found, whatever their name was then
	name := "anna"
	if _, err := w.ChangeUser(author(bob), ann.ID, identity.UserChange{Name: &name}); err != nil {
		t.Fatal(err)
	}
	_, tok := w.token(t, ann)
	if err := errors.Join(w.RevokeToken(author(bob), tok.ID), w.DeleteUser(author(bob), ann.ID)); err != nil {
		t.Fatal(err)
	}
	entries, err := w.Audit(identity.AuditFilter{User: ann.ID, Limit: 4})
	if got, want := lines(entries), "bob: user.update user:anna name was ann\nann: token.create token:1 of user:anna, scopes [user:all]\n"+
		"bob: token.revoke token:1 of user:anna, scopes [user:all]\nbob: user.delete user:anna id 1\n"; err != nil || got != want {
		t.Errorf("of who is gone: got %v\n%swant\n%s", err, got, want)
	}

	// bounded by number, then by age
	for range 150 {
		if err := w.Log(author(ann), "y", "", ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Sweep(); err != nil {
		t.Fatal(err)
	}
	if n, _ := count(identity.AuditFilter{Limit: 1000}); n != 100 {
		t.Errorf("after a sweep: %d entries, want 100", n)
	}
	w.clock.Add(31 * day)
	if err := w.Log(author(ann), "z", "last", ""); err != nil {
		t.Fatal(err)
	}
	if err := w.Sweep(); err != nil {
		t.Fatal(err)
	}
	if n, first := count(identity.AuditFilter{}); n != 1 || first != "last" {
		t.Errorf("after a month: %d entries from %q, want the last only", n, first)
	}
	// an entry's number is never given again
	w.crash(t, identity.Options{})
	if err := w.Log(author(ann), "z", "next", ""); err != nil {
		t.Fatal(err)
	}
	entries, err = w.Audit(identity.AuditFilter{})
	if err != nil || len(entries) != 2 || entries[0].ID != entries[1].ID+1 {
		t.Errorf("got %+v, %v", entries, err)
	}
}
