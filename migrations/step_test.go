package migrations_test

import (
	"testing"

	"github.com/trawlsearch/trawl/migrations"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// TestVersionsStay: a number once given to a format is its number for good.
func TestVersionsStay(t *testing.T) {
	for _, v := range []struct {
		name      string
		got, want store.FormatVersion
	}{
		{"FormatBlocks", store.FormatBlocks, 1},
		{"FormatNumbered", store.FormatNumbered, 2},
		{"FormatNewest", store.FormatNewest, 2},
	} {
		if v.got != v.want {
			t.Errorf("%s is %d, want %d: versions are never renumbered; a new one needs a step, a fixture and a line here", v.name, v.got, v.want)
		}
	}
	for _, v := range []struct {
		name      string
		got, want shard.IndexVersion
	}{
		{"IndexFoldedLists", shard.IndexFoldedLists, 1},
		{"IndexExactLists", shard.IndexExactLists, 2},
		{"IndexPackedText", shard.IndexPackedText, 3},
		{"IndexNewest", shard.IndexNewest, 3},
	} {
		if v.got != v.want {
			t.Errorf("%s is %d, want %d: versions are never renumbered; a new one needs a line here", v.name, v.got, v.want)
		}
	}
}

// TestPath: from every version a chain of steps leads to the newest.
func TestPath(t *testing.T) {
	for v := store.FormatBlocks; v <= store.FormatNewest; v++ {
		path, err := migrations.Path(v)
		if err != nil || len(path) != int(store.FormatNewest-v) {
			t.Fatalf("from version %d: %d steps, %v; want %d", v, len(path), err, store.FormatNewest-v)
		}
		for i, s := range path {
			if s.From != v+store.FormatVersion(i) || s.Run == nil || s.Count == nil || s.About == "" {
				t.Errorf("step %d from version %d is %+v", i, v, s)
			}
		}
	}
	for _, v := range []store.FormatVersion{0, store.FormatNewest + 1} {
		if _, err := migrations.Path(v); err == nil {
			t.Errorf("there is a path from version %d, which is unknown", v)
		}
	}
}
