package auth_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
)

// TestAlone: without a user yet, only a request that this machine made itself,
// to a server for this machine, sees repositories that have readers.
func TestAlone(t *testing.T) {
	_, empty := newRegistry(t, nil, identity.Options{})
	hidden := &store.Repository{Name: "vault", Readers: &store.Readers{}}
	for _, c := range []struct {
		local        bool
		remote, host string
		headers      []string
		external     string
		sees         bool
	}{
		{true, "127.0.0.1:1", "127.0.0.1:7080", nil, "", true},
		{true, "[::1]:1", "[::1]:7080", nil, "", true},
		{true, "[::ffff:127.0.0.1]:1", "LOCALHOST:7080", nil, "", true},
		{true, "127.0.0.1:1", "127.0.0.1:7080", nil, "http://localhost:7080", true},

		// a server that others reach, from wherever
		{false, "127.0.0.1:1", "127.0.0.1:7080", nil, "", false},
		{false, "192.0.2.7:1", "192.0.2.1:7080", nil, "", false},
		{false, "192.0.2.7:1", "search.example.org", nil, "", false},
		{false, "192.0.2.7:1", "127.0.0.1:7080", nil, "", false},

		// another machine, something in front, a name of a stranger
		{true, "192.0.2.7:1", "127.0.0.1:7080", nil, "", false},
		{true, "127.0.0.1:1", "127.0.0.1:7080", []string{"X-Forwarded-For", "127.0.0.1"}, "", false},
		{true, "127.0.0.1:1", "127.0.0.1:7080", []string{"Via", "1.1 proxy"}, "", false},
		{true, "127.0.0.1:1", "192.0.2.1:7080", nil, "", false},
		{true, "127.0.0.1:1", "search.example.org", nil, "", false},
		{true, "127.0.0.1:1", "", nil, "", false},
		{true, "", "127.0.0.1:7080", nil, "", false},
	} {
		g := &auth.Gate{Registry: func() *identity.Registry { return empty }, Anonymous: auth.AnonymousYes, Reach: auth.Reach{Local: c.local, ExternalURL: c.external}}
		r := request("GET", stream, c.headers...)
		r.RemoteAddr, r.Host = c.remote, c.host
		in, release, err := g.Admit(httptest.NewRecorder(), r, auth.ForAnyone)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		actor := auth.From(in.Context())
		if actor.CanSee(hidden) != c.sees || actor.SeesAll() != c.sees {
			t.Errorf("%+v: sees a hidden repository: %t", c, actor.CanSee(hidden))
		}
		release()
	}
}

// TestAloneEndsWithTheFirstUser: what began before there was a user ends when
// there is one.
func TestAloneEndsWithTheFirstUser(t *testing.T) {
	g := &auth.Gate{Anonymous: auth.AnonymousAuto, Reach: auth.Reach{Local: true}}
	_, reg := newRegistry(t, g, identity.Options{})
	r := request("GET", stream)
	r.RemoteAddr, r.Host = "127.0.0.1:1", "127.0.0.1:7080"
	in, release, err := g.Admit(httptest.NewRecorder(), r, auth.ForSearch)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if _, err := reg.CreateUser(identity.Operator, identity.NewUser{Name: "root", SiteAdmin: true}); err != nil {
		t.Fatal(err)
	}
	if got := context.Cause(in.Context()); !errors.Is(got, auth.ErrEnded) {
		t.Errorf("after the first user: got %v, want ErrEnded", got)
	}
}

// TestFromThisMachine: an address that others reach is not this machine, not
// even when the connection comes from the very address it goes to.
func TestFromThisMachine(t *testing.T) {
	for remote, want := range map[string]bool{
		"127.0.0.1:1": true, "127.9.9.9:1": true, "[::1]:1": true, "[::ffff:127.0.0.1]:1": true,
		"192.0.2.1:1": false, "[2001:db8::1]:1": false, "": false, "nonsense": false,
	} {
		r := request("GET", "/")
		r.RemoteAddr = remote
		local := &net.TCPAddr{IP: net.ParseIP("192.0.2.1"), Port: 7080}
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, local))
		if got := auth.FromThisMachine(r); got != want {
			t.Errorf("from %q: got %t, want %t", remote, got, want)
		}
	}
}

// TestHost: with an external URL the Host header must name this server.
func TestHost(t *testing.T) {
	const here = "127.0.0.1:1"
	for _, c := range []struct {
		external, origins, host, remote string
		headers                         []string
		in                              bool
	}{
		{"https://search.example.org", "", "search.example.org", "", nil, true},
		{"https://search.example.org", "", "SEARCH.Example.ORG.", "", nil, true},
		{"https://search.example.org", "", "search.example.org:443", "", nil, true},
		{"https://search.example.org:8443/base", "", "search.example.org", "", nil, true},
		{"https://search.example.org", "", "evil.example", "", nil, false},
		{"https://search.example.org", "", "evil.example", "", []string{"Sec-Fetch-Site", "same-origin"}, false},
		{"https://search.example.org", "", "evil.example", here, []string{"X-Forwarded-Host", "search.example.org"}, false},
		{"https://search.example.org", "", "search.example.org.evil.example", "", nil, false},
		{"https://search.example.org", "", "evil.example:443", "", nil, false},
		{"https://search.example.org", "", "search.example.org..", "", nil, false},
		{"https://search.example.org", "", "192.0.2.1", "", nil, false},
		{"https://search.example.org", "", "", "", nil, false},
		{"https://search.example.org", "", ":443", "", nil, false},

		// other names that the settings trust
		{"https://search.example.org", "http://trawl.lan:7080 *", "trawl.lan:7080", "", nil, true},
		{"https://search.example.org", "http://trawl.lan:7080 *", "evil.example", "", nil, false},
		{"https://search.example.org", "*", "*", "", nil, false},

		// addresses
		{"http://192.0.2.1:7080", "", "192.0.2.1:7080", "", nil, true},
		{"http://[2001:DB8:0::1]:7080", "", "[2001:db8::1]:7080", "", nil, true},
		{"http://[2001:db8::1]", "", "[2001:db8::2]", "", nil, false},
		{"http://[2001:db8::1]", "", "[2001:db8::1]", "", nil, true},

		// this machine, by its own names, unless something passed the request on
		{"https://search.example.org", "", "127.0.0.1:7080", here, nil, true},
		{"https://search.example.org", "", "localhost", here, nil, true},
		{"https://search.example.org", "", "[::1]:7080", "[::1]:9", nil, true},
		{"https://search.example.org", "", "127.0.0.1:7080", "192.0.2.7:1", nil, false},
		{"https://search.example.org", "", "127.0.0.1:7080", here, []string{"X-Forwarded-For", "192.0.2.7"}, false},
		{"https://search.example.org", "", "evil.example", here, nil, false},

		// without an external URL nothing is known
		{"", "", "search.example.org", "", nil, true}, {"", "", "192.0.2.1", "", nil, true},
	} {
		w := newWorld(t, identity.Options{})
		origins, err := auth.ParseOrigins(c.origins)
		if err != nil {
			t.Fatal(err)
		}
		w.Anonymous, w.ExternalURL, w.Origins = auth.AnonymousYes, c.external, origins
		for _, headers := range [][]string{c.headers, append([]string{"Authorization", "token " + w.creds["ann"]}, c.headers...)} {
			r := request("GET", stream, headers...)
			r.Host = c.host
			if c.remote != "" {
				r.RemoteAddr = c.remote
			}
			got, _, _ := w.admit(t, r, auth.ForSearch)
			if refused := strings.HasPrefix(got, "Misdirected Request: "); refused == c.in {
				t.Errorf("%s %q, host %q from %q with %q: got %s, want in %t", c.external, c.origins, c.host, r.RemoteAddr, headers, got, c.in)
			}
		}
		// Those who only ask whether the server lives call it by any name.
		r := request("GET", "/healthz")
		r.Host = c.host
		if got, _, _ := w.admit(t, r, auth.ForProbes); got != "nobody" {
			t.Errorf("a probe of host %q: got %s", c.host, got)
		}
	}
}
