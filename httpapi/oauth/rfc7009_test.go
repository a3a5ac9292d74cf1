package oauth_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/oauth"
	"github.com/trawlsearch/trawl/store/identity"
	kept "github.com/trawlsearch/trawl/store/oauth"
)

// RFC 7009, section 2: either token ends both, whatever the hint; only for the
// app that has them; one that is not good is no error.
func TestRevocation(t *testing.T) {
	for _, hint := range []string{"", "access_token", "refresh_token", "nonsense"} {
		for _, which := range []string{"access", "refresh"} {
			w := newWorld(t)
			access, refresh := w.tokens()
			token := map[string]string{"access": access, "refresh": refresh}[which]
			values := []string{"token", token}
			if hint != "" {
				values = append(values, "token_type_hint", hint)
			}
			w.refused("without the secret", w.post(oauth.RevokePath, append(values, "client_id", w.web.ID)...), 401, "invalid_client")
			w.refused("by another app", w.post(oauth.RevokePath, append(values, "client_id", w.native.ID)...), 400, "unauthorized_client")
			if w.who(access) != "ann" {
				t.Fatal("the token was revoked by another client")
			}
			for range 2 {
				if got := w.post(oauth.RevokePath, w.asWeb(values...)...); got.status != 200 || got.text != "" || got.header.Get("Cache-Control") != "no-store" {
					t.Errorf("%s token, hint %q: %d %q", which, hint, got.status, got.text)
				}
			}
			w.logged(kept.ActionGrantRevoke, "app:"+w.web.ID, "")
			if w.who(access) != "" {
				t.Errorf("%s token, hint %q: the access token is still good", which, hint)
			}
			w.refused("refresh", w.post(oauth.TokenPath, w.asWeb("grant_type", "refresh_token", "refresh_token", refresh)...), 400, "invalid_grant")
			w.crash()
			if w.who(access) != "" {
				t.Errorf("%s token, hint %q: the access token is good again after a crash", which, hint)
			}
		}
	}
	w := newWorld(t)
	w.refused("no token", w.post(oauth.RevokePath, w.asWeb()...), 400, "invalid_request")
	for _, text := range []string{"x", "sgo_at_x", kept.CommandLine} {
		if got := w.post(oauth.RevokePath, w.asWeb("token", text)...); got.status != 200 {
			t.Errorf("revoking %q: %d %s", text, got.status, got.text)
		}
	}
}

// A running request ends when its token does, by whatever way.
func TestRequestsAtWorkEnd(t *testing.T) {
	yes := true
	for name, end := range map[string]func(w *world, access string) error{
		"revoked by the app": func(w *world, access string) error {
			w.post(oauth.RevokePath, w.asWeb("token", access)...)
			return nil
		},
		"revoked by the user": func(w *world, _ string) error { return w.book.Grants.RevokeApp(identity.Operator, w.ann.ID, w.web.ID) },
		"the app deleted":     func(w *world, _ string) error { return w.book.Apps.Delete(identity.Operator, w.web.ID) },
		"the app off":         func(w *world, _ string) error { return w.book.Apps.SetDisabled(identity.Operator, w.web.ID, true) },
		"the user deleted":    func(w *world, _ string) error { return w.Registry.DeleteUser(identity.Operator, w.ann.ID) },
		"the user locked": func(w *world, _ string) error {
			_, err := w.Registry.ChangeUser(identity.Operator, w.ann.ID, identity.UserChange{Locked: &yes})
			return err
		},
	} {
		w := newWorld(t)
		access, _ := w.tokens()
		r := httptest.NewRequest("GET", base+whoPath, nil)
		r.Header.Set("Authorization", "Bearer "+access)
		in, release, err := w.Gate.Admit(httptest.NewRecorder(), r, auth.ForSearch)
		w.Must(err)
		w.Must(end(w, access))
		select {
		case <-in.Context().Done():
			if context.Cause(in.Context()) != auth.ErrEnded {
				t.Errorf("%s: ended by %v", name, context.Cause(in.Context()))
			}
		case <-time.After(30 * time.Second):
			t.Errorf("%s: the request at work goes on for 30 s", name)
		}
		release()
	}
}

// RFC 7662, section 2: who may ask, and about what.
func TestIntrospection(t *testing.T) {
	w := newWorld(t)
	access, refresh := w.tokens()
	ask := func(values ...string) answer { return w.post(oauth.IntrospectPath, values...) }
	got := ask(w.asWeb("token", access)...)
	out := got.json(t)
	for name, want := range map[string]any{
		"active": true, "scope": "user:all offline_access", "client_id": w.web.ID, "username": "ann", "sub": "1", "token_type": "Bearer", "iss": base,
		"exp": float64(w.clock.Now().Add(time.Hour).Unix()),
	} {
		if out[name] != want {
			t.Errorf("access token: %s is %v, want %v", name, out[name], want)
		}
	}
	if out := ask(w.asWeb("token", refresh, "token_type_hint", "refresh_token")...).json(t); out["active"] != true || out["token_type"] != nil {
		t.Errorf("refresh token: %v", out)
	}
	// section 2.1 and 4: not for everybody, so that no client tries tokens
	w.refused("nobody", ask("token", access), 400, "invalid_request")
	w.refused("a public app", ask("token", access, "client_id", w.native.ID), 401, "invalid_client")
	w.refused("a wrong secret", ask("token", access, "client_id", w.web.ID, "client_secret", "x"), 401, "invalid_client")
	w.refused("no token", ask(w.asWeb()...), 400, "invalid_request")
	// section 2.2: nothing but inactive about all others
	inactive := func(what string, got answer) {
		t.Helper()
		if got.status != 200 || got.text != "{\"active\":false}\n" {
			t.Errorf("%s: %d %s", what, got.status, got.text)
		}
	}
	inactive("the token of another app", ask("token", access, "client_id", w.robot.ID, "client_secret", w.robotSecret))
	inactive("no token of ours", ask(w.asWeb("token", "x")...))
	w.clock.Add(kept.AccessLasts)
	inactive("an expired one", ask(w.asWeb("token", access)...))
	w.Must(w.book.Grants.RevokeApp(identity.Operator, w.ann.ID, w.web.ID))
	inactive("a revoked one", ask(w.asWeb("token", refresh)...))
	if got := w.ask("GET", oauth.IntrospectPath+"?token="+access, ""); got.status == http.StatusOK {
		t.Errorf("GET: %d %s", got.status, got.text)
	}
}
