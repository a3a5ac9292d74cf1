package backups_test

import (
	"testing"

	"github.com/trawlsearch/trawl/cmd/trawl/backups"
)

func TestOpenDestination(t *testing.T) {
	for text, want := range map[string]string{
		"/srv/shared":                  "/srv/shared",
		"/srv/../srv/shared/":          "/srv/shared",
		"file:///srv/shared":           "/srv/shared",
		"file://localhost/srv/a%20b":   "/srv/a b",
		"file:///":                     "/",
		"file://other/srv/shared":      "",
		"file://srv":                   "",
		"file:///srv?x=1":              "",
		"file:///srv#x":                "",
		"file://u@localhost/srv":       "",
		"file:///%zz":                  "",
		"https://example.com/a/bucket": "",
		"srv/shared":                   "",
		"":                             "",
	} {
		got, err := backups.OpenDestination(text)
		if (err == nil) != (want != "") || err == nil && got.String() != want {
			t.Errorf("%q: %v, %v, want %q", text, got, err, want)
		}
	}
}
