package graphql_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// A repository with a shard that is set aside says so until it was indexed anew.
func TestDamagedRepository(t *testing.T) {
	w := newWorld(t)
	sn := w.Store.Snapshot()
	kiln, err := sn.Repository("lab/kiln")
	if err != nil {
		t.Fatal(err)
	}
	if err := sn.Close(); err != nil {
		t.Fatal(err)
	}
	const document = `{
		repository(name: "lab/kiln") { mirrorInfo { isCorrupted corruptionLogs { timestamp reason } } }
		repositories(corrupted: true) { nodes { name } }
		repositoryStats { corrupted }
	}`
	type log struct{ Timestamp, Reason string }
	type answer struct {
		Repository struct {
			MirrorInfo struct {
				IsCorrupted    bool
				CorruptionLogs []log
			}
		}
		Repositories    struct{ Nodes []struct{ Name string } }
		RepositoryStats struct{ Corrupted int }
	}
	check := func(when string, want []log) {
		t.Helper()
		var a answer
		w.data(&a, document, nil)
		n := 0
		for _, r := range a.Repositories.Nodes {
			if r.Name == "lab/kiln" {
				n++
			}
		}
		m := a.Repository.MirrorInfo
		if m.IsCorrupted != (len(want) > 0) || !slices.Equal(m.CorruptionLogs, want) || (n > 0) != m.IsCorrupted || (a.RepositoryStats.Corrupted > 0) != m.IsCorrupted {
			t.Errorf("%s: got %+v, want the logs %+v", when, a, want)
		}
	}
	check("before", nil)
	damage := fmt.Errorf("verify %q: %w", "a/path", &shard.Error{Shard: kiln.Shards[0], Err: fmt.Errorf("chunk 0: %w", store.ErrCorrupt)})
	if _, err := w.Store.SetAside(kiln.Shards[0], damage, time.Unix(1_700_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	check("damaged", []log{{"2023-11-14T22:13:20Z", "chunk 0: corrupt"}})
	w.Sync("lab/kiln")
	check("indexed anew", nil)
}
