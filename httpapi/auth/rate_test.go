package auth_test

import (
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
	w.TokenRate, w.AddressRate = 60, 60 // six at once, then one a second
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
	// by address: nobody, and who guesses
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
