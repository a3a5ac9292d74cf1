package settings_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/identity"
)

var tokenText = regexp.MustCompile(`sgp_\w+_[0-9a-f]{40}`)

func TestCreateToken(t *testing.T) {
	w := newWorld(t, identity.TokenPolicy{})
	u := w.SignUp(identity.NewUser{Name: "ann"})
	ann := w.as("ann")
	const path = "/users/ann/settings/tokens"
	w.has("none yet", ann.get(path), 200, "There are none yet.", `<option value="90" selected>in 90 days`)
	made := ann.post(path, url.Values{"note": {`nightly <i>"report"`}, "days": {"7"}})
	secret := tokenText.FindString(made.text)
	w.has("created", made, 200, "it is not shown again", `nightly <i>"report"`)
	if made.header.Get("Cache-Control") != "no-store" || secret == "" {
		t.Fatalf("the page with the token %q has Cache-Control %q", secret, made.header.Get("Cache-Control"))
	}
	if n := strings.Count(made.text, secret); n != 1 {
		t.Errorf("the page has the token %d times", n)
	}
	tok, _, err := w.Registry.CheckToken(secret)
	if err != nil || fmt.Sprint(tok.Scopes) != "[user:all]" || tok.User != u.ID || tok.Expires.Sub(tok.Created) != *days(7) {
		t.Fatalf("the token stands for %+v (%v)", tok, err)
	}
	w.logged(identity.ActionTokenCreate, fmt.Sprintf("token:%d", tok.ID), "ann")
	again := ann.get(path)
	w.has("later", again, 200, `nightly <i>"report"`, "never")
	w.hasNot("later", again, secret[len(secret)-40:])

	// revoking it
	w.has("revoked", ann.follow(ann.post(path+"/revoke", url.Values{"id": {fmt.Sprint(tok.ID)}})), 200, "The token is revoked", "There are none yet.")
	if _, _, err := w.Registry.CheckToken(secret); err == nil {
		t.Error("the token is still good")
	}
	w.has("revoked twice", ann.follow(ann.post(path+"/revoke", url.Values{"id": {fmt.Sprint(tok.ID)}})), 200)
}

func TestCreateTokenRefused(t *testing.T) {
	w := newWorld(t, identity.TokenPolicy{})
	w.SignUp(identity.NewUser{Name: "ann"})
	w.SignUp(identity.NewUser{Name: "root", SiteAdmin: true})
	w.SignUp(identity.NewUser{Name: "bot", Service: true})
	for _, c := range []struct {
		what, as, of string
		values       url.Values
		status       int
		want         string
	}{
		// of oneself
		{"sudo by no admin", "ann", "ann", url.Values{"days": {"7"}, "sudo": {"yes"}}, 422, "must be site admin"},
		{"too long", "ann", "ann", url.Values{"days": {"91"}}, 422, "expiry exceeds maximum allowed"},
		{"for no time", "ann", "ann", url.Values{"days": {"0"}}, 422, "expiry must be in the future"},
		{"forever", "ann", "ann", url.Values{"days": {"never"}}, 422, "requires a valid expiration"},
		{"no number", "ann", "ann", url.Values{"days": {"-1"}}, 400, "no number of days"},
		{"nothing", "ann", "ann", url.Values{}, 400, "no number of days"},

		// of others
		{"of an admin", "ann", "root", url.Values{"days": {"7"}}, 404, "there is no such user"},
		{"by an admin", "root", "ann", url.Values{"days": {"7"}}, 422, "must be authenticated as user with id"},
		{"by an admin for a program", "root", "bot", url.Values{"days": {"7"}}, 200, "it is not shown again"},
		{"sudo by an admin", "root", "root", url.Values{"days": {"7"}, "sudo": {"yes"}}, 200, "site-admin:sudo"},
	} {
		got := w.as(c.as).post("/users/"+c.of+"/settings/tokens", c.values)
		w.has(c.what, got, c.status, c.want)
		if made := tokenText.MatchString(got.text); made != (c.status == 200) {
			t.Errorf("%s: a token was shown: %t", c.what, made)
		}
	}
}

func TestTokenPolicyIsTold(t *testing.T) {
	for _, c := range []struct {
		policy identity.TokenPolicy
		as     string
		want   string
	}{
		{identity.TokenPolicy{Allow: identity.TokensNone}, "root", "switched off"},
		{identity.TokenPolicy{Allow: identity.TokensAdmin}, "ann", "Only site admins"},
		{identity.TokenPolicy{Allow: identity.TokensAdmin}, "root", "Create token"},
		{identity.TokenPolicy{NoExpiry: true}, "ann", `<option value="never">never`},
		{identity.TokenPolicy{ExpiryDays: []int{3, 5}}, "ann", `<option value="5" selected>in 5 days`},
	} {
		w := newWorld(t, c.policy)
		w.SignUp(identity.NewUser{Name: "ann"})
		w.SignUp(identity.NewUser{Name: "root", SiteAdmin: true})
		w.has(fmt.Sprintf("%+v", c.policy), w.as(c.as).get("/users/"+c.as+"/settings/tokens"), 200, c.want)
	}
}

// A number in a form is no leave to revoke what is another's.
func TestRevokeOfAnother(t *testing.T) {
	w := newWorld(t, identity.TokenPolicy{})
	u := w.SignUp(identity.NewUser{Name: "ann"})
	w.SignUp(identity.NewUser{Name: "bob"})
	w.SignUp(identity.NewUser{Name: "root", SiteAdmin: true})
	secret, tok, err := w.Registry.CreateToken(identity.Operator, identity.NewToken{User: u.ID, Scopes: []string{identity.ScopeAll}, Lifetime: days(1)})
	if err != nil {
		t.Fatal(err)
	}
	id := url.Values{"id": {fmt.Sprint(tok.ID)}}
	w.has("below his own name", w.as("bob").post("/users/bob/settings/tokens/revoke", id), 404, "access token not found")
	w.has("below hers", w.as("bob").post("/users/ann/settings/tokens/revoke", id), 404, "there is no such user")
	w.has("no number", w.as("ann").post("/users/ann/settings/tokens/revoke", url.Values{"id": {"x"}}), 404, "access token not found")
	if _, _, err := w.Registry.CheckToken(secret); err != nil {
		t.Fatalf("the token is not good any more: %v", err)
	}
	root := w.as("root")
	w.has("by an admin", root.follow(root.post("/users/ann/settings/tokens/revoke", id)), 200, "The token is revoked")
	w.logged(identity.ActionTokenRevoke, fmt.Sprintf("token:%d", tok.ID), "root")
}
