package saved_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/saved"
)

func open(t testing.TB, fs vfs.FS) *store.Store {
	t.Helper()
	st, err := store.Open("data", store.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func TestSiteIDStays(t *testing.T) {
	fs := vfs.NewMem()
	id := func() string {
		t.Helper()
		st := open(t, fs)
		defer st.Close()
		id, err := saved.Open(st, saved.Options{}).SiteID()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := id()
	if again := id(); first == "" || again != first {
		t.Errorf("site ids %q and %q, want one", first, again)
	}
	fs = vfs.NewMem()
	if other := id(); other == first {
		t.Errorf("two data directories have the site id %q", other)
	}
}
