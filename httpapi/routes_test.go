package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/trawlsearch/trawl/httpapi"
)

func TestTemplate(t *testing.T) {
	for path, want := range map[string]string{
		"/":                               "/",
		"/-/trace/{id}":                   "/-/trace/{id}",
		`/{repo:[^/]+}{rev:(?:@.*)?}/-/x`: "/{repo}{rev}/-/x",
		`/a/{n:[0-9]{2,3}}.txt`:           "/a/{n}.txt",
	} {
		if got := (httpapi.Route{Path: path}).Template(); got != want {
			t.Errorf("template of %s: got %s, want %s", path, got, want)
		}
	}
}

// What begins with a variable takes what no other route does.
func TestRouteOrder(t *testing.T) {
	s := newServer(nothing)
	answer := func(text string) httpapi.Handler {
		return func(w http.ResponseWriter, _ *http.Request) error {
			_, err := io.WriteString(w, text)
			return err
		}
	}
	s.Extra = []httpapi.Route{
		{Method: "GET", Path: "/{any:.+}", Handler: answer("any")}, {Method: "GET", Path: "/device", Handler: answer("device")},
		// of others the first takes what both match, whether it has variables or not
		{Method: "GET", Path: "/first/{name}", Handler: answer("named")}, {Method: "GET", Path: "/first/plain", Handler: answer("plain")},
		{Method: "GET", Path: "/second/plain", Handler: answer("plain")}, {Method: "GET", Path: "/second/{name}", Handler: answer("named")},
	}
	for path, want := range map[string]string{
		"/device": "device", "/other": "any", "/healthz": "ok\n",
		"/first/plain": "named", "/first/other": "named", "/second/plain": "plain", "/second/other": "named",
	} {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Body.String() != want {
			t.Errorf("%s: got %q, want %q", path, w.Body, want)
		}
	}
}
