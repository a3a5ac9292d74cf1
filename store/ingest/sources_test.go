package ingest

import (
	"testing"

	"github.com/trawlsearch/trawl/store"
)

// TestGuardedNeedsAProxy: what was named over the API is fetched through a proxy or not at
// all, also where the proxy has no address.
func TestGuardedNeedsAProxy(t *testing.T) {
	none := func() (string, error) { return "", nil }
	some := func() (string, error) { return "http://127.0.0.1:1", nil }
	for _, c := range []struct {
		about   string
		guarded bool
		proxy   func() (string, error)
		want    string
		fails   bool
	}{
		{"not guarded", false, nil, "", false},
		{"guarded", true, some, "http://127.0.0.1:1", false},
		{"guarded, without a proxy", true, nil, "", true},
		{"guarded, with a proxy without an address", true, none, "", true},
	} {
		s := &sources{opts: Options{Proxy: c.proxy}}
		if got, err := s.proxy(&store.Repository{Guarded: c.guarded}); got != c.want || err != nil != c.fails {
			t.Errorf("%s: %q, %v; want %q, an error: %t", c.about, got, err, c.want, c.fails)
		}
	}
}
