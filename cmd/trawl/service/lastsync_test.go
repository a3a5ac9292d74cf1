package service_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi/manage"
)

// TestLastSync: the log of a mirror's sync has what git said, the steps and what followed
// them. A look that finds nothing new leaves it, and reindexing makes another.
func TestLastSync(t *testing.T) {
	set := config.Defaults(config.Machine{MemoryBytes: 1 << 30})
	set.Data, set.MinFreeBytes = t.TempDir(), 0
	s, err := service.Open(t.Context(), set, service.Options{Log: zerolog.Nop(), History: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	dir := filepath.Join(t.TempDir(), "kiln")
	commit(t, dir, "a.txt", "glaze")
	commit(t, dir, "b", "\x00\x01")
	all := s.Repositories()
	if _, err := all.Add(t.Context(), "kiln=file://"+dir); err != nil {
		t.Fatal(err)
	}
	last := func() *manage.SyncLog { return all.LastSync(t.Context(), find(t, s, "kiln")).Log }
	if log := last(); log != nil {
		t.Errorf("got %+v before any sync", log)
	}
	sync := func() {
		t.Helper()
		if _, err := all.Sync(t.Context(), "kiln", ignore); err != nil {
			t.Fatal(err)
		}
	}
	sync()
	if _, err := s.Upkeep().History(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	first := last()
	if first == nil || first.Added != 2 || first.Reindexed || first.Error != "" || len(first.Branches) != 1 || first.Branches[0].Name != "main" ||
		len(first.Skipped) != 1 || first.Skipped[0] != (manage.SkippedCount{Reason: "binary", Count: 1}) || !strings.Contains(strings.Join(first.Git, "\n"), "Receiving objects: 100%") {
		t.Fatalf("got %+v", first)
	}
	var phases []string
	for _, step := range first.Steps {
		phases = append(phases, step.Phase)
		if want := map[string]int{"index": 2, "history": 2}[step.Phase]; step.Count != want {
			t.Errorf("step %+v, want a count of %d", step, want)
		}
	}
	for _, phase := range []string{"fetch", "list", "index", "commit", "history"} {
		if !slices.Contains(phases, phase) {
			t.Errorf("steps are %q, want %s among them", phases, phase)
		}
	}
	sync()
	if last() != first {
		t.Error("a look that found nothing new made a log")
	}
	if err := all.Reindex("kiln"); err != nil {
		t.Fatal(err)
	}
	sync()
	if log := last(); !log.Reindexed || log.Added != 2 || log.Removed != 2 || len(log.Branches) != 0 {
		t.Errorf("got %+v, want all read again", log)
	}
}
