package client_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/client"
)

func TestReadTrace(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch {
		case r.URL.Path == "/broken":
			fmt.Fprint(w, "<html>")
		case r.URL.String() != "/-/trace/1?format=json" || r.Header.Get("Authorization") != "token x":
			http.Error(w, "no trace with this id", http.StatusNotFound)
		default:
			fmt.Fprint(w, `{"steps":[{"name":"parse","start_us":1,"took_us":2,"fields":{"lists":3}}],`+
				`"coverage":[{"repository":"r","commit":"ab","documents":4,"candidates":2,"unsearched":[{"reason":"binary","documents":1}]}],`+
				`"rest":{"repositories":5}}`)
		}
	}))
	defer server.Close()
	p := client.Params{Header: http.Header{"Authorization": {"token x"}}}
	got, err := client.ReadTrace(t.Context(), server.URL, server.URL+"/-/trace/1?page=2", p)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Steps) != 1 || got.Steps[0].Took != 2 || len(got.Coverage) != 1 || *got.Coverage[0].Candidates != 2 ||
		got.Coverage[0].Verified != nil || got.Coverage[0].Unsearched[0].Documents != 1 || got.Rest.Repositories != 5 {
		t.Errorf("got %+v", got)
	}
	for _, tt := range []struct {
		name, link, want string
		asks             int
	}{
		{"none", server.URL + "/-/trace/2", "no trace with this id", 1},
		{"no JSON", server.URL + "/broken", "decode", 1},

		// the token goes to no other host
		{"another host", "http://example.com/-/trace/1", "is not at " + server.URL, 0},
		{"another scheme", strings.Replace(server.URL, "http:", "https:", 1) + "/-/trace/1", "is not at", 0},
		{"no URL", ":", "missing protocol scheme", 0},
	} {
		asked = 0
		if _, err := client.ReadTrace(t.Context(), server.URL, tt.link, p); err == nil || !strings.Contains(err.Error(), tt.want) || asked != tt.asks {
			t.Errorf("%s: error %v after %d requests, want one with %q after %d", tt.name, err, asked, tt.want, tt.asks)
		}
	}
}
