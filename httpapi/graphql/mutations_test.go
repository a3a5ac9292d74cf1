package graphql_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// many is a mutation with n fields, in one of the ways to write them.
func many(way string, n int) string {
	field := func(i int) string {
		return fmt.Sprintf("m%d: createOrganization(name: \"guild-%d-%s\") { id } ", i, i, way)
	}
	var fields strings.Builder
	for i := range n {
		fields.WriteString(field(i))
	}
	switch way {
	case "inline":
		return "mutation { ... on Mutation { ... { " + fields.String() + "} } }"
	case "fragment":
		return "mutation { ...A } fragment A on Mutation { ...B } fragment B on Mutation { " + fields.String() + "}"
	case "second":
		return "query Q { site { id } } mutation M { " + fields.String() + "}"
	}
	return "mutation { __typename " + fields.String() + "}"
}

// A document of more than fifty mutations is refused before any of them runs.
func TestMutationsOfADocumentAreFew(t *testing.T) {
	w := newWorld(t)
	before := orgs(t, w)
	for _, way := range []string{"plain", "inline", "fragment", "second"} {
		for _, n := range []int{51, 499} {
			got := w.ask(many(way, n), nil, "Authorization", "token "+w.Tokens["root"])
			if !strings.Contains(got, fmt.Sprintf(`a document has at most 50 mutations, and this one has %d: send several`, n)) || strings.Contains(got, "data") {
				t.Errorf("%s, %d: got %.300s", way, n, got)
			}
		}
	}
	if after := orgs(t, w); after != before {
		t.Errorf("%d organisations were made", after-before)
	}
	if got := w.ask(many("plain", 50), nil, "Authorization", "token "+w.Tokens["root"]); strings.Contains(got, "errors") {
		t.Errorf("fifty: got %.300s", got)
	}
}

// A user has so many mutations a minute, whatever credential shows them; others
// and site admins have theirs, and questions are not counted.
func TestMutationsOfAUserAreFew(t *testing.T) {
	w := newWorld(t)
	const log = `logEvent(event: "x", userCookieID: "x", url: "x", source: WEB) { alwaysNil } `
	var fifty strings.Builder
	for i := range 50 {
		fmt.Fprintf(&fifty, "m%d: %s", i, log)
	}
	document := "mutation { " + fifty.String() + "}"
	send := func(as, document string) int {
		t.Helper()
		header := []string{}
		if as != "" {
			header = append(header, "Authorization", "token "+w.Tokens[as])
		}
		resp, body := w.post(fmt.Sprintf(`{"query":%q}`, document), header...)
		if resp.StatusCode == http.StatusTooManyRequests && resp.Header.Get("Retry-After") == "" {
			t.Errorf("no Retry-After: %v", resp.Header)
		}
		if resp.StatusCode == http.StatusOK && strings.Contains(body, "errors") {
			t.Errorf("as %q: %.300s", as, body)
		}
		return resp.StatusCode
	}
	for _, as := range []string{"ann", "bob", ""} {
		if got := send(as, document); got != 200 {
			t.Errorf("fifty of %q: got %d", as, got)
		}
		if got := send(as, document); got != 429 {
			t.Errorf("fifty more of %q at once: got %d, want 429", as, got)
		}
		if got := send(as, `{ site { id } }`); got != 200 {
			t.Errorf("a question of %q: got %d", as, got)
		}
	}
	again, err := w.Registry.UserNamed("ann")
	if err != nil {
		t.Fatal(err)
	}
	w.Tokens["ann, again"] = w.Token(again)
	if got := send("ann, again", document); got != 429 {
		t.Errorf("fifty more with a new token: got %d, want 429", got)
	}
	for range 5 {
		if got := send("root", document); got != 200 {
			t.Errorf("a site admin: got %d", got)
		}
	}
}

func orgs(t *testing.T, w *world) int {
	t.Helper()
	all, err := w.Registry.Orgs()
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}
