package oauth_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/store/cluster/memorylog"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
)

// newNodes returns two nodes that share a log.
func newNodes(t *testing.T) [2]*world {
	t.Helper()
	first := newWorldOn(t, memorylog.New(1, false))
	second := &world{T: t, fs: vfs.NewCrashableMem(), clock: first.clock, log: first.log, ann: first.ann, bot: first.bot}
	second.open(second.fs)
	t.Cleanup(func() { second.must(second.st.Close()) })
	return [2]*world{first, second}
}

// race calls f on both nodes at the same moment and returns what they return.
func race(nodes [2]*world, f func(w *world) error) (errs [2]error) {
	var wg sync.WaitGroup
	for i, w := range nodes {
		wg.Go(func() { errs[i] = f(w) })
	}
	wg.Wait()
	return errs
}

// oneWins checks that one node did something, and the other one was refused.
func oneWins(t *testing.T, what string, errs [2]error, refused error) {
	t.Helper()
	if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs[:]...), refused) {
		t.Errorf("%s: %v, want one success and %v", what, errs, refused)
	}
}

// What is good once is good once, whichever nodes are asked at the same moment. A code
// or refresh token that comes twice ends its grant on all.
func TestOneNodeWins(t *testing.T) {
	nodes := newNodes(t)
	w := nodes[0]
	by := identity.Author{UserID: w.ann.ID, User: "ann"}
	tokens := func(w *world, h held, scopes ...string) oauth.Tokens {
		_, access := w.key(oauth.AccessText, h.id)
		return oauth.Tokens{Access: access, Scopes: scopes}
	}
	ended := func(what string, h held) {
		t.Helper()
		for i, w := range nodes {
			w.must(w.CatchUp(t.Context()))
			if _, err := w.Grants.Get(h.id); !errors.Is(err, oauth.ErrNoGrant) {
				t.Errorf("%s: the grant on node %d: %v, want ErrNoGrant", what, i, err)
			}
		}
	}
	for range 20 {
		var h held
		var err error
		h.id, err = w.Grants.NewID(w.ann.ID)
		w.must(err)
		_, h.code = w.key(oauth.CodeText, h.id)
		w.must(w.Grants.Agree(by, h.code, oauth.Ask{App: oauth.CommandLine, Scopes: []string{"user:all"}}))
		oneWins(t, "code", race(nodes, func(w *world) error { return w.Grants.Redeem(identity.Author{}, h.code, tokens(w, h)) }), oauth.ErrReused)
		ended("code", h)

		h = w.agree(oauth.CommandLine)
		oneWins(t, "refresh token", race(nodes, func(w *world) error {
			_, err := w.rotate(h)
			return err
		}), oauth.ErrReused)
		ended("refresh token", h)

		device, user, err := w.Devices.Add(oauth.CommandLine, []string{"user:all"}, "192.0.2.1")
		w.must(err)
		oneWins(t, "user code", race(nodes, func(w *world) error { return w.Devices.Decide(by, user, w.ann.ID, oauth.Granted) }), oauth.ErrNoGrant)
		code, _ := oauth.ParseDeviceCode(device)
		h.id, err = w.Grants.NewID(w.ann.ID)
		w.must(err)
		oneWins(t, "device code", race(nodes, func(w *world) error { return w.Devices.Give(identity.Author{}, code, tokens(w, h)) }), oauth.ErrNoGrant)
	}
}

// A refresh token is followed by others on whichever nodes, however soon, and the grant
// goes on: no node takes the newest for one that has been used.
func TestRefreshOnNodes(t *testing.T) {
	nodes := newNodes(t)
	h := nodes[0].agree(oauth.CommandLine)
	old := h
	for i := range 40 {
		next, err := nodes[(i+1)%2].rotate(h)
		if err != nil {
			t.Fatalf("refresh %d: %v", i, err)
		}
		h = next
	}
	if _, err := nodes[0].rotate(old); !errors.Is(err, oauth.ErrReused) {
		t.Errorf("the first refresh token again: %v, want ErrReused", err)
	}
	if _, err := nodes[1].rotate(h); !errors.Is(err, oauth.ErrNoGrant) {
		t.Errorf("the newest one then: %v, want ErrNoGrant", err)
	}
}
