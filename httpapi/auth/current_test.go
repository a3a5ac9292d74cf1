package auth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/internal/clock"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/cluster/memorylog"
	"github.com/trawlsearch/trawl/store/identity"
)

// While a node is not current, no credential is judged, good or bad, and nobody sees
// anything of the store; the operator does, who has the machine.
func TestNotCurrent(t *testing.T) {
	const away = "Service Unavailable: " + auth.NotCurrent
	w := newWorld(t, identity.Options{})
	var current atomic.Bool
	w.Current, w.Anonymous, w.AddressRate = current.Load, auth.AnonymousYes, 600
	cookie := auth.CookieName + "=" + w.session
	seen, err := w.reg.LastActive(w.users["ann"].ID)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for name, headers := range map[string][]string{
			"nobody": nil, "token": {"Authorization", "token " + w.creds["ann"]}, "bad token": {"Authorization", "token nonsense"},
			"bearer": {"Authorization", "Bearer x"}, "basic": {"Authorization", basic(w.creds["ann"])}, "no header": {"Authorization", "nonsense"},
			"sudo":    {"Authorization", `token-sudo user=ann,token="` + w.creds["sudo"] + `"`},
			"session": {"Cookie", cookie, "X-Requested-With", "x"}, "wrong operator": {auth.OperatorHeader, "x"},
		} {
			for access, want := range map[auth.Access]string{
				auth.ForSearch: away, auth.ForUsers: away, auth.ForSiteAdmins: away, auth.ForAnyone: away, auth.ForClients: away, auth.ForPublic: "nobody",
			} {
				got, in, header := w.admit(t, request("GET", stream, headers...), access)
				if got != want {
					t.Errorf("%s, access %d: got %q, want %q", name, access, got, want)
				}
				if in == nil && header.Get("Retry-After") != "1" {
					t.Errorf("%s, access %d: Retry-After %q, want 1", name, access, header.Get("Retry-After"))
				}
			}
			if _, in, _ := w.admit(t, request("GET", "/.api/search/stream?q=x&token="+w.creds["ann"]), auth.ForPublic); in == nil || strings.Contains(in.URL.String(), "token") {
				t.Errorf("a token in the URL stays there: %v", in)
			}
		}
		r := request("GET", stream, auth.OperatorHeader, "operator's")
		r.RemoteAddr = "127.0.0.1:1"
		for _, access := range []auth.Access{auth.ForSearch, auth.ForSiteAdmins, auth.ForAnyone} {
			if got, _, _ := w.admit(t, r, access); got != "operator" {
				t.Errorf("the operator, access %d: got %q", access, got)
			}
		}
		if in, _, err := w.Admit(httptest.NewRecorder(), request("GET", "/healthz"), auth.ForProbes); in == nil || err != nil {
			t.Errorf("a probe: %v", err)
		}
	}
	if again, err := w.reg.LastActive(w.users["ann"].ID); err != nil || !again.Equal(seen) {
		t.Errorf("the user was last seen at %v, %v; want %v", again, err, seen)
	}
	current.Store(true)
	if got, _, _ := w.admit(t, request("GET", stream, "Authorization", "token "+w.creds["ann"]), auth.ForSearch); got != "ann" {
		t.Errorf("current again: got %q", got)
	}
	if got, _, _ := w.admit(t, request("GET", "/help", "Authorization", "token "+w.creds["ann"]), auth.ForPublic); got != "ann" {
		t.Errorf("a public page: got %q", got)
	}
}

// The requests that run when a node ceases to be current end; those of the operator go
// on, and so do later ones once it is current again.
func TestRunningRequestsEndWithoutConfirmation(t *testing.T) {
	w := newWorld(t, identity.Options{})
	var current atomic.Bool
	current.Store(true)
	w.Current, w.Anonymous = current.Load, auth.AnonymousYes
	begin := func(r *http.Request) context.Context {
		t.Helper()
		in, release, err := w.Admit(httptest.NewRecorder(), r, auth.ForSearch)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(release)
		return in.Context()
	}
	operator := request("GET", stream, auth.OperatorHeader, "operator's")
	operator.RemoteAddr = "127.0.0.1:1"
	stays := begin(operator)
	ends := map[string]context.Context{}
	for _, name := range []string{"", "ann", "root", "robot"} {
		ends[name] = begin(w.from(name))
	}
	ctx, stop := context.WithCancel(t.Context())
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		w.KeepCurrent(ctx)
	}()
	defer func() {
		stop()
		<-kept
	}()
	for name, ctx := range ends {
		if ctx.Err() != nil {
			t.Errorf("%q: ended while the node is current: %v", name, context.Cause(ctx))
		}
	}
	current.Store(false)
	for name, ctx := range ends {
		select {
		case <-ctx.Done():
			if got := context.Cause(ctx); !errors.Is(got, auth.ErrEnded) {
				t.Errorf("%q: ended with %v, want ErrEnded", name, got)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%q: goes on although the node is not current", name)
		}
	}
	current.Store(true)
	// A look that began before may end one more, but the later ones do not.
	again := begin(w.from("ann"))
	time.Sleep(300 * time.Millisecond)
	for tries := 0; again.Err() != nil && tries < 3; tries++ {
		again = begin(w.from("ann"))
		time.Sleep(300 * time.Millisecond)
	}
	if again.Err() != nil || stays.Err() != nil {
		t.Errorf("a later request: %v, the operator's: %v; want both to go on", again.Err(), stays.Err())
	}
}

// node is a gate over a store that others share.
type node struct {
	auth.Gate
	st  *store.Store
	reg *identity.Registry
	now *clock.Clock
}

func newNode(t *testing.T, log *memorylog.Log) *node {
	t.Helper()
	n := &node{now: clock.New(time.Now())}
	n.Anonymous = auth.AnonymousYes
	w := worldtest.InMemory(t, worldtest.Options{Store: store.Options{Log: log}, Gate: &n.Gate})
	n.st, n.reg = w.Store, w.Registry
	return n
}

func (n *node) who(t *testing.T, headers ...string) string {
	t.Helper()
	in, release, err := n.Admit(httptest.NewRecorder(), request("GET", stream, headers...), auth.ForSearch)
	var d *auth.Denied
	switch {
	case errors.As(err, &d):
		return d.Message
	case err != nil:
		t.Fatal(err)
	}
	defer release()
	if a := auth.From(in.Context()); a.User != nil {
		return a.User.Name
	}
	return "nobody"
}

// A credential that another node has just made is good at once, one that nobody made is
// not, and without the log nothing is said of it.
func TestCredentialsOfOtherNodes(t *testing.T) {
	log := memorylog.New(1, false)
	maker, other := newNode(t, log), newNode(t, log)
	week := 7 * 24 * time.Hour
	for i := range 10 {
		u, err := maker.reg.CreateUser(identity.Operator, identity.NewUser{Name: "ann" + string(rune('a'+i))})
		if err != nil {
			t.Fatal(err)
		}
		if err := maker.reg.SetPassword(t.Context(), identity.Operator, u.ID, password); err != nil {
			t.Fatal(err)
		}
		text, token, err := maker.reg.CreateToken(identity.Operator, identity.NewToken{User: u.ID, Scopes: []string{identity.ScopeAll}, Lifetime: &week})
		if err != nil {
			t.Fatal(err)
		}
		if got := other.who(t, "Authorization", "token "+text); got != u.Name {
			t.Errorf("a token that was made on another node: %q, want %q", got, u.Name)
		}
		session, _, err := maker.reg.SignIn(t.Context(), identity.Author{}, u.Name, password)
		if err != nil {
			t.Fatal(err)
		}
		if got := other.who(t, "Cookie", auth.CookieName+"="+session, "X-Requested-With", "x"); got != u.Name {
			t.Errorf("a session that began on another node: %q, want %q", got, u.Name)
		}
		if err := maker.reg.RevokeToken(identity.Operator, token.ID); err != nil {
			t.Fatal(err)
		}
		if err := other.reg.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := other.who(t, "Authorization", "token "+text); got != "Invalid access token." {
			t.Errorf("a token that was revoked on another node: %q", got)
		}
	}
	if got := other.who(t, "Cookie", auth.CookieName+"=x", "X-Requested-With", "x"); got != "nobody" {
		t.Errorf("a session that never was: %q", got)
	}
	log.SetAway(true)
	if got := other.who(t, "Authorization", "token sgp_local_0123456789012345678901234567890123456789"); got != auth.NotCurrent {
		t.Errorf("an unknown token without the log: %q", got)
	}
}

// A node that loses the log serves for the grace and then refuses, and a change on
// another node that it cannot know is never served behind it.
func TestNodeWithoutLog(t *testing.T) {
	log := memorylog.New(1, false)
	n := newNode(t, log)
	n.Current = store.Freshness{Confirmed: n.st.Node().Confirmed, Grace: time.Minute, Now: n.now.Now}.Current
	if _, err := n.reg.CreateUser(identity.Operator, identity.NewUser{Name: "ann"}); err != nil {
		t.Fatal(err)
	}
	log.SetAway(true)
	at, _ := n.st.Node().Confirmed()
	n.now.Add(at.Sub(n.now.Now()) + time.Minute - time.Second)
	if got := n.who(t); got != "nobody" {
		t.Errorf("within the grace: %q", got)
	}
	n.now.Add(time.Hour)
	if got := n.who(t); got != auth.NotCurrent {
		t.Errorf("behind the grace: %q", got)
	}
}

// Nodes divide what a client may do in a minute, and each lets one a minute pass at
// least. What one node lets through at once, several do too, later.
func TestRatesOfNodes(t *testing.T) {
	now := time.Now()
	var nodes atomic.Int64
	for _, c := range []struct {
		perMinute, nodes, n, want int // requests that count as n let through in two minutes
	}{
		{600, 1, 1, 1260}, {600, 3, 1, 420}, {600, 0, 1, 1260}, {2, 1, 1, 5}, {2, 5, 1, 3}, {600, 3, 50, 9}, {600, 1, 61, 0}, {600, 3, 61, 0},
	} {
		nodes.Store(int64(c.nodes))
		l := auth.NewLimiter(c.perMinute, func() int { return int(nodes.Load()) })
		got := 0
		for at := time.Duration(0); at <= 2*time.Minute; at += 50 * time.Millisecond {
			for l.WaitFor("ann", c.n, now.Add(at)) == 0 {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%d a minute on %d nodes, by %d: %d let through in two minutes, want %d", c.perMinute, c.nodes, c.n, got, c.want)
		}
	}
	// A node that comes halves the rate of keys that are known.
	nodes.Store(1)
	l := auth.NewLimiter(60, func() int { return int(nodes.Load()) })
	for l.Wait("ann", now) == 0 {
	}
	nodes.Store(2)
	now = now.Add(time.Minute)
	for l.Wait("ann", now) == 0 {
	}
	if wait := l.Wait("ann", now); wait != 2*time.Second {
		t.Errorf("beside another node: wait %v, want 2 s", wait)
	}
}
