package oauth_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/internal/clock"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a book for a test, on a file system that can crash, at a time that
// the test moves.
type world struct {
	*testing.T
	*oauth.Book
	reg   *identity.Registry
	st    *store.Store
	fs    *vfs.MemFS
	clock *clock.Clock
	// log is that of all nodes; nil is a store of one machine.
	log   cluster.Log
	ended atomic.Int32
	ann   *identity.User
	bot   *identity.User
}

func newWorld(t *testing.T) *world { return newWorldOn(t, nil) }

func newWorldOn(t *testing.T, log cluster.Log) *world {
	t.Helper()
	w := &world{T: t, fs: vfs.NewCrashableMem(), clock: clock.New(time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)), log: log}
	w.open(w.fs)
	t.Cleanup(func() { w.must(w.st.Close()) })
	var err error
	w.ann, err = w.reg.CreateUser(identity.Operator, identity.NewUser{Name: "ann"})
	w.must(err)
	w.bot, err = w.reg.CreateUser(identity.Operator, identity.NewUser{Name: "bot", Service: true})
	w.must(err)
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) open(fs vfs.FS) {
	w.Helper()
	var err error
	w.st, err = store.Open("data", store.Options{FS: fs, CacheBytes: 1 << 20, Log: w.log})
	w.must(err)
	w.reg, err = identity.Open(w.st, identity.Options{Now: w.clock.Now, Ended: func() { w.ended.Add(1) }})
	w.must(err)
	w.Book = oauth.Open(w.st, w.reg, oauth.Options{Now: w.clock.Now})
}

// crash opens what is on disk now, as after a kill -9.
func (w *world) crash() {
	w.Helper()
	fs := w.fs.CrashClone(vfs.CrashCloneCfg{})
	w.must(w.st.Close())
	w.fs = fs
	w.open(fs)
}

func (w *world) app(n oauth.NewApp) (*oauth.App, string) {
	w.Helper()
	secret, a, err := w.Apps.Create(identity.Operator, n)
	w.must(err)
	return a, secret
}

func (w *world) web() *oauth.App {
	w.Helper()
	a, _ := w.app(oauth.NewApp{Name: "web", Kind: oauth.Confidential, Redirects: []string{"https://app.example/cb"}})
	return a
}

// key makes a text for a grant and returns both.
func (w *world) key(kind oauth.Kind, id oauth.GrantID) (string, oauth.Key) {
	w.Helper()
	text, err := w.Grants.NewText(kind, id)
	w.must(err)
	k, ok := oauth.ParseText(kind, text)
	if !ok {
		w.Fatalf("ParseText(%s, %q) is not ok", kind, text)
	}
	return text, k
}

// held is what a client has got.
type held struct {
	id           oauth.GrantID
	code, access oauth.Key
	refresh      oauth.Key
	refreshText  string
}

// agree lets an app in as ann and gives it tokens.
func (w *world) agree(app string) held {
	w.Helper()
	var h held
	var err error
	h.id, err = w.Grants.NewID(w.ann.ID)
	w.must(err)
	_, h.code = w.key(oauth.CodeText, h.id)
	w.must(w.Grants.Agree(identity.Author{UserID: w.ann.ID, User: "ann"}, h.code, oauth.Ask{App: app, Scopes: []string{"user:all"}, Redirect: "https://app.example/cb"}))
	w.redeem(&h)
	return h
}

func (w *world) redeem(h *held) {
	w.Helper()
	_, h.access = w.key(oauth.AccessText, h.id)
	h.refreshText, h.refresh = w.key(oauth.RefreshText, h.id)
	w.must(w.Grants.Redeem(identity.Author{}, h.code, oauth.Tokens{Access: h.access, Refresh: &h.refresh, Scopes: []string{"user:all"}}))
}

// rotate gives the tokens that follow.
func (w *world) rotate(h held) (held, error) {
	w.Helper()
	text, err := w.Grants.NextRefresh(h.refreshText)
	w.must(err)
	k, ok := oauth.ParseText(oauth.RefreshText, text)
	if !ok {
		w.Fatalf("%q is no refresh token", text)
	}
	old := h.refresh
	_, h.access = w.key(oauth.AccessText, h.id)
	h.refreshText, h.refresh = text, k
	return h, w.Grants.Rotate(identity.Author{}, old, oauth.Tokens{Access: h.access, Refresh: &k, Scopes: []string{"user:all"}})
}

// good tells whether an access token is.
func (w *world) good(k oauth.Key) bool {
	w.Helper()
	_, _, err := w.Grants.ByAccess(k)
	if err != nil && !errors.Is(err, oauth.ErrNoGrant) {
		w.Fatal(err)
	}
	return err == nil
}

// logged returns how often the audit log tells of an action.
func (w *world) logged(action, target string) int {
	w.Helper()
	entries, err := w.reg.Audit(identity.AuditFilter{Limit: 10_000})
	w.must(err)
	n := 0
	for _, e := range entries {
		if e.Action == action && e.Target == target {
			n++
		}
	}
	return n
}

func (w *world) count(kind store.RecordKind) int {
	w.Helper()
	n := 0
	w.must(w.st.EachRecord(store.RecordRange{Kind: kind}, func(_, _ []byte) (bool, error) { n++; return true, nil }))
	return n
}

// Everything that ends a token ends it at once, and it stays ended in what is
// on disk at that moment. What can be undone is.
func TestEnds(t *testing.T) {
	yes, no := true, false
	lock := func(is *bool) func(w *world, h held, app string) error {
		return func(w *world, _ held, _ string) error {
			_, err := w.reg.ChangeUser(identity.Operator, w.ann.ID, identity.UserChange{Locked: is})
			return err
		}
	}
	for name, c := range map[string]struct {
		end, undo func(w *world, h held, app string) error
	}{
		"the grant is revoked":   {end: func(w *world, h held, _ string) error { return w.Grants.Revoke(identity.Operator, h.id, "test") }},
		"the user takes it back": {end: func(w *world, _ held, app string) error { return w.Grants.RevokeApp(identity.Operator, w.ann.ID, app) }},
		"the app is deleted":     {end: func(w *world, _ held, app string) error { return w.Apps.Delete(identity.Operator, app) }},
		"the app is switched off": {
			end:  func(w *world, _ held, app string) error { return w.Apps.SetDisabled(identity.Operator, app, true) },
			undo: func(w *world, _ held, app string) error { return w.Apps.SetDisabled(identity.Operator, app, false) },
		},
		"the user is deleted": {end: func(w *world, _ held, _ string) error { return w.reg.DeleteUser(identity.Operator, w.ann.ID) }},
		"the user is locked":  {end: lock(&yes), undo: lock(&no)},
		"the code comes again": {end: func(w *world, h held, _ string) error {
			if err := w.Grants.Redeem(identity.Author{}, h.code, oauth.Tokens{Access: h.access}); !errors.Is(err, oauth.ErrReused) {
				return fmt.Errorf("got %v, want ErrReused", err)
			}
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			app := w.web().ID
			h, other := w.agree(app), w.agree(oauth.CommandLine)
			if !w.good(h.access) || !w.good(other.access) {
				t.Fatal("the tokens are not good to begin with")
			}
			before := w.ended.Load()
			w.must(c.end(w, h, app))
			if w.ended.Load() == before {
				t.Error("requests at work are not looked at again")
			}
			check := func(when string, want bool) {
				t.Helper()
				if got := w.good(h.access); got != want {
					t.Errorf("%s: the access token is good: %t, want %t", when, got, want)
				}
				if _, err := w.Grants.ByRefresh(h.refresh); (err == nil) != want {
					t.Errorf("%s: the refresh token: %v, want good: %t", when, err, want)
				}
			}
			check("at once", false)
			w.crash()
			check("after a crash", false)
			if _, err := w.rotate(h); err == nil {
				t.Error("the refresh token gets new tokens")
			}
			if c.undo != nil {
				w.must(c.undo(w, h, app))
				check("undone", true)
			}
			if !strings.Contains(name, "user is") && !w.good(other.access) {
				t.Error("the token of another app is ended, too")
			}
			w.must(w.Sweep())
		})
	}
}

// An app with the ID of a deleted one gets nothing of what that had.
func TestIDAgain(t *testing.T) {
	w := newWorld(t)
	n := oauth.NewApp{ID: "sgo_cid_x", Name: "x", Kind: oauth.Public, Redirects: []string{"https://x.example/"}}
	w.app(n)
	h := w.agree("sgo_cid_x")
	w.must(w.Apps.Delete(identity.Operator, "sgo_cid_x"))
	w.app(n)
	if w.good(h.access) {
		t.Error("a token of the deleted app is good for the new one")
	}
}

func TestExpiry(t *testing.T) {
	w := newWorld(t)
	app := w.web().ID
	h := w.agree(app)
	w.clock.Add(oauth.AccessLasts - time.Millisecond)
	if !w.good(h.access) {
		t.Error("the access token ends before its time")
	}
	w.clock.Add(time.Millisecond)
	if w.good(h.access) {
		t.Error("the access token is good when it should have expired")
	}
	w.must(w.Sweep())
	next, err := w.rotate(h)
	w.must(err)
	if !w.good(next.access) {
		t.Error("a refreshed token is not good")
	}
	w.clock.Add(90 * 24 * time.Hour)
	if _, err := w.rotate(next); !errors.Is(err, oauth.ErrNoGrant) {
		t.Errorf("a refresh token after 90 days: %v, want ErrNoGrant", err)
	}

	// a code
	id, err := w.Grants.NewID(w.ann.ID)
	w.must(err)
	_, code := w.key(oauth.CodeText, id)
	w.must(w.Grants.Agree(identity.Author{}, code, oauth.Ask{App: app}))
	w.clock.Add(oauth.CodeLasts)
	if _, err := w.Grants.ByCode(code); !errors.Is(err, oauth.ErrNoGrant) {
		t.Errorf("a code after two minutes: %v, want ErrNoGrant", err)
	}
	w.must(w.Sweep())
	if n := w.count(store.RecordGrant); n != 0 {
		t.Errorf("%d grants are left, want none", n)
	}
}

// A refresh token that comes a second time is known however often the grant was
// refreshed since, and ends all its tokens.
func TestReuse(t *testing.T) {
	for _, rounds := range []int{1, 2, 40} {
		w := newWorld(t)
		first := w.agree(w.web().ID)
		h := first
		var err error
		for range rounds {
			h, err = w.rotate(h)
			w.must(err)
		}
		if n := w.count(store.RecordGrant); n != 1 {
			t.Errorf("%d rounds: %d grants", rounds, n)
		}
		w.crash()
		if _, err := w.rotate(first); !errors.Is(err, oauth.ErrReused) {
			t.Errorf("%d rounds: the first token again: %v, want ErrReused", rounds, err)
		}
		if w.good(h.access) {
			t.Errorf("%d rounds: the newest access token is still good", rounds)
		}
		if _, err := w.rotate(h); !errors.Is(err, oauth.ErrNoGrant) {
			t.Errorf("%d rounds: the newest refresh token: %v, want ErrNoGrant", rounds, err)
		}
		if n := w.logged(oauth.ActionGrantRevoke, "app:"+w.appOf(t)); n != 1 {
			t.Errorf("%d rounds: %d lines about it in the audit log, want 1", rounds, n)
		}
	}
}

func (w *world) appOf(t *testing.T) string {
	t.Helper()
	all, err := w.Apps.All()
	w.must(err)
	for _, a := range all {
		if !a.BuiltIn {
			return a.ID
		}
	}
	t.Fatal("no app")
	return ""
}

// Who guesses at a grant whose ID they know ends nothing.
func TestForeignRefreshEndsNothing(t *testing.T) {
	w := newWorld(t)
	h := w.agree(w.web().ID)
	_, guess := w.key(oauth.RefreshText, h.id)
	if err := w.Grants.Rotate(identity.Author{}, guess, oauth.Tokens{Access: h.access}); !errors.Is(err, oauth.ErrNoGrant) {
		t.Errorf("a made-up refresh token: %v, want ErrNoGrant", err)
	}
	_, code := w.key(oauth.CodeText, h.id)
	if err := w.Grants.Redeem(identity.Author{}, code, oauth.Tokens{Access: h.access}); !errors.Is(err, oauth.ErrNoGrant) {
		t.Errorf("a made-up code: %v, want ErrNoGrant", err)
	}
	if !w.good(h.access) {
		t.Error("the grant was revoked by a guess")
	}
}

// Of many that show the same token at the same moment one gets tokens at most,
// and then none has any.
func TestRace(t *testing.T) {
	w := newWorld(t)
	h := w.agree(w.web().ID)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	keys := make([]oauth.Key, len(errs))
	for i := range errs {
		_, keys[i] = w.key(oauth.AccessText, h.id)
		text, err := w.Grants.NextRefresh(h.refreshText)
		w.must(err)
		k, _ := oauth.ParseText(oauth.RefreshText, text)
		wg.Go(func() {
			errs[i] = w.Grants.Rotate(identity.Author{}, h.refresh, oauth.Tokens{Access: keys[i], Refresh: &k})
		})
	}
	wg.Wait()
	won := 0
	for i, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, oauth.ErrReused) && !errors.Is(err, oauth.ErrNoGrant) {
			t.Errorf("%d: %v", i, err)
		}
		if w.good(keys[i]) {
			t.Errorf("%d: the token is good after a reuse", i)
		}
	}
	if won > 1 {
		t.Errorf("%d got tokens for one refresh token", won)
	}
}

// Nothing on disk holds what was given out.
func TestNoSecretIsKept(t *testing.T) {
	w := newWorld(t)
	_, secret := w.app(oauth.NewApp{Name: "x", Kind: oauth.Confidential, Redirects: []string{"https://x.example/"}})
	rotated, err := w.Apps.RotateSecret(identity.Operator, w.appOf(t))
	w.must(err)
	h := w.agree(w.appOf(t))
	device, user, err := w.Devices.Add(oauth.CommandLine, []string{"user:all"}, "192.0.2.1")
	w.must(err)
	secrets := []string{secret, rotated, h.refreshText, device, user, strings.ReplaceAll(user, "-", "")}
	for kind := range 256 {
		w.must(w.st.EachRecord(store.RecordRange{Kind: store.RecordKind(kind)}, func(id, value []byte) (bool, error) {
			for _, s := range secrets {
				_, bare, _ := strings.Cut(s, "sgo_")
				_, bare, _ = strings.Cut(bare, "_")
				if strings.Contains(string(id)+string(value), s) || bare != "" && strings.Contains(string(value), bare) {
					t.Errorf("record %c %x holds %q: %q", kind, id, s, value)
				}
			}
			return true, nil
		}))
	}
}

// What is kept is bounded, and what goes for that is the oldest.
func TestBounds(t *testing.T) {
	w := newWorld(t)
	app := w.web().ID
	first := w.agree(app)
	for range 25 {
		w.clock.Add(time.Second)
		w.agree(app)
	}
	if n := w.count(store.RecordGrant); n != 25 {
		t.Errorf("%d grants of one user and app, want 25", n)
	}
	if w.good(first.access) {
		t.Error("the oldest grant is still there")
	}

	// access tokens of one grant
	h := w.agree(app)
	oldest := h.access
	for range 8 {
		var err error
		h, err = w.rotate(h)
		w.must(err)
	}
	g, err := w.Grants.Get(h.id)
	w.must(err)
	if len(g.Access) != 8 || w.good(oldest) || !w.good(h.access) {
		t.Errorf("%d access tokens, the oldest good: %t, the newest: %t", len(g.Access), w.good(oldest), w.good(h.access))
	}

	// devices, by address
	for range 20 {
		_, _, err := w.Devices.Add(oauth.CommandLine, nil, "2001:db8::1")
		w.must(err)
	}
	if _, _, err := w.Devices.Add(oauth.CommandLine, nil, "2001:db8::2"); !errors.Is(err, oauth.ErrFull) {
		t.Errorf("a device too many in one network: %v, want ErrFull", err)
	}
	_, _, err = w.Devices.Add(oauth.CommandLine, nil, "2001:db8:1::1")
	w.must(err)
	w.clock.Add(oauth.DeviceLasts)
	_, _, err = w.Devices.Add(oauth.CommandLine, nil, "2001:db8::2")
	w.must(err)
	if n := w.count(store.RecordDevice); n != 1 {
		t.Errorf("%d devices after the others expired, want 1", n)
	}
	if n := w.count(store.RecordUserCode); n != 1 {
		t.Errorf("%d user codes, want 1", n)
	}
}

func TestAuthorised(t *testing.T) {
	w := newWorld(t)
	app := w.web().ID
	for range 2 {
		w.agree(app)
		w.clock.Add(time.Minute)
	}
	all, err := w.Grants.Authorised(w.ann.ID)
	w.must(err)
	if len(all) != 1 || all[0].Grants != 2 || all[0].App.ID != app || fmt.Sprint(all[0].Scopes) != "[user:all]" || all[0].Used.Sub(all[0].Since) != time.Minute {
		t.Errorf("got %+v", all)
	}
	w.must(w.Grants.RevokeApp(identity.Operator, w.ann.ID, app))
	if all, err := w.Grants.Authorised(w.ann.ID); err != nil || len(all) > 0 {
		t.Errorf("after revoking: %v, %v", all, err)
	}
	if err := w.Grants.RevokeApp(identity.Operator, w.ann.ID, app); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("revoking again: %v, want ErrNotFound", err)
	}
	if n := w.logged(oauth.ActionGrantRevoke, "app:"+app); n != 1 {
		t.Errorf("%d lines in the audit log, want 1", n)
	}
}
