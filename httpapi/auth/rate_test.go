package auth_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/identity"
)

func TestRates(t *testing.T) {
	w := newWorld(t, identity.Options{})
	now := time.Now()
	w.Now = func() time.Time { return now }
	w.UserRate, w.AddressRate = 60, 60 // six at once, then one a second
	many := func(n int, headers ...string) (in int, last http.Header) {
		t.Helper()
		for range n {
			got, _, header := w.admit(t, request("GET", stream, headers...), auth.ForSearch)
			if !strings.HasPrefix(got, "Too Many Requests: ") {
				in++
			}
			last = header
		}
		return in, last
	}
	ann, root := []string{"Authorization", "token " + w.creds["ann"]}, []string{"Authorization", "token " + w.creds["root"]}
	in, header := many(10, ann...)
	if in != 6 || header.Get("Retry-After") != "1" {
		t.Errorf("of 10 at once %d got in, then Retry-After %q; want 6 and 1", in, header.Get("Retry-After"))
	}
	if in, _ := many(10, root...); in != 6 {
		t.Errorf("of another token %d got in, want 6", in)
	}
	// by address: anonymous requests, and guesses
	if in, _ := many(10); in != 6 {
		t.Errorf("of an address %d got in, want 6", in)
	}
	if in, _ := many(3, "Authorization", "token guess"); in != 0 {
		t.Errorf("%d guesses were answered when the address had used up its requests", in)
	}
	now = now.Add(3 * time.Second)
	if in, _ := many(10, ann...); in != 3 {
		t.Errorf("3 s later %d got in, want 3", in)
	}
	r := request("GET", stream, auth.OperatorHeader, "operator's")
	r.RemoteAddr = "127.0.0.1:1"
	for range 100 {
		if got, _, _ := w.admit(t, r, auth.ForSearch); got != "operator" {
			t.Fatalf("the operator: got %s", got)
		}
	}
}

// Another token, a session, a bearer token or a name to act as brings a user no
// more requests, and no user takes those of another.
func TestRatesAreOfUsers(t *testing.T) {
	w := newWorld(t, identity.Options{})
	now := time.Now()
	w.Now = func() time.Time { return now }
	w.UserRate, w.AddressRate = 60, 60 // six at once
	w.Bearers = fakeBearers{b: auth.Bearer{User: w.users["ann"].ID, Client: "cli", Scopes: []string{"user:all"}}}
	many := func(headers ...string) (in int) {
		t.Helper()
		for range 10 {
			if got, _, _ := w.admit(t, request("GET", stream, headers...), auth.ForSearch); !strings.HasPrefix(got, "Too Many Requests: ") {
				in++
			}
		}
		return in
	}
	token := func(user string) string {
		t.Helper()
		day := 24 * time.Hour
		text, _, err := w.reg.CreateToken(identity.Operator, identity.NewToken{User: w.users[user].ID, Scopes: []string{identity.ScopeAll}, Lifetime: &day})
		if err != nil {
			t.Fatal(err)
		}
		return "token " + text
	}
	for _, c := range []struct {
		what    string
		headers []string
		want    int
	}{
		{"a token", []string{"Authorization", "token " + w.creds["ann"]}, 6},
		{"a new token of the same user", []string{"Authorization", token("ann")}, 0},
		{"a session of the same user", []string{"Cookie", auth.CookieName + "=" + w.session, "X-Requested-With", "x"}, 0},
		{"a bearer token of the same user", []string{"Authorization", "Bearer good"}, 0},
		{"a service account", []string{"Authorization", "token " + w.creds["robot"]}, 6},
		{"a new token of a service account", []string{"Authorization", token("robot")}, 0},
		{"a token that acts as another", []string{"Authorization", `token-sudo user="o.k_-",token="` + w.creds["sudo"] + `"`}, 6},
		{"the same as a third", []string{"Authorization", `token-sudo user="demoted",token="` + w.creds["sudo"] + `"`}, 0},
		{"the one who was acted as", []string{"Authorization", token("o.k_-")}, 6},
	} {
		if in := many(c.headers...); in != c.want {
			t.Errorf("%s: %d of 10 got in, want %d", c.what, in, c.want)
		}
	}
}

// Addresses of one network of IPv6 share an allowance: a client has all of them.
func TestRatesOfNetworks(t *testing.T) {
	w := newWorld(t, identity.Options{})
	now := time.Now()
	w.Now, w.Anonymous, w.AddressRate = func() time.Time { return now }, auth.AnonymousYes, 60
	ask := func(remote string) bool {
		t.Helper()
		r := request("GET", stream)
		r.RemoteAddr = remote
		got, _, _ := w.admit(t, r, auth.ForSearch)
		return got == "nobody"
	}
	for i := range 10 {
		if in := ask(fmt.Sprintf("[2001:db8::%x]:1", i+1)); in != (i < 6) {
			t.Errorf("address %d of a network: in %t", i, in)
		}
	}
	if !ask("[2001:db8:0:1::1]:1") || !ask("198.51.100.7:1") {
		t.Error("other networks have used up nothing")
	}
	// The rate changes while requests come, and who may come.
	p := auth.Policy{Anonymous: auth.AnonymousYes}
	w.SetPolicy(p)
	for range 100 {
		if !ask("[2001:db8::1]:1") {
			t.Fatal("there is no limit any more")
		}
	}
	p.AddressRate = 10
	w.SetPolicy(p)
	if first, second := ask("[2001:db8:7::1]:1"), ask("[2001:db8:7::1]:1"); !first || second {
		t.Errorf("of two requests at 10 a minute: %t, %t", first, second)
	}
	p.Anonymous = auth.AnonymousNo
	w.SetPolicy(p)
	if ask("203.0.113.1:1") {
		t.Error("an anonymous request gets in although none may")
	}
}

func TestAddress(t *testing.T) {
	proxies, err := auth.ParseProxies("10.0.0.0/8, 192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		proxies        []netip.Prefix
		remote, header string
		want           string
	}{
		{nil, "198.51.100.7:1", "", "198.51.100.7"},
		{nil, "198.51.100.7:1", "203.0.113.1", "198.51.100.7"},
		{proxies, "198.51.100.7:1", "203.0.113.1", "198.51.100.7"},
		{proxies, "192.0.2.1:1", "203.0.113.1", "203.0.113.1"},
		{proxies, "192.0.2.1:1", "6.6.6.6, 203.0.113.1, 10.1.2.3", "203.0.113.1"},
		{proxies, "192.0.2.1:1", "nonsense", "192.0.2.1"},
		{proxies, "192.0.2.1:1", "", "192.0.2.1"},
		{proxies, "10.0.0.1:1", "10.0.0.2,10.0.0.3", "10.0.0.2"},
		{proxies, "[::ffff:10.0.0.1]:1", "2001:db8::1", "2001:db8::1"},
		{nil, "[fe80::1%eth0]:1", "", "fe80::1"},
		{nil, "nonsense", "203.0.113.1", ""},
	} {
		w := newWorld(t, identity.Options{})
		w.Proxies = c.proxies
		r := request("GET", stream, "Authorization", "token "+w.creds["ann"])
		r.RemoteAddr = c.remote
		if c.header != "" {
			r.Header.Set("X-Forwarded-For", c.header)
		}
		_, in, _ := w.admit(t, r, auth.ForSearch)
		if got := auth.From(in.Context()).Author().Address; got != c.want {
			t.Errorf("from %s with %q: got %q, want %q", c.remote, c.header, got, c.want)
		}
	}
	for _, bad := range []string{"x", "10.0.0.0/33", "10.0.0.1:80"} {
		if _, err := auth.ParseProxies(bad); err == nil {
			t.Errorf("ParseProxies(%q): no error", bad)
		}
	}
}
