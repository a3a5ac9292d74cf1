package httpapi_test

import (
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
