package auth_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/identity"
)

// TestCredentials has a row for each place and form of a credential, and for
// each way in which one is not good.
func TestCredentials(t *testing.T) {
	w := newWorld(t, identity.Options{})
	ann, sudo := w.creds["ann"], w.creds["sudo"]
	digits := strings.TrimPrefix(ann, "sgp_local_")
	unknown := "sgp_local_" + strings.Repeat("0", 40)
	cookie := auth.CookieName + "=" + w.session
	tests := []struct {
		target  string
		headers []string
		want    string
	}{
		// none
		{stream, nil, private}, {stream, []string{"Authorization", ""}, private},

		// in the URL, as the name of Basic, in the header
		{stream + "&token=" + ann, nil, "ann"}, {stream + "&token=", nil, private},
		{stream + "&%74oken=" + ann, nil, "ann"}, {stream + "&to%6Ben=" + unknown, nil, invalid}, {stream + "&%7token=" + unknown, nil, private},
		{stream + "&tokens=" + ann, nil, private}, {stream + "&a;token=" + unknown, nil, private},
		{stream, []string{"Authorization", basic(ann)}, "ann"}, {stream, []string{"Authorization", basic("")}, private},
		{stream, []string{"Authorization", "token " + ann}, "ann"}, {stream, []string{"Authorization", `token token="` + ann + `"`}, "ann"},
		{stream, []string{"Authorization", "token " + digits}, "ann"}, {stream, []string{"Authorization", "token " + strings.ToUpper(digits)}, "ann"},
		{stream, []string{"Authorization", "token  " + ann}, "ann"}, {stream, []string{"Authorization", "token " + w.creds["robot"]}, "robot"},

		// the first one decides, and a bad one is not forgiven for a good one
		{stream + "&token=" + ann, []string{"Authorization", "token " + w.creds["root"]}, "ann"},
		{stream + "&token=" + unknown, []string{"Authorization", "token " + ann}, invalid},
		{stream, []string{"Authorization", "token " + unknown, "Cookie", cookie, "X-Requested-With", "x"}, invalid},
		{stream, []string{"Authorization", "token", "Cookie", cookie, "X-Requested-With", "x"}, noHeader},

		// tokens that are not good
		{stream, []string{"Authorization", "token " + unknown}, invalid}, {stream, []string{"Authorization", "token nonsense"}, invalid},
		{stream, []string{"Authorization", "token " + w.creds["expired"]}, invalid}, {stream, []string{"Authorization", "token " + w.creds["revoked"]}, invalid},
		{stream, []string{"Authorization", "token " + w.creds["locked"]}, invalid}, {stream, []string{"Authorization", basic(unknown)}, invalid},
		{stream + "&token=nonsense", nil, invalid}, {stream, []string{"Authorization", "token " + strings.Repeat("a", 100_000)}, invalid},

		// headers without use
		{stream, []string{"Authorization", "token"}, noHeader}, {stream, []string{"Authorization", "token ab=cd"}, noHeader},
		{stream, []string{"Authorization", "token-sudo " + sudo}, noHeader}, {stream, []string{"Authorization", `token-sudo user="ann"`}, noHeader},
		{stream, []string{"Authorization", "Token " + ann}, private}, {stream, []string{"Authorization", "xyz " + ann}, private},
		{stream, []string{"Authorization", "token token=" + ann + ",token=" + ann}, private},

		// acting as others
		{stream, []string{"Authorization", `token-sudo user="ann",token="` + sudo + `"`}, "root as ann"},
		{stream, []string{"Authorization", `token-sudo token="` + sudo + `", user="ANN"`}, "root as ann"},
		{stream, []string{"Authorization", `token token="` + sudo + `",user=ann`}, "root as ann"},
		{stream, []string{"Authorization", `token-sudo token="` + sudo + `"`}, "root"},
		{stream, []string{"Authorization", `token-sudo user="ann",token="` + w.creds["root"] + `"`}, invalid},
		{stream, []string{"Authorization", `token-sudo user="ann",token="` + unknown + `"`}, invalid},
		{stream, []string{"Authorization", `token-sudo user="ann",token="` + w.creds["demoted"] + `"`}, "Forbidden: The subject user of a sudo access token must be a site admin."},
		{stream, []string{"Authorization", `token-sudo user="eve",token="` + sudo + `"`}, "Forbidden: Unable to sudo to nonexistent user."},
		{stream, []string{"Authorization", `token-sudo user="locked",token="` + sudo + `"`}, "Forbidden: Unable to sudo to nonexistent user."},
		{stream, []string{"Authorization", `token-sudo user="a\"b\r\nX: y",token="` + sudo + `"`}, "Forbidden: Unable to sudo to nonexistent user."},

		// by the scheme of bearer tokens, without a server that issues them
		{stream, []string{"Authorization", "Bearer x"}, invalid}, {stream, []string{"Authorization", "bearer " + ann}, "ann"}, {stream, []string{"Authorization", "Bearer"}, invalid},
		{stream, []string{"Authorization", "Bearer " + w.creds["expired"]}, invalid}, {stream, []string{"Authorization", "Bearer " + w.creds["agent"]}, invalid},

		// sessions: below /.api/ only with proof that no other page sends them
		{stream, []string{"Cookie", cookie}, private}, {stream, []string{"Cookie", cookie, "X-Requested-With", "Sourcegraph"}, "ann"},
		{stream, []string{"Cookie", cookie, "X-Requested-With", ""}, private}, {stream, []string{"Cookie", cookie, "Origin", "http://trawl.example"}, "ann"},
		{stream, []string{"Cookie", cookie, "Origin", "https://evil.example"}, private}, {stream, []string{"Cookie", cookie, "Origin", "null"}, private},
		{stream, []string{"Cookie", cookie, "Origin", "http://trawl.example.evil.example"}, private},
		{stream, []string{"Cookie", cookie, "Sec-Fetch-Site", "same-origin"}, "ann"}, {stream, []string{"Cookie", cookie, "Sec-Fetch-Site", "same-site"}, private},
		{stream, []string{"Cookie", auth.CookieName + "=nonsense", "X-Requested-With", "x"}, private},
		{stream, []string{"Cookie", auth.CookieName + "=", "X-Requested-With", "x"}, private},
		// elsewhere unless another page sends them
		{"/search/stream?q=x", []string{"Cookie", cookie}, "ann"}, {"/search/stream?q=x", []string{"Cookie", cookie, "Sec-Fetch-Site", "same-origin"}, "ann"},
		{"/search/stream?q=x", []string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, private},
		{"/search/stream?q=x", []string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, private},
		{"/", []string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, "ann"},
		{"/", []string{"Cookie", cookie, "Origin", "https://evil.example"}, private},

		// a remembered Basic name is no more the request's own than a cookie
		{stream, []string{"Authorization", basic(ann), "Origin", "https://evil.example"}, private},
		{stream, []string{"Authorization", basic(ann), "Origin", "https://evil.example", "X-Requested-With", "x"}, "ann"},
		{stream, []string{"Authorization", basic(ann), "Sec-Fetch-Site", "cross-site"}, private},
		// what a page has to know is
		{stream, []string{"Authorization", "token " + ann, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, "ann"},

		// headers that others trust
		{stream, []string{"X-Sourcegraph-User", "root"}, private}, {stream, []string{"X-Sourcegraph-Actor-UID", "1"}, private}, {stream, []string{"X-Forwarded-User", "root"}, private},
		{stream, []string{auth.OperatorHeader, "operator's"}, private}, {stream, []string{auth.OperatorHeader, ""}, private},
	}
	for _, tt := range tests {
		if got, _, _ := w.admit(t, request("GET", tt.target, tt.headers...), auth.ForSearch); got != tt.want {
			t.Errorf("GET %.80s %.120q\ngot  %s\nwant %s", tt.target, tt.headers, got, tt.want)
		}
	}
}

// A token for agents is good where agents ask, and nowhere else.
func TestAgentToken(t *testing.T) {
	w := newWorld(t, identity.Options{})
	w.Bearers = manyBearers{
		"agent": {User: w.users["ann"].ID, Client: "c", Scopes: []string{identity.ScopeMCP}},
		"all":   {User: w.users["ann"].ID, Client: "c", Scopes: []string{identity.ScopeAll}},
		"id":    {User: w.users["ann"].ID, Client: "c", Scopes: []string{"openid"}},
	}
	agent, ann := w.creds["agent"], w.creds["ann"]
	for _, tt := range []struct {
		header string
		access auth.Access
		want   string
	}{
		{"token " + agent, auth.ForAgents, "ann"}, {"Bearer " + agent, auth.ForAgents, "ann"}, {basic(agent), auth.ForAgents, "ann"},
		{"token " + agent, auth.ForSearch, invalid}, {"Bearer " + agent, auth.ForSearch, invalid}, {"token " + agent, auth.ForUsers, invalid},
		{"token " + agent, auth.ForSiteAdmins, invalid}, {"token " + agent, auth.ForAnyone, invalid}, {"token " + agent, auth.ForPublic, invalid},
		{"token " + ann, auth.ForAgents, "ann"}, {"token-sudo user=\"root\",token=\"" + agent + "\"", auth.ForAgents, invalid},
		{"token-sudo user=\"ann\",token=\"" + w.creds["sudo"] + "\"", auth.ForAgents, "root as ann"},
		{"Bearer agent", auth.ForAgents, "ann"}, {"token agent", auth.ForAgents, "ann"}, {"Bearer agent", auth.ForSearch, tooLittle}, {"token agent", auth.ForUsers, tooLittle},
		{"Bearer all", auth.ForAgents, "ann"}, {"token all", auth.ForSearch, "ann"},
		{"Bearer id", auth.ForAgents, "Forbidden: The access token lacks the scope mcp."}, {"Bearer none", auth.ForAgents, invalid},
		{"", auth.ForAgents, private},
	} {
		got, _, header := w.admit(t, request("POST", "/.api/mcp", "Authorization", tt.header), tt.access)
		if got != tt.want {
			t.Errorf("%q, access %d: got %s, want %s", tt.header, tt.access, got, tt.want)
		}
		if challenge := header.Get("Www-Authenticate"); strings.HasPrefix(got, "Forbidden") && tt.access == auth.ForAgents && !strings.Contains(challenge, `scope="mcp"`) {
			t.Errorf("%q: the challenge is %s", tt.header, challenge)
		}
	}
}

func TestTokensOff(t *testing.T) {
	w := newWorld(t, identity.Options{Tokens: identity.TokenPolicy{Allow: identity.TokensNone}})
	for header, want := range map[string]string{
		"token sgp_" + strings.Repeat("0", 40): "Unauthorized: Access token authorization is disabled.",
		"token nonsense":                       "Unauthorized: Access token authorization is disabled.",
		"token":                                noHeader,
	} {
		if got, _, _ := w.admit(t, request("GET", stream, "Authorization", header), auth.ForSearch); got != want {
			t.Errorf("%q: got %s, want %s", header, got, want)
		}
	}
	if got, _, _ := w.admit(t, request("GET", stream, "Cookie", auth.CookieName+"="+w.session, "X-Requested-With", "x"), auth.ForSearch); got != "ann" {
		t.Errorf("a session: got %s, want ann", got)
	}
}

func TestOperator(t *testing.T) {
	w := newWorld(t, identity.Options{})
	for _, c := range []struct{ remote, token, want string }{
		{"127.0.0.1:1", "operator's", "operator"}, {"[::1]:1", "operator's", "operator"},
		{"127.0.0.1:1", "operator", private}, {"192.0.2.1:1", "operator's", private}, {"", "operator's", private},
	} {
		r := request("GET", stream, auth.OperatorHeader, c.token)
		r.RemoteAddr = c.remote
		if got, _, _ := w.admit(t, r, auth.ForSearch); got != c.want {
			t.Errorf("%q from %s: got %s, want %s", c.token, c.remote, got, c.want)
		}
	}
	w.OperatorToken = ""
	r := request("GET", stream, auth.OperatorHeader, "")
	r.RemoteAddr = "127.0.0.1:1"
	if got, _, _ := w.admit(t, r, auth.ForSearch); got != private {
		t.Errorf("without an operator's token: got %s", got)
	}
}

func TestAccess(t *testing.T) {
	w := newWorld(t, identity.Options{})
	ann, root, bad := "token "+w.creds["ann"], "token "+w.creds["root"], "token x"
	for _, c := range []struct {
		access auth.Access
		header string
		want   string
	}{
		{auth.ForSearch, ann, "ann"}, {auth.ForSearch, "", private}, {auth.ForSearch, bad, invalid},
		{auth.ForUsers, ann, "ann"}, {auth.ForUsers, "", private}, {auth.ForUsers, bad, invalid},
		{auth.ForSiteAdmins, root, "root"}, {auth.ForSiteAdmins, ann, "Forbidden: must be site admin"}, {auth.ForSiteAdmins, "", private},
		{auth.ForAnyone, ann, "ann"}, {auth.ForAnyone, "", "nobody"}, {auth.ForAnyone, bad, invalid},
		{auth.ForProbes, ann, "nobody"}, {auth.ForProbes, "", "nobody"}, {auth.ForProbes, bad, "nobody"},
	} {
		if got, _, _ := w.admit(t, request("GET", "/.api/x", "Authorization", c.header), c.access); got != c.want {
			t.Errorf("access %d with %.12q: got %s, want %s", c.access, c.header, got, c.want)
		}
	}
	w.reg = nil
	if got, _, header := w.admit(t, request("GET", "/", "Authorization", ann), auth.ForSearch); got != "Service Unavailable: opening data directory" || header.Get("Retry-After") == "" {
		t.Errorf("while it opens: got %s, %v", got, header)
	}
	if got, _, _ := w.admit(t, request("GET", "/healthz", "Authorization", ann), auth.ForProbes); got != "nobody" {
		t.Errorf("a probe while it opens: got %s", got)
	}
}

// The token of a URL is removed from it once it has been read.
func TestTokenLeavesTheURL(t *testing.T) {
	w := newWorld(t, identity.Options{})
	r := request("GET", "/.api/search/stream?q=a+b&token="+w.creds["ann"]+"&cm=t&token=second&feat=x&feat=y")
	_, in, _ := w.admit(t, r, auth.ForSearch)
	for _, text := range []string{in.URL.String(), in.RequestURI, in.URL.RawQuery} {
		if strings.Contains(text, "token") || strings.Contains(text, "sgp_") {
			t.Errorf("the token is still there: %s", text)
		}
	}
	if q := in.URL.Query(); q.Get("q") != "a b" || q.Get("cm") != "t" || len(q["feat"]) != 2 {
		t.Errorf("the rest: got %v", q)
	}
}

// fakeBearers knows one token.
type fakeBearers struct {
	b   auth.Bearer
	err error
}

func (f fakeBearers) Bearer(_ context.Context, token string) (auth.Bearer, error) {
	if token != "good" {
		return auth.Bearer{}, identity.ErrNoCredential
	}
	return f.b, f.err
}

// manyBearers knows several tokens.
type manyBearers map[string]auth.Bearer

func (m manyBearers) Bearer(_ context.Context, token string) (auth.Bearer, error) {
	b, ok := m[token]
	if !ok {
		return b, identity.ErrNoCredential
	}
	return b, nil
}

func TestBearers(t *testing.T) {
	w := newWorld(t, identity.Options{})
	id := w.users["ann"].ID
	for _, c := range []struct {
		f      fakeBearers
		token  string
		access auth.Access
		want   string
	}{
		{fakeBearers{b: auth.Bearer{User: id, Client: "cli", Scopes: []string{"user:all"}}}, "good", auth.ForSearch, "ann"},
		{fakeBearers{b: auth.Bearer{User: id, Scopes: []string{"openid"}}}, "good", auth.ForSearch, tooLittle},
		{fakeBearers{b: auth.Bearer{User: id}}, "good", auth.ForSearch, tooLittle},
		{fakeBearers{b: auth.Bearer{User: id, Scopes: []string{"openid"}}}, "good", auth.ForAnyone, "ann"},
		{fakeBearers{b: auth.Bearer{User: id}}, "bad", auth.ForSearch, invalid},
		{fakeBearers{b: auth.Bearer{User: 99, Scopes: []string{"user:all"}}}, "good", auth.ForSearch, invalid},
		{fakeBearers{b: auth.Bearer{User: w.users["locked"].ID, Scopes: []string{"user:all"}}}, "good", auth.ForSearch, invalid},
		{fakeBearers{err: errors.New("disk")}, "good", auth.ForSearch, "Internal Server Error: internal error"},
	} {
		w.Bearers = c.f
		if got, _, _ := w.admit(t, request("GET", stream, "Authorization", "Bearer "+c.token), c.access); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.f, got, c.want)
		}
	}
}

func BenchmarkAdmit(b *testing.B) {
	w := newWorld(b, identity.Options{})
	for name, headers := range map[string][]string{
		"token": {"Authorization", "token " + w.creds["ann"]}, "session": {"Cookie", auth.CookieName + "=" + w.session, "X-Requested-With", "x"},
		"bad": {"Authorization", "token sgp_local_" + strings.Repeat("0", 40)},
	} {
		b.Run("credential="+name, func(b *testing.B) {
			r := request("GET", stream, headers...)
			b.ReportAllocs()
			for b.Loop() {
				if _, release, err := w.Admit(httptest.NewRecorder(), r, auth.ForSearch); err == nil {
					release()
				}
			}
		})
	}
}
