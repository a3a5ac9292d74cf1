package auth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/identity"
)

// A request at work ends with its credential, however that ends.
func TestRunningRequestsEnd(t *testing.T) {
	yes := true
	for name, c := range map[string]struct {
		headers func(w *world) []string
		end     func(w *world) error
	}{
		"token revoked": {func(w *world) []string { return []string{"Authorization", "token " + w.creds["ann"]} },
			func(w *world) error { return w.reg.RevokeToken(identity.Operator, w.tokens["ann"].ID) }},
		"user deleted": {func(w *world) []string { return []string{"Authorization", "token " + w.creds["ann"]} },
			func(w *world) error { return w.reg.DeleteUser(identity.Operator, w.users["ann"].ID) }},
		"signed out": {func(w *world) []string {
			return []string{"Cookie", auth.CookieName + "=" + w.session, "X-Requested-With", "x"}
		},
			func(w *world) error { return w.reg.SignOut(identity.Operator, w.users["ann"].ID) }},
		"admin locked": {func(w *world) []string {
			return []string{"Authorization", `token-sudo user=ann,token="` + w.creds["sudo"] + `"`}
		},
			func(w *world) error {
				_, err := w.reg.ChangeUser(identity.Operator, w.users["root"].ID, identity.UserChange{Locked: &yes})
				return err
			}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, identity.Options{})
			in, release, err := w.Admit(httptest.NewRecorder(), request("GET", stream, c.headers(w)...), auth.ForSearch)
			if err != nil {
				t.Fatal(err)
			}
			defer release()
			other, releaseOther, err := w.Admit(httptest.NewRecorder(), request("GET", stream, "Authorization", "token "+w.creds["robot"]), auth.ForSearch)
			if err != nil {
				t.Fatal(err)
			}
			defer releaseOther()
			if in.Context().Err() != nil {
				t.Fatal("ended before its credential did")
			}
			if err := c.end(w); err != nil {
				t.Fatal(err)
			}
			if got := context.Cause(in.Context()); !errors.Is(got, auth.ErrEnded) {
				t.Errorf("after it: got %v, want ErrEnded", got)
			}
			if err := other.Context().Err(); err != nil {
				t.Errorf("the request of another: %v", err)
			}
		})
	}
}

// A request at work ends, too, when who asks may see or do less than before.
func TestRunningRequestsEndWithRights(t *testing.T) {
	no := false
	readers := func(texts ...string) func(w *world) error {
		return func(w *world) error { _, err := w.reg.SetReaders(identity.Operator, "vault", texts); return err }
	}
	for name, c := range map[string]struct {
		who    string // "" is anonymous
		change func(w *world) error
		ends   bool
	}{
		"out of an organisation":            {"ann", func(w *world) error { return w.reg.RemoveMember(identity.Operator, w.lab.ID, w.users["ann"].ID) }, true},
		"the organisation is gone":          {"ann", func(w *world) error { return w.reg.DeleteOrg(identity.Operator, w.lab.ID) }, true},
		"another user out of it":            {"ann", func(w *world) error { return w.reg.RemoveMember(identity.Operator, w.lab.ID, w.users["locked"].ID) }, false},
		"into an organisation":              {"robot", func(w *world) error { return w.reg.AddMember(identity.Operator, w.lab.ID, w.users["robot"].ID) }, false},
		"no site admin any more":            {"root", func(w *world) error { return change(w, "root", identity.UserChange{SiteAdmin: &no}) }, true},
		"anonymous access switched off":     {"", policy(auth.Policy{Anonymous: auth.AnonymousNo}), true},
		"anonymous access as it was":        {"", policy(auth.Policy{Anonymous: auth.AnonymousYes}), false},
		"no anonymous access for others":    {"ann", policy(auth.Policy{Anonymous: auth.AnonymousNo}), false},
		"another name":                      {"ann", func(w *world) error { name := "anna"; return change(w, "ann", identity.UserChange{Name: &name}) }, false},
		"a repository hidden":               {"ann", readers("user:root"), true},
		"a repository hidden from nobody":   {"", readers("user:root"), true},
		"a repository hidden from others":   {"ann", readers("org:lab"), false},
		"a repository hidden from an admin": {"root", readers("nobody"), false},
		"a repository shown":                {"ann", readers("everyone"), false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, identity.Options{})
			w.Anonymous = auth.AnonymousYes
			in, release, err := w.Admit(httptest.NewRecorder(), w.from(c.who), auth.ForSearch)
			if err != nil {
				t.Fatal(err)
			}
			defer release()
			if err := c.change(w); err != nil {
				t.Fatal(err)
			}
			if got := errors.Is(context.Cause(in.Context()), auth.ErrEnded); got != c.ends {
				t.Errorf("ended: got %t (%v), want %t", got, context.Cause(in.Context()), c.ends)
			}
		})
	}
}

func policy(p auth.Policy) func(w *world) error {
	return func(w *world) error {
		w.SetPolicy(p)
		return nil
	}
}

func change(w *world, name string, c identity.UserChange) error {
	_, err := w.reg.ChangeUser(identity.Operator, w.users[name].ID, c)
	return err
}

// from is a search of a user, anonymous for "".
func (w *world) from(name string) *http.Request {
	if name == "" {
		return request("GET", stream)
	}
	return request("GET", stream, "Authorization", "token "+w.creds[name])
}

func TestRunningRequestEndsWhenTheTokenExpires(t *testing.T) {
	w := newWorld(t, identity.Options{})
	w.Bearers = fakeBearers{b: auth.Bearer{User: w.users["ann"].ID, Scopes: []string{"user:all"}, Expires: time.Now().Add(20 * time.Millisecond)}}
	in, release, err := w.Admit(httptest.NewRecorder(), request("GET", stream, "Authorization", "Bearer good"), auth.ForSearch)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	select {
	case <-in.Context().Done():
	case <-time.After(30 * time.Second):
		t.Fatal("the request goes on after its token has expired")
	}
}
