package graphql_test

import (
	"context"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/identity"
)

// bearers are OAuth tokens, each by the ID of its user.
type bearers map[string]uint32

func (b bearers) Bearer(_ context.Context, token string) (auth.Bearer, error) {
	user, ok := b[token]
	if !ok {
		return auth.Bearer{}, identity.ErrNoCredential
	}
	return auth.Bearer{User: user, Client: "app", Scopes: []string{identity.ScopeAll}}, nil
}

// What an OAuth app could do to stay after its grant is revoked is refused; what
// else its user may do it can.
func TestAppsMakeNoCredentials(t *testing.T) {
	w := newWorld(t)
	w.Gate.Bearers = bearers{"root's": 1, "ann's": 2}
	const refused = "an OAuth app cannot make credentials or site admins: sign in, or use an access token"
	for _, c := range []struct{ who, document, want string }{
		{"ann's", `mutation { createAccessToken(user: "VXNlcjoy", durationSeconds: 60, scopes: ["user:all"], note: "") { token } }`, refused},
		{"root's", `mutation { createAccessToken(user: "VXNlcjox", durationSeconds: 60, scopes: ["user:all", "site-admin:sudo"], note: "") { token } }`, refused},
		{"root's", `mutation { createAccessToken(user: "VXNlcjo0", durationSeconds: 60, scopes: ["user:all"], note: "") { token } }`, refused},
		{"root's", `mutation { createUser(username: "eve") { resetPasswordURL } }`, refused},
		{"root's", `mutation { randomizeUserPassword(user: "VXNlcjoz") { resetPasswordURL } }`, refused},
		{"root's", `mutation { setUserIsSiteAdmin(userID: "VXNlcjoz", siteAdmin: true) { alwaysNil } }`, refused},

		{"ann's", `mutation { createOrganization(name: "guild") { name } }`, `"guild"`},
		{"ann's", `mutation { createSearchJob(query: "glaze") { id } }`, `"id"`},
		{"root's", `mutation { createUser(username: "ci", serviceAccount: true) { resetPasswordURL } }`, `"resetPasswordURL": null`},
		{"root's", `mutation { setUserIsSiteAdmin(userID: "VXNlcjoz", siteAdmin: false) { alwaysNil } }`, `"alwaysNil": null`},
		{"root's", `{ currentUser { username } }`, `"root"`},
	} {
		got := w.ask(c.document, nil, "Authorization", "Bearer "+c.who)
		if !strings.Contains(got, c.want) || c.want != refused && strings.Contains(got, "errors") {
			t.Errorf("%s\ngot  %s\nwant %s", c.document, got, c.want)
		}
	}
	tokens, err := w.Registry.Tokens(0)
	if err != nil || len(tokens) != 3 {
		t.Errorf("there are %d tokens, %v; want the three of before", len(tokens), err)
	}
	if _, err := w.Registry.UserNamed("eve"); err == nil {
		t.Error("an app made a user with a way to sign in")
	}
}
