package oauth_test

import (
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/oauth"
	kept "github.com/trawlsearch/trawl/store/oauth"
)

// Sections 4.3 and 4.4.1, and RFC 9700, section 2.1.1: a public app must send a
// challenge; S256 is all there is.
func TestChallenges(t *testing.T) {
	w := newWorld(t)
	b := w.as("ann")
	for _, c := range []struct {
		what    string
		app     *kept.App
		changes []string
		code    string // "" for a page
	}{
		{"public with", w.native, nil, ""},
		{"public with, without a state", w.native, []string{"state", "-"}, ""},
		{"public without", w.native, []string{"code_challenge", "-", "code_challenge_method", "-"}, "invalid_request"},
		{"confidential without", w.web, []string{"code_challenge", "-", "code_challenge_method", "-"}, ""},
		{"a method alone", w.web, []string{"code_challenge", "-"}, "invalid_request"},
		{"plain", w.native, []string{"code_challenge_method", "plain"}, "invalid_request"},
		{"plain by default", w.native, []string{"code_challenge_method", "-"}, "invalid_request"},
		{"plain, confidential", w.web, []string{"code_challenge_method", "plain"}, "invalid_request"},
		{"another method", w.native, []string{"code_challenge_method", "s256"}, "invalid_request"},
		{"too short", w.native, []string{"code_challenge", challenge[1:]}, "invalid_request"},
		{"too long", w.native, []string{"code_challenge", challenge + "A"}, "invalid_request"},
		{"not base64 for URLs", w.native, []string{"code_challenge", strings.Repeat("+", 43)}, "invalid_request"},
	} {
		got := b.get(request(c.app, c.changes...))
		if c.code == "" {
			if got.status != 200 {
				t.Errorf("%s: %d to %q", c.what, got.status, got.header.Get("Location"))
			}
		} else if q := got.location(t).Query(); q.Get("error") != c.code || q.Get("state") != "st" {
			t.Errorf("%s: %v, want %s", c.what, q, c.code)
		}
	}
}

// Section 4.6, and no way around it: neither a wrong verifier first, nor none,
// nor one for a code that had no challenge.
func TestVerifiers(t *testing.T) {
	w := newWorld(t)
	redirect := w.native.Redirects[0]
	code := w.code(request(w.native))
	native := func(values ...string) answer {
		return w.post(oauth.TokenPath, append(values, "grant_type", "authorization_code", "code", code, "redirect_uri", redirect, "client_id", w.native.ID)...)
	}
	for what, values := range map[string][]string{
		"none":             nil,
		"an empty one":     {"code_verifier", ""},
		"another":          {"code_verifier", strings.Repeat("a", 43)},
		"the challenge":    {"code_verifier", challenge},
		"too short":        {"code_verifier", verifier[:42]},
		"too long":         {"code_verifier", strings.Repeat("a", 129)},
		"other characters": {"code_verifier", verifier + "!"},
	} {
		w.refused("verifier: "+what, native(values...), 400, "invalid_grant")
	}
	access, _ := w.pair(native("code_verifier", verifier))
	if w.who(access) != "ann" {
		t.Error("the token is not good")
	}

	code = w.code(request(w.web))
	web := func(values ...string) answer {
		return w.post(oauth.TokenPath, w.asWeb(append(values, "grant_type", "authorization_code", "code", code, "redirect_uri", callback)...)...)
	}
	w.refused("confidential, a wrong one", web("code_verifier", strings.Repeat("a", 43)), 400, "invalid_grant")
	w.refused("confidential, none after a wrong one", web(), 400, "invalid_grant")
	w.pair(web("code_verifier", verifier))

	code = w.code(request(w.web, "code_challenge", "-", "code_challenge_method", "-"))
	w.refused("one for no challenge", web("code_verifier", verifier), 400, "invalid_grant")
	w.pair(web())
}
