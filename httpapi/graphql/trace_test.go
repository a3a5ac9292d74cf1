package graphql_test

import (
	"strings"
	"testing"
)

// Every answer names its trace, whose page has the steps of the first search.
func TestAnswersAreTraced(t *testing.T) {
	w := newWorld(t)
	for _, tt := range []struct{ document, page string }{
		{`{"query": "{ currentUser { username } }"}`, "<h1>One request</h1>"},
		{`{"query": "query Find { search(query: \"glaze\") { results { matchCount } } }", "operationName": "Find"}`, "GraphQL, Find"},
		{`{"query": "query Find { search(query: \"glaze\") { results { matchCount } } }"}`, "<td>verify</td>"},
		{`{"query": "{"}`, "answered with errors"},
	} {
		resp, answer := w.post(tt.document, "Authorization", "token "+w.Tokens["root"])
		id, url := resp.Header.Get("X-Trace"), resp.Header.Get("X-Trace-URL")
		if len(id) != 32 || len(resp.Header.Get("X-Trace-Span")) != 16 || !strings.HasSuffix(url, "/-/trace/"+id) {
			t.Fatalf("%s has the headers %v and is %s", tt.document, resp.Header, answer)
		}
		_, page := w.get("/-/trace/"+id, "root")
		if !strings.Contains(page, tt.page) {
			t.Errorf("the trace of %s is %s\nwant %s in it", tt.document, page, tt.page)
		}
	}
}
