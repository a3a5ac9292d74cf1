package oauth_test

import (
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/httpapi/oauth"
	"github.com/trawlsearch/trawl/store/cluster/memorylog"
	"github.com/trawlsearch/trawl/store/identity"
	kept "github.com/trawlsearch/trawl/store/oauth"
)

// newNodes returns a server of two nodes, which answer requests in turn, and their log.
func newNodes(t *testing.T) (*world, *memorylog.Log) {
	t.Helper()
	log := memorylog.New(1, false)
	w := newWorldOn(t, log)
	other := &world{fs: vfs.NewCrashableMem(), clock: w.clock, nodes: log}
	other.open(t)
	handlers := [2]http.Handler{w.handler, other.handler}
	var asked atomic.Int64
	w.handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		handlers[asked.Add(1)%2].ServeHTTP(rw, r)
	})
	return w, log
}

// People sign in, agree and let devices in, and programs get, use and refresh tokens,
// with each request answered by the other node. No step waits for the nodes.
func TestNodesInTurn(t *testing.T) {
	w, _ := newNodes(t)
	for range 10 {
		access, refresh := w.tokens()
		for range 5 {
			if got := w.who(access); got != "ann" {
				t.Fatalf("the access token is of %q", got)
			}
			access, refresh = w.pair(w.post(oauth.TokenPath, w.asWeb("grant_type", "refresh_token", "refresh_token", refresh)...))
		}
		if got := w.post(oauth.RevokePath, w.asWeb("token", refresh)...); got.status != 200 {
			t.Fatalf("revoke: %d %s", got.status, got.text)
		}
		for range 2 {
			w.refused("a revoked grant", w.post(oauth.TokenPath, w.asWeb("grant_type", "refresh_token", "refresh_token", refresh)...), 400, "invalid_grant")
		}
		d := w.begin()
		w.as("ann").decide(d, "allow")
		access, _ = w.pair(w.poll(d))
		if got := w.who(access); got != "ann" {
			t.Fatalf("the access token of the device is of %q", got)
		}
		w.refused("the device code a second time", w.poll(d), 400, "invalid_grant")
	}
}

// Wrong user codes count on both nodes.
func TestGuessesOnNodes(t *testing.T) {
	w, _ := newNodes(t)
	w.SignUp(identity.NewUser{Name: "eve"})
	d, eve := w.begin(), w.as("eve")
	for i := range 10 {
		if got := eve.get(oauth.DevicePath + "?user_code=BBBB-BBBB"); got.status != 404 {
			t.Fatalf("guess %d: %d %s", i, got.status, got.text)
		}
	}
	for range 2 {
		if got := eve.get(oauth.DevicePath + "?user_code=" + d.user); got.status != 429 {
			t.Errorf("the right code after ten wrong ones: %d %s", got.status, got.text)
		}
	}
	w.clock.Add(31 * time.Minute)
	if got := eve.get(oauth.DevicePath + "?user_code=" + w.begin().user); got.status != 200 {
		t.Errorf("half an hour later: %d", got.status)
	}
}

// Without the log no code is judged and no token given out, and what comes is not taken
// for used or unknown.
func TestWithoutLog(t *testing.T) {
	w, log := newNodes(t)
	_, refresh := w.tokens()
	d, ann := w.begin(), w.as("ann")
	log.SetAway(true)
	for range 2 {
		for what, got := range map[string]answer{
			"refresh":    w.post(oauth.TokenPath, w.asWeb("grant_type", "refresh_token", "refresh_token", refresh)...),
			"introspect": w.post(oauth.IntrospectPath, w.asWeb("token", refresh)...),
			"poll":       w.poll(d),
			"begin":      w.post(oauth.DeviceCodePath, "client_id", kept.CommandLine, "scope", "user:all"),
			"type":       ann.submit(oauth.DevicePath, url.Values{"user_code": {"BBBB-BBBB"}}),
			"unknown":    w.ask("GET", whoPath, "", "Authorization", "Bearer sgo_at_none"),
		} {
			if got.status != 503 || got.header.Get("Retry-After") != "1" {
				t.Errorf("%s: %d %s, Retry-After %q; want 503 and 1", what, got.status, got.text, got.header.Get("Retry-After"))
			}
		}
	}
	log.SetAway(false)
	w.pair(w.post(oauth.TokenPath, w.asWeb("grant_type", "refresh_token", "refresh_token", refresh)...))
}
