package ingest_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/trawlsearch/trawl/store/ingest"
)

// TestSweepMirrors: what a crash leaves of a removed repository goes, and nothing
// else.
func TestSweepMirrors(t *testing.T) {
	f := newFixture(t, ingest.Options{})
	r, err := f.ix.Add(context.Background(), ingest.Source{Name: "kept", Location: "https://git.example.org/kept", Remote: true})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := f.ix.SweepMirrors(); n != 0 || err != nil {
		t.Errorf("without mirrors: %d removed, %v", n, err)
	}
	mirrors := filepath.Join(f.st.Dir(), "mirrors")
	stay := []string{f.st.GitDir(r), filepath.Join(mirrors, "notes.git"), filepath.Join(mirrors, "77")}
	gone := filepath.Join(mirrors, "77.git")
	for _, dir := range append(stay, gone) {
		if err := os.MkdirAll(filepath.Join(dir, "objects"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := f.ix.SweepMirrors(); n != 1 || err != nil {
		t.Errorf("%d removed, %v; want the mirror of nobody", n, err)
	}
	for _, dir := range stay {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("%s: %v, want it to stay", dir, err)
		}
	}
	if _, err := os.Stat(gone); err == nil {
		t.Errorf("%s is still there", gone)
	}
}
