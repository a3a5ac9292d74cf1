package service

import (
	"slices"
	"testing"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/internal/gitrepo"
)

// TestGainedAsksForNewRepositories: a node that gains a part of the work has those of
// its repositories synced that were added while the part was no node's.
func TestGainedAsksForNewRepositories(t *testing.T) {
	set := config.Defaults(config.Machine{MemoryBytes: 1 << 30})
	set.Data, set.MinFreeBytes = t.TempDir(), 0
	s, err := Open(t.Context(), set, Options{Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{"new", "old"} {
		dir := t.TempDir()
		repo := gitrepo.New(t, dir)
		repo.Write("a.txt", name)
		repo.Commit("first")
		if _, err := s.Repositories().Add(t.Context(), name+"="+dir); err != nil {
			t.Fatal(err)
		}
	}
	s.repositories.asked.take()
	if _, err := s.Repositories().Sync(t.Context(), "old", nil); err != nil {
		t.Fatal(err)
	}
	s.gained()
	if got := s.repositories.asked.take(); !slices.Equal(got, []string{"new"}) {
		t.Errorf("asked for %q", got)
	}
}
