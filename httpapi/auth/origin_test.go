package auth_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/identity"
)

// TestAnonymous: who may search without a name, by settings and by what a
// browser tells of the page that asks.
func TestAnonymous(t *testing.T) {
	used := newWorld(t, identity.Options{}).reg
	_, empty := newRegistry(t, nil, identity.Options{})
	local := []string{}
	tests := []struct {
		mode    auth.AnonymousMode
		local   bool
		used    bool
		host    string
		headers []string
		in      bool
	}{
		// the settings
		{auth.AnonymousAuto, true, false, "127.0.0.1:7080", local, true},
		{auth.AnonymousAuto, true, true, "127.0.0.1:7080", local, false},
		{auth.AnonymousAuto, false, false, "127.0.0.1:7080", local, false},
		{auth.AnonymousYes, false, true, "search.example.org", local, true},
		{auth.AnonymousYes, true, true, "127.0.0.1:7080", local, true},
		{auth.AnonymousNo, true, false, "127.0.0.1:7080", local, false},

		// something in front on the same machine
		{auth.AnonymousAuto, true, false, "127.0.0.1:7080", []string{"X-Forwarded-For", "198.51.100.7"}, false},
		{auth.AnonymousAuto, true, false, "127.0.0.1:7080", []string{"Forwarded", "for=198.51.100.7"}, false},
		{auth.AnonymousAuto, true, false, "127.0.0.1:7080", []string{"X-Real-IP", "198.51.100.7"}, false},
		{auth.AnonymousYes, true, true, "127.0.0.1:7080", []string{"X-Forwarded-For", "198.51.100.7"}, true},

		// a name that leads to loopback may be a stranger's
		{auth.AnonymousAuto, true, false, "localhost:7080", local, true}, {auth.AnonymousAuto, true, false, "LOCALHOST", local, true},
		{auth.AnonymousAuto, true, false, "[::1]:7080", local, true}, {auth.AnonymousAuto, true, false, "trawl.localhost:7080", local, true},
		{auth.AnonymousAuto, true, false, "evil.example:7080", local, false}, {auth.AnonymousAuto, true, false, "localhost.evil.example", local, false},
		{auth.AnonymousAuto, true, false, "127.0.0.1.evil.example:7080", local, false}, {auth.AnonymousAuto, true, false, "", local, false},
		{auth.AnonymousAuto, true, false, "evil.example:7080", []string{"Sec-Fetch-Site", "same-origin"}, false},
		{auth.AnonymousYes, true, true, "evil.example:7080", local, false},

		// pages of other origins
		{auth.AnonymousAuto, true, false, "127.0.0.1:7080", []string{"Origin", "https://evil.example"}, false},
		{auth.AnonymousAuto, true, false, "127.0.0.1:7080", []string{"Origin", "null"}, false},
		{auth.AnonymousAuto, true, false, "127.0.0.1:7080", []string{"Origin", "http://127.0.0.1:8080"}, false},
		{auth.AnonymousAuto, true, false, "127.0.0.1:7080", []string{"Origin", "http://127.0.0.1:7080"}, true},
		{auth.AnonymousAuto, true, false, "127.0.0.1:7080", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "script"}, false},
		{auth.AnonymousAuto, true, false, "127.0.0.1:7080", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors"}, false},
		{auth.AnonymousAuto, true, false, "127.0.0.1:7080", []string{"Sec-Fetch-Site", "none"}, true},
		{auth.AnonymousAuto, true, false, "127.0.0.1:7080", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, true},
		{auth.AnonymousYes, false, true, "search.example.org", []string{"Origin", "https://evil.example"}, false},
		{auth.AnonymousYes, false, true, "search.example.org", []string{"Origin", "https://search.example.org"}, true},
	}
	for _, tt := range tests {
		reg := empty
		if tt.used {
			reg = used
		}
		w := &world{Gate: &auth.Gate{Registry: func() *identity.Registry { return reg }, Anonymous: tt.mode, Reach: auth.Reach{Local: tt.local}}}
		for _, target := range []string{stream, "/search/stream?q=x", "/"} {
			r := request("GET", target, tt.headers...)
			r.Host = tt.host
			if tt.local {
				r.RemoteAddr = "127.0.0.1:1"
			}
			got, in, header := w.admit(t, r, auth.ForSearch)
			if (got == "nobody") != tt.in || !tt.in && got != private {
				t.Errorf("mode %d, local %t, used %t, host %q, %q, %s: got %s, want in %t", tt.mode, tt.local, tt.used, tt.host, tt.headers, target, got, tt.in)
			}
			if in != nil && auth.From(in.Context()).SeesAll() == tt.used {
				t.Errorf("used %t: SeesAll is the same", tt.used)
			}
			// A request from an unknown origin shows no secret: its page must
			// not be able to read the answer.
			if origin := r.Header.Get("Origin"); tt.in && origin != "" && !w.TrustedOrigin(r) {
				t.Errorf("origin %q is let in: %v", origin, header)
			}
		}
	}
}

func TestAnyOrigin(t *testing.T) {
	w := newWorld(t, identity.Options{})
	w.Anonymous, w.Origins = auth.AnonymousYes, []string{auth.AnyOrigin, "https://ours.example"}
	cookie := []string{"Cookie", auth.CookieName + "=" + w.session}
	for origin, want := range map[string]string{"https://evil.example": "nobody", "*": "nobody", "https://ours.example": "ann", "http://trawl.example": "ann"} {
		got, _, header := w.admit(t, request("GET", stream, append(cookie, "Origin", origin)...), auth.ForSearch)
		if got != want || header.Get("Access-Control-Allow-Origin") != origin {
			t.Errorf("origin %s: got %s with %v, want %s", origin, got, header, want)
		}
	}
}

func TestAnswerHeaders(t *testing.T) {
	w := newWorld(t, identity.Options{})
	for _, c := range []struct{ target, origin, credentials, allow string }{
		{stream, "https://x.example", "true", "https://x.example"}, {stream, "null", "true", "null"}, {stream, "*", "true", "*"}, {stream, "", "true", ""},
		{"/search/stream?q=x", "https://x.example", "", ""},
	} {
		headers := []string{"Authorization", "token " + w.creds["ann"]}
		if c.origin != "" {
			headers = append(headers, "Origin", c.origin)
		}
		_, _, h := w.admit(t, request("GET", c.target, headers...), auth.ForSearch)
		if h.Get("Access-Control-Allow-Credentials") != c.credentials || h.Get("Access-Control-Allow-Origin") != c.allow {
			t.Errorf("%s from %q: got %v", c.target, c.origin, h)
		}
		for _, name := range []string{"Authorization", "Cookie", "X-Requested-With", "Origin"} {
			if !strings.Contains(h.Get("Vary"), name) {
				t.Errorf("Vary %q does not name %s", h.Get("Vary"), name)
			}
		}
	}
	_, _, h := w.admit(t, request("GET", stream, "Authorization", "Bearer x"), auth.ForSearch)
	if got := h.Get("WWW-Authenticate"); got != `Bearer error="invalid_token"` {
		t.Errorf("WWW-Authenticate for a bad bearer token: got %q", got)
	}
	_, _, h = w.admit(t, request("GET", stream, "Authorization", "token x"), auth.ForSearch)
	if got := h.Get("WWW-Authenticate"); got != "" {
		t.Errorf("WWW-Authenticate for a bad token: got %q", got)
	}
}

func TestPreflight(t *testing.T) {
	g := &auth.Reach{ExternalURL: "https://search.example.org/base", Origins: []string{"chrome-extension://abc"}}
	const plain = "Content-Type, Authorization, X-Sourcegraph-Should-Trace"
	for origin, want := range map[string]string{
		"https://evil.example": plain, "null": plain, "": plain, "*": plain, "https://search.example.org.evil.example": plain, "http://search.example.org": plain,
		"https://search.example.org": "X-Requested-With, X-Sourcegraph-Client, " + plain,
		"chrome-extension://abc":     "X-Requested-With, X-Sourcegraph-Client, " + plain,
		"https://trawl.example":      "X-Requested-With, X-Sourcegraph-Client, " + plain, // the host it was asked by
	} {
		rec := httptest.NewRecorder()
		g.Preflight(rec, request("OPTIONS", stream, "Origin", origin))
		h := rec.Header()
		if rec.Code != 200 || rec.Body.Len() > 0 || h.Get("Access-Control-Allow-Headers") != want || h.Get("Access-Control-Allow-Origin") != origin ||
			h.Get("Access-Control-Allow-Methods") != "GET, POST, OPTIONS" || h.Get("Access-Control-Allow-Credentials") != "true" {
			t.Errorf("from %q: got %d %v, want the headers %s", origin, rec.Code, h, want)
		}
	}
}

func TestParseOrigins(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "https://a.example": 1, "https://a.example, http://b:8080 chrome-extension://abc": 3, "*": 1,
		"https://a.example/": -1, "a.example": -1, "https://a.example/x": -1, "https://u@a.example": -1, "null": -1,
	} {
		got, err := auth.ParseOrigins(text)
		if want < 0 && err == nil || want >= 0 && (err != nil || len(got) != want) {
			t.Errorf("ParseOrigins(%q): got %q, %v; want %d", text, got, err, want)
		}
	}
}

func TestLoopbackOnly(t *testing.T) {
	for listen, want := range map[string]bool{
		"127.0.0.1:7080": true, "[::1]:0": true, "localhost:1": true, "127.9.9.9:1": true, "[::ffff:127.0.0.1]:1": true,
		":7080": false, "0.0.0.0:7080": false, "[::]:7080": false, "192.0.2.1:7080": false, "example.org:1": false, "nonsense": false,
	} {
		if got := auth.LoopbackOnly(listen); got != want {
			t.Errorf("LoopbackOnly(%q): got %t, want %t", listen, got, want)
		}
	}
	for url, want := range map[string]bool{"": false, "http://localhost:7080": false, "http://127.0.0.1": false, "https://search.example.org": true} {
		if got := auth.Published(url); got != want {
			t.Errorf("Published(%q): got %t, want %t", url, got, want)
		}
	}
}
