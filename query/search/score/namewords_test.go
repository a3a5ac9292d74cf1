package score

import (
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query/search/ident"
)

func TestNameWords(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"", ""},
		{"delta_cache", "delta cache"},
		{"deltaCache", "delta cache"},
		{"HTTPServer", "http server"},
		{"DBOptions2", "db options 2"},
		{"__init__", "init"},
		{"pack-objects", "pack objects"},
		{"t6600", "t 6600"},
		{"grüße", "gr üß e"}, // bytes outside ASCII are a class of their own
		{"a b", "a b"},
	} {
		if got := strings.Join(ident.Words(nil, tt.name), " "); got != tt.want {
			t.Errorf("nameWords(%q): got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestAlike(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"ox", "ox", true},
		{"ox", "oxen", false},
		{"scrape", "scraping", true},
		{"alert", "alerts", true},
		{"fix", "fixture", false},
		{"trace", "race", false},
		{"", "", true},
	} {
		if got := alike(tt.a, tt.b); got != tt.want || alike(tt.b, tt.a) != got {
			t.Errorf("alike(%q, %q): got %t, and %t the other way round, want %t", tt.a, tt.b, got, alike(tt.b, tt.a), tt.want)
		}
	}
}
