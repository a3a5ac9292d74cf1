package oauth_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
)

var userCodeForm = regexp.MustCompile(`^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$`)

func (w *world) device() (code oauth.Hash, user string) {
	w.Helper()
	text, user, err := w.Devices.Add(oauth.CommandLine, []string{"user:all"}, "192.0.2.1")
	w.must(err)
	code, ok := oauth.ParseDeviceCode(text)
	if !ok || !userCodeForm.MatchString(user) {
		w.Fatalf("device code %q, user code %q", text, user)
	}
	return code, user
}

func (w *world) give(code oauth.Hash, user uint32) (oauth.Key, error) {
	w.Helper()
	id, err := w.Grants.NewID(user)
	w.must(err)
	_, k := w.key(oauth.AccessText, id)
	return k, w.Devices.Give(identity.Author{}, code, oauth.Tokens{Access: k, Scopes: []string{"user:all"}})
}

func TestDevice(t *testing.T) {
	w := newWorld(t)
	code, user := w.device()
	if _, err := w.give(code, w.ann.ID); !errors.Is(err, oauth.ErrNoGrant) {
		t.Errorf("tokens before a decision: %v, want ErrNoGrant", err)
	}
	for _, typed := range []string{user, strings.ToLower(user), strings.ReplaceAll(user, "-", ""), " " + strings.ReplaceAll(user, "-", " ") + " "} {
		if d, err := w.Devices.Waiting(typed); err != nil || d.App != oauth.CommandLine || d.Address != "192.0.2.1" {
			t.Errorf("Waiting(%q): %+v, %v", typed, d, err)
		}
	}
	for _, typed := range []string{"", "BBBB-BBBB", user + "B", user[:8], "AEIO-U123"} {
		if _, err := w.Devices.Waiting(typed); !errors.Is(err, oauth.ErrNoGrant) {
			t.Errorf("Waiting(%q): %v, want ErrNoGrant", typed, err)
		}
	}
	w.must(w.Devices.Decide(identity.Author{UserID: w.ann.ID}, user, w.ann.ID, oauth.Granted))
	w.crash()
	if n := w.logged(oauth.ActionGrant, "app:"+oauth.CommandLine); n != 1 {
		t.Errorf("%d lines in the audit log, want 1", n)
	}
	// no user decides again, nor for another user
	if err := w.Devices.Decide(identity.Author{}, user, w.bot.ID, oauth.Denied); !errors.Is(err, oauth.ErrNoGrant) {
		t.Errorf("deciding again: %v, want ErrNoGrant", err)
	}
	if _, err := w.give(code, w.bot.ID); !errors.Is(err, oauth.ErrNoGrant) {
		t.Errorf("tokens of another user: %v, want ErrNoGrant", err)
	}
	k, err := w.give(code, w.ann.ID)
	w.must(err)
	if !w.good(k) {
		t.Error("the token is not good")
	}
	if _, err := w.give(code, w.ann.ID); !errors.Is(err, oauth.ErrNoGrant) {
		t.Errorf("tokens a second time: %v, want ErrNoGrant", err)
	}
	if n := w.count(store.RecordDevice) + w.count(store.RecordUserCode); n != 0 {
		t.Errorf("%d records of the device are left", n)
	}
}

func TestDeviceThatGetsNothing(t *testing.T) {
	yes := true
	for name, spoil := range map[string]func(w *world, user string) error{
		"denied": func(w *world, user string) error {
			return w.Devices.Decide(identity.Author{}, user, w.ann.ID, oauth.Denied)
		},
		"expired": func(w *world, user string) error {
			err := w.Devices.Decide(identity.Author{}, user, w.ann.ID, oauth.Granted)
			w.clock.Add(oauth.DeviceLasts)
			return err
		},
		"switched off": func(w *world, user string) error {
			return errors.Join(w.Devices.Decide(identity.Author{}, user, w.ann.ID, oauth.Granted), w.Apps.SetDisabled(identity.Operator, oauth.CommandLine, true))
		},
		"of a user who is locked": func(w *world, user string) error {
			err := w.Devices.Decide(identity.Author{}, user, w.ann.ID, oauth.Granted)
			_, locked := w.reg.ChangeUser(identity.Operator, w.ann.ID, identity.UserChange{Locked: &yes})
			return errors.Join(err, locked)
		},
		"of a user who is gone": func(w *world, user string) error {
			return errors.Join(w.Devices.Decide(identity.Author{}, user, w.ann.ID, oauth.Granted), w.reg.DeleteUser(identity.Operator, w.ann.ID))
		},
	} {
		w := newWorld(t)
		code, user := w.device()
		w.must(spoil(w, user))
		if k, err := w.give(code, w.ann.ID); !errors.Is(err, oauth.ErrNoGrant) || w.good(k) {
			t.Errorf("%s: %v, want ErrNoGrant", name, err)
		}
	}
}

func TestService(t *testing.T) {
	w := newWorld(t)
	a, _ := w.app(oauth.NewApp{Name: "nightly", Kind: oauth.Service, Account: w.bot.ID})
	give := func(app string, user uint32) (oauth.Key, error) {
		id, err := w.Grants.NewID(user)
		w.must(err)
		_, k := w.key(oauth.AccessText, id)
		return k, w.Grants.GiveService(identity.Author{}, app, oauth.Tokens{Access: k, Scopes: []string{"user:all"}})
	}
	k, err := give(a.ID, w.bot.ID)
	w.must(err)
	if !w.good(k) {
		t.Error("the token is not good")
	}
	for _, c := range []struct {
		app  string
		user uint32
	}{{a.ID, w.ann.ID}, {oauth.CommandLine, w.ann.ID}, {"sgo_cid_none", w.bot.ID}} {
		if _, err := give(c.app, c.user); !errors.Is(err, oauth.ErrNoGrant) {
			t.Errorf("%+v: %v, want ErrNoGrant", c, err)
		}
	}
	w.must(w.reg.DeleteUser(identity.Operator, w.bot.ID))
	if w.good(k) {
		t.Error("the token is good without its service account")
	}
}
