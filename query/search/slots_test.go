package search

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store"
)

// TestSlotsAreWorkers: as many search at once as the settings say.
func TestSlotsAreWorkers(t *testing.T) {
	st, err := store.Open("data", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if _, free := New(st, Settings{Workers: 3}).AtWork(); free != 3 {
		t.Errorf("%d slots for 3 workers", free)
	}
}
