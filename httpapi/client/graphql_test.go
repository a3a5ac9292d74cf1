package client_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/client"
)

// Answers of JSON without data or errors come from something else than a
// GraphQL server.
func TestGraphQLOfOtherServers(t *testing.T) {
	for body, want := range map[string]string{
		`{"data":null}`:                   "",
		`{"data":{"site":null}}`:          "",
		`{"errors":[{"message":"m"}]}`:    "",
		`{"data":{},"errors":[]}`:         "",
		`null`:                            "is no answer to a GraphQL document",
		`[1]`:                             "is no answer to a GraphQL document",
		`{}`:                              "is no answer to a GraphQL document",
		`{"hello":1}`:                     "is no answer to a GraphQL document",
		`{"errors":[]}`:                   "is no answer to a GraphQL document",
		`{"errors":{"message":"object"}}`: "is no answer to a GraphQL document",
		``:                                "is no answer to a GraphQL document",
		`{"data":{}} {"data":{}}`:         "is no answer to a GraphQL document",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, body)
		}))
		_, err := client.GraphQL(t.Context(), s.URL, params(t, ""), client.Document{Query: "{ site { id } }"})
		s.Close()
		if got := ""; want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			if err != nil {
				got = err.Error()
			}
			t.Errorf("%s: got error %q, want %q", body, got, want)
		}
	}
}

// A document that a redirect would turn into a request without one is not sent
// on; the address to ask is told.
func TestGraphQLRedirected(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved/.api/graphql":
			http.Redirect(w, r, "/new/.api/graphql", http.StatusMovedPermanently)
		case "/kept/.api/graphql":
			http.Redirect(w, r, "/new/.api/graphql", http.StatusPermanentRedirect)
		default:
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"data":`+string(body)+`}`)
		}
	}))
	defer s.Close()
	_, err := client.GraphQL(t.Context(), s.URL+"/moved", params(t, ""), client.Document{Query: "{ a }"})
	if want := "redirected to " + s.URL + "/new/.api/graphql"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want that it was %s", err, want)
	}
	answer, err := client.GraphQL(t.Context(), s.URL+"/kept", params(t, ""), client.Document{Query: "{ a }"})
	if err != nil || string(answer.Body) != `{"data":{"query":"{ a }"}}` {
		t.Errorf("got %+v, %v; want the answer of the new address", answer, err)
	}
}
