package graphql_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/identity"
)

// TestMutationsThatEndThemselves: who revokes their own token, or leaves an
// organisation, is told that it is done, and nothing else is done then.
func TestMutationsThatEndThemselves(t *testing.T) {
	const done = `{"alwaysNil":null}`
	for _, c := range []struct {
		about, document string
		want            string
		again           int // the status of a request behind it
	}{
		{"their token", `mutation ($token: String!) { deleteAccessToken(byToken: $token) { alwaysNil } }`, `{"data":{"deleteAccessToken":` + done + `}}`, 401},
		{"their membership", `mutation { removeUserFromOrganization(user: "VXNlcjoy", organization: "T3JnOjE=") { alwaysNil } }`,
			`{"data":{"removeUserFromOrganization":` + done + `}}`, 200},
		{"their token, then more", `mutation ($token: String!) { deleteAccessToken(byToken: $token) { alwaysNil } createOrganization(name: "guild") { id } }`,
			`{"errors":[{"message":"the request was ended before it was answered"}]}`, 401},
	} {
		w := newWorld(t)
		token := w.Tokens["ann"]
		body := fmt.Sprintf(`{"query":%q,"variables":{"token":%q}}`, c.document, token)
		_, got := w.post(body, "Authorization", "token "+token)
		if strings.TrimSpace(got) != c.want {
			t.Errorf("%s: got %s, want %s", c.about, got, c.want)
		}
		if resp, _ := w.post(`{"query":"{ currentUser { id } }"}`, "Authorization", "token "+token); resp.StatusCode != c.again {
			t.Errorf("%s: got %d afterwards, want %d", c.about, resp.StatusCode, c.again)
		}
		if _, err := w.Registry.OrgNamed("guild"); err == nil {
			t.Errorf("%s: more was done", c.about)
		}
	}
}

// A request ends when its user loses the right to it.
func TestQueriesEndWithTheirCredential(t *testing.T) {
	w := newWorld(t)
	w.searching = func() {
		u, err := w.Registry.UserNamed("ann")
		if err == nil {
			err = w.Registry.DeleteUser(identity.Operator, u.ID)
		}
		if err != nil {
			t.Error(err)
		}
	}
	got := w.ask(`{ search(query: "glaze") { results { matchCount } } currentUser { id } }`, nil, "Authorization", "token "+w.Tokens["ann"])
	if !strings.Contains(got, "the request was ended before it was answered") || strings.Contains(got, "data") {
		t.Errorf("got %s", got)
	}
}
