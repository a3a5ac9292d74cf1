package httpapi_test

import (
	"strings"
	"testing"
)

// TestQueryErrors asks a stream for queries that cannot be run.
func TestQueryErrors(t *testing.T) {
	tests := []struct{ target, want string }{
		// parameters that only planning checks
		{"?q=x&v=V9", `event: error` + "\n" + `data: {"message":"unrecognized version: want \"V1\", \"V2\", or \"V3\", got \"V9\""}`},
		{"?q=x&t=regex", `event: error` + "\n" + `data: {"message":"unrecognized patternType \"regex\""}`},

		// queries
		{"?q=count:none+glaze", `event: alert` + "\n" + `data: {"title":"Unable To Process Query","description":"Field count has value none, none is not a number","proposedQueries":null}`},
		{"?q=x+file:*.go&t=keyword", `event: alert` + "\n" + `data: {"title":"Unable To Process Query","description":"Error parsing regexp: missing argument to repetition operator: ` + "`*`" + `","proposedQueries":[{"description":"the query mended","query":"x file:\\.go$ patternType:keyword"}]}`},
		{"?q=(a+or+b)+c", `event: alert` + "\n" + `data: {"title":"Unable To Process Query","description":"I'm having trouble understanding that query. The combination of parentheses is the problem. Try using the content: filter to quote patterns that contain parentheses","proposedQueries":[{"description":"the query mended","query":"(a or b) c patternType:keyword"}]}`},
		{"?q=a+or+or+b&t=keyword", `event: alert` + "\n" + `data: {"title":"Unable To Process Query","description":"I'm having trouble understanding that query. Putting parentheses around the search pattern may help.","proposedQueries":null}`},
	}
	s := newServer(nothing)
	for _, tt := range tests {
		want := tt.want + "\n\nevent: done\ndata: {}\n\n"
		if got := bodyOf(t, serve(s, "GET", "/.api/search/stream"+tt.target)); got != want {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", tt.target, got, want)
		}
	}
	if got := bodyOf(t, serve(s, "GET", "/.api/search/stream?q=repo:a+b+or+c")); !strings.Contains(got, `"done":true`) {
		t.Errorf("a good query is answered:\n%s", got)
	}
}
