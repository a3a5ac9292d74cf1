package identity_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

const day = 24 * time.Hour

func days(n int) *time.Duration {
	d := time.Duration(n) * day
	return &d
}

// token makes a token that is good for a week.
func (w *world) token(t testing.TB, u *identity.User, scopes ...string) (string, *identity.Token) {
	t.Helper()
	text, tok, err := w.CreateToken(author(u), identity.NewToken{User: u.ID, Scopes: append(scopes, identity.ScopeAll), Lifetime: days(7)})
	if err != nil {
		t.Fatal(err)
	}
	return text, tok
}

func TestTokenText(t *testing.T) {
	w := newWorld(t, identity.Options{})
	ann := w.user(t, "ann")
	text, tok := w.token(t, ann)
	if !regexp.MustCompile(`^sgp_local_[0-9a-f]{40}$`).MatchString(text) {
		t.Fatalf("got the token %q", text)
	}
	digits := strings.TrimPrefix(text, "sgp_local_")
	flipped := "0"
	if digits[39] == '0' {
		flipped = "1"
	}
	for _, c := range []struct {
		text string
		good bool
	}{
		// all forms of one token
		{text, true}, {"sgp_" + digits, true}, {"local_" + digits, true}, {digits, true}, {"sgph_local_" + digits, true},
		{"sgp_0123456789abcdef_" + digits, true}, {"sgp_local_" + strings.ToUpper(digits), true},
		// others
		{digits[:39] + flipped, false}, {digits[:39], false}, {digits + "0", false}, {"sgp_other_" + digits, false},
		{"SGP_local_" + digits, false}, {" " + text, false}, {text + "\n", false}, {text + "\x00", false}, {"", false},
		{"sgp_local_", false}, {"slk_" + digits, false}, {"sgp_0123456789abcde_" + digits, false}, {strings.Repeat("a", 1<<20), false},
	} {
		got, u, err := w.CheckToken(c.text)
		if c.good && (err != nil || got.ID != tok.ID || u.ID != ann.ID) || !c.good && !errors.Is(err, identity.ErrNoCredential) {
			t.Errorf("CheckToken(%.60q): got %v, %v; want good %t", c.text, got, err, c.good)
		}
	}
}

// What is on disk does not hold the secret, in any form.
func TestTokenIsKeptHashed(t *testing.T) {
	w := newWorld(t, identity.Options{})
	ann := w.user(t, "ann")
	text, _ := w.token(t, ann)
	code, err := w.ResetPassword(identity.Operator, ann.ID)
	if err != nil {
		t.Fatal(err)
	}
	for kind := range 256 {
		err := w.st.EachRecord(store.RecordRange{Kind: store.RecordKind(kind)}, func(id, value []byte) (bool, error) {
			for _, secret := range []string{text, strings.TrimPrefix(text, "sgp_local_"), code} {
				if bytes.Contains(value, []byte(secret)) || bytes.Contains(id, []byte(secret)) {
					t.Errorf("record %c %x holds a secret: %s", kind, id, value)
				}
			}
			return true, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestTokenEnds(t *testing.T) {
	ends := map[string]func(w *world, u *identity.User, text string, tok *identity.Token) error{
		"revoked by id": func(w *world, u *identity.User, _ string, tok *identity.Token) error {
			return w.RevokeToken(author(u), tok.ID)
		},
		"revoked by text": func(w *world, u *identity.User, text string, _ *identity.Token) error {
			return w.RevokeTokenText(author(u), text)
		},
		"user deleted": func(w *world, u *identity.User, _ string, _ *identity.Token) error {
			return w.DeleteUser(identity.Operator, u.ID)
		},
		"user locked": func(w *world, u *identity.User, _ string, _ *identity.Token) error {
			yes := true
			_, err := w.ChangeUser(identity.Operator, u.ID, identity.UserChange{Locked: &yes})
			return err
		},
		"expired": func(w *world, _ *identity.User, _ string, _ *identity.Token) error { w.clock.Add(7 * day); return nil },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, identity.Options{})
			ann := w.user(t, "ann")
			text, tok := w.token(t, ann)
			w.clock.Add(7*day - time.Second)
			if _, _, err := w.CheckToken(text); err != nil {
				t.Fatalf("before: %v", err)
			}
			w.clock.Add(-day)
			w.NoteUse(ann.ID, tok.ID)
			if err := end(w, ann, text, tok); err != nil {
				t.Fatal(err)
			}
			for _, when := range []string{"at once", "after its use was written", "after a crash", "after a sweep"} {
				switch when {
				case "after its use was written":
					if err := w.WriteUses(); err != nil {
						t.Fatal(err)
					}
				case "after a crash":
					w.crash(t, identity.Options{})
				case "after a sweep":
					if err := w.Sweep(); err != nil {
						t.Fatal(err)
					}
				}
				if _, _, err := w.CheckToken(text); !errors.Is(err, identity.ErrNoCredential) {
					t.Errorf("%s: got %v, want ErrNoCredential", when, err)
				}
				if all, err := w.Tokens(0); len(all) > 0 && name != "user locked" || err != nil {
					t.Errorf("%s: Tokens: got %d, %v; want none", when, len(all), err)
				}
			}
			if w.ended.Load() == 0 && name != "expired" {
				t.Error("the end of a credential was not reported")
			}
		})
	}
}

func TestTokenRevokedTwice(t *testing.T) {
	w := newWorld(t, identity.Options{})
	ann := w.user(t, "ann")
	text, tok := w.token(t, ann)
	check(t, "once", w.RevokeToken(author(ann), tok.ID), "")
	check(t, "again", w.RevokeToken(author(ann), tok.ID), "not found")
	check(t, "again by text", w.RevokeTokenText(author(ann), text), "not found")
	check(t, "an unknown one", w.RevokeToken(author(ann), 99), "not found")
	if got, err := w.Token(tok.ID); err != nil || got.Revoked.IsZero() {
		t.Errorf("what the log speaks of: got %+v, %v", got, err)
	}
	// Until the log speaks of it no more.
	w.clock.Add(400 * day)
	if err := w.Sweep(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Token(tok.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after the log was swept: %v, want ErrNotFound", err)
	}
}

func TestCreateToken(t *testing.T) {
	all, sudo := []string{identity.ScopeAll}, []string{identity.ScopeAll, identity.ScopeSudo}
	type request struct {
		by, for_ string // op is the operator
		n        identity.NewToken
	}
	tests := []struct {
		mode identity.TokenMode
		r    request
		want string
	}{
		// who, for whom
		{identity.TokensAll, request{"ann", "ann", identity.NewToken{Scopes: all, Lifetime: days(7)}}, ""},
		{identity.TokensAll, request{"ann", "bob", identity.NewToken{Scopes: all, Lifetime: days(7)}}, "must be authenticated as user with id 2"},
		{identity.TokensAll, request{"root", "bob", identity.NewToken{Scopes: all, Lifetime: days(7)}}, "must be authenticated as user with id 2"},
		{identity.TokensAll, request{"root", "robot", identity.NewToken{Scopes: all, Lifetime: days(7)}}, ""},
		{identity.TokensAll, request{"ann", "robot", identity.NewToken{Scopes: all, Lifetime: days(7)}}, "must be authenticated as user with id 4"},
		{identity.TokensAll, request{"op", "bob", identity.NewToken{Scopes: all, Lifetime: days(7)}}, ""},
		{identity.TokensAdmin, request{"ann", "ann", identity.NewToken{Scopes: all, Lifetime: days(7)}}, "Access token creation has been restricted to admin users. Contact an admin user to create a new access token."},
		{identity.TokensAdmin, request{"root", "bob", identity.NewToken{Scopes: all, Lifetime: days(7)}}, ""},
		{identity.TokensNone, request{"root", "root", identity.NewToken{Scopes: all, Lifetime: days(7)}}, "Access token creation is disabled. Contact an admin user to enable."},
		{identity.TokensNone, request{"op", "root", identity.NewToken{Scopes: all, Lifetime: days(7)}}, "Access token creation is disabled. Contact an admin user to enable."},
		// scopes
		{identity.TokensAll, request{"ann", "ann", identity.NewToken{Lifetime: days(7)}}, `all access tokens must have scope "user:all"`},
		{identity.TokensAll, request{"root", "root", identity.NewToken{Scopes: sudo[1:], Lifetime: days(7)}}, `all access tokens must have scope "user:all"`},
		{identity.TokensAll, request{"ann", "ann", identity.NewToken{Scopes: []string{"user:all", "x"}, Lifetime: days(7)}}, `unknown access token scope "x" (valid scopes: [user:all mcp site-admin:sudo])`},
		{identity.TokensAll, request{"ann", "ann", identity.NewToken{Scopes: []string{"mcp"}, Lifetime: days(7)}}, ""},
		{identity.TokensAll, request{"root", "root", identity.NewToken{Scopes: []string{"mcp", "site-admin:sudo"}, Lifetime: days(7)}}, `all access tokens must have scope "user:all"`},
		{identity.TokensAll, request{"ann", "ann", identity.NewToken{Scopes: []string{"user:all", "user:all"}, Lifetime: days(7)}}, `access token scope "user:all" may not be specified multiple times`},
		{identity.TokensAll, request{"ann", "ann", identity.NewToken{Scopes: sudo, Lifetime: days(7)}}, "must be site admin"},
		{identity.TokensAll, request{"root", "root", identity.NewToken{Scopes: sudo, Lifetime: days(7)}}, ""},
		// lifetimes
		{identity.TokensAll, request{"ann", "ann", identity.NewToken{Scopes: all}}, "Access token creation requires a valid expiration."},
		{identity.TokensAll, request{"ann", "ann", identity.NewToken{Scopes: all, Lifetime: days(0)}}, "expiry must be in the future"},
		{identity.TokensAll, request{"ann", "ann", identity.NewToken{Scopes: all, Lifetime: days(-1)}}, "expiry must be in the future"},
		{identity.TokensAll, request{"ann", "ann", identity.NewToken{Scopes: all, Lifetime: days(90)}}, ""},
		{identity.TokensAll, request{"ann", "ann", identity.NewToken{Scopes: all, Lifetime: days(91)}}, "expiry exceeds maximum allowed"},
		// notes
		{identity.TokensAll, request{"ann", "ann", identity.NewToken{Scopes: all, Lifetime: days(7), Note: "a\nb"}}, "cannot be shown"},
		{identity.TokensAll, request{"ann", "ann", identity.NewToken{Scopes: all, Lifetime: days(7), Note: strings.Repeat("x", 1025)}}, "too long"},
	}
	for _, tt := range tests {
		w := newWorld(t, identity.Options{Tokens: identity.TokenPolicy{Allow: tt.mode}})
		users := map[string]*identity.User{"ann": w.user(t, "ann"), "bob": w.user(t, "bob"), "root": w.admin(t, "root")}
		robot, err := w.CreateUser(identity.Operator, identity.NewUser{Name: "robot", Service: true})
		if err != nil {
			t.Fatal(err)
		}
		users["robot"] = robot
		by := identity.Operator
		if tt.r.by != "op" {
			by = author(users[tt.r.by])
		}
		n := tt.r.n
		n.User = users[tt.r.for_].ID
		text, _, err := w.CreateToken(by, n)
		what := fmt.Sprintf("%s: %s for %s, %v, %v", tt.mode, tt.r.by, tt.r.for_, n.Scopes, n.Lifetime)
		if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) || tt.want == "" && err != nil {
			t.Errorf("%s\ngot  %v\nwant %q", what, err, tt.want)
		}
		if _, u, cerr := w.CheckToken(text); (cerr == nil) != (tt.want == "") || cerr == nil && u.ID != n.User {
			t.Errorf("%s: the token %q gives %v, %v", what, text, u, cerr)
		}
	}
}

func TestTokenPolicy(t *testing.T) {
	w := newWorld(t, identity.Options{Tokens: identity.TokenPolicy{NoExpiry: true, MaxPerUser: 2, ExpiryDays: []int{1}}})
	ann := w.user(t, "ann")
	n := identity.NewToken{User: ann.ID, Scopes: []string{identity.ScopeAll}}
	text, _, err := w.CreateToken(author(ann), n)
	check(t, "without expiry", err, "")
	n.Lifetime = days(2)
	_, _, err = w.CreateToken(author(ann), n)
	check(t, "too long", err, "expiry exceeds maximum allowed")
	n.Lifetime = days(1)
	_, _, err = w.CreateToken(author(ann), n)
	check(t, "the second", err, "")
	_, _, err = w.CreateToken(author(ann), n)
	check(t, "the third", err, "number of active access tokens exceeds limit")
	w.clock.Add(1000 * day)
	_, _, err = w.CreateToken(author(ann), n)
	check(t, "after one has expired", err, "")
	if _, _, err := w.CheckToken(text); err != nil {
		t.Errorf("the token without expiry, years later: %v", err)
	}
}

func TestLastUse(t *testing.T) {
	w := newWorld(t, identity.Options{})
	ann := w.user(t, "ann")
	_, tok := w.token(t, ann)
	last := func() (time.Time, time.Time) {
		t.Helper()
		a, err := w.TokenLastUsed(tok.ID)
		b, berr := w.LastActive(ann.ID)
		if err := errors.Join(err, berr); err != nil {
			t.Fatal(err)
		}
		return a, b
	}
	if a, b := last(); !a.IsZero() || !b.IsZero() {
		t.Errorf("before: got %v and %v, want never", a, b)
	}
	w.NoteUse(ann.ID, tok.ID)
	noted := w.clock.Now()
	for _, when := range []string{"noted", "written", "after a crash"} {
		switch when {
		case "written":
			if err := w.WriteUses(); err != nil {
				t.Fatal(err)
			}
		case "after a crash":
			w.crash(t, identity.Options{})
		}
		if a, b := last(); !a.Equal(noted) || !b.Equal(noted) {
			t.Errorf("%s: got %v and %v, want %v", when, a, b, noted)
		}
	}
}
