package graphql_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
)

// repeated asks n times for a field.
func repeated(n int, field string) string { return strings.Repeat(field+" ", n) }

// Up to the limit a field may stand as often as one likes; beyond, the limit says
// so, and no rule of validation before it.
func TestRepeatedFields(t *testing.T) {
	w := newWorld(t)
	names := []string{"productVersion", "buildVersion", "siteID", "id", "canReloadSite"}
	var several strings.Builder
	for _, name := range names {
		several.WriteString(repeated(500, name))
	}
	for _, tt := range []struct {
		name, document string
		status         int
		want           string
	}{
		{"201 times", `{ currentUser { ` + repeated(201, "username") + `} }`, 200, `"username"`},
		{"as often as the limit", `{ site { ` + repeated(500, "id") + `} }`, 200, `"id"`},
		{"once more", `{ site { ` + repeated(501, "id") + `} }`, 400, `"Query exceeds maximum duplicate field count limit"`},
		{"objects as often as the limit", `{ ` + repeated(500, "a: currentUser { username }") + `}`, 200, `"username"`},
		{"objects", `{ ` + repeated(300, "site { id }") + `}`, 200, `"id"`},
		{"several", `{ site { ` + several.String() + `} }`, 200, "names the same fields too often"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body, err := json.Marshal(map[string]string{"query": tt.document})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			resp, answer := w.post(string(body), "Authorization", "token "+w.Tokens["root"])
			if resp.StatusCode != tt.status || !strings.Contains(answer, tt.want) {
				t.Errorf("got %d %.300s\nwant %d with %s", resp.StatusCode, answer, tt.status, tt.want)
			}
			t.Log(time.Since(began))
		})
	}
}

// Limits are in force for the next request once they are set.
func TestLimitsChange(t *testing.T) {
	w := newWorld(t)
	ask := func() (int, string) {
		body := fmt.Sprintf(`{"query": "{ currentUser { %s } }"}`, strings.TrimSpace(repeated(9, "username")))
		resp, answer := w.post(body, "Authorization", "token "+w.Tokens["root"])
		return resp.StatusCode, answer
	}
	if status, answer := ask(); status != 200 {
		t.Fatalf("got %d %s", status, answer)
	}
	before := w.endpoint.Limits.Set(cost.Limits{DuplicateFields: 8, Depth: 1})
	want := `"limit":8`
	if status, answer := ask(); status != 400 || !strings.Contains(answer, want) || !strings.Contains(answer, "query depth") {
		t.Errorf("got %d %s, want the new limits of duplicates and of depth", status, answer)
	}
	changes := before.Changes(w.endpoint.Limits.Load())
	if got, want := fmt.Sprint(changes), "[graphQLMaxDepth: 30 -> 1 graphQLMaxDuplicateFieldCount: 500 -> 8]"; got != want {
		t.Errorf("changes are %s, want %s", got, want)
	}
	w.endpoint.Limits.Set(cost.Limits{})
	if status, answer := ask(); status != 200 {
		t.Errorf("got %d %s with the limits of before", status, answer)
	}
}
