package ingest_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
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
	if n, err := ingest.SweepMirrors(f.st); n != 0 || err != nil {
		t.Errorf("without mirrors: %d removed, %v", n, err)
	}
	mirrors := filepath.Join(f.st.Dir(), "mirrors")
	stay := []string{f.st.GitDirs().Dir(r), f.st.GitDirs().Dir(r) + ".partial", filepath.Join(mirrors, "notes.git"), filepath.Join(mirrors, "77")}
	gone := []string{filepath.Join(mirrors, "77.git"), filepath.Join(mirrors, "78.git.partial"), f.st.GitDirs().Dir(r) + ".old"}
	for _, dir := range slices.Concat(stay, gone) {
		if err := os.MkdirAll(filepath.Join(dir, "objects"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := ingest.SweepMirrors(f.st); n != len(gone) || err != nil {
		t.Errorf("%d removed, %v; want the mirrors without a repository", n, err)
	}
	for _, dir := range stay {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("%s: %v, want it to stay", dir, err)
		}
	}
	for _, dir := range gone {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is still there", dir)
		}
	}
}

// TestSweepMirrorsPutsBack: a crash between the two renamings by which a mirror
// takes the place of another leaves the place empty. The old one, which may be
// all that is left of its source, is not thrown away.
func TestSweepMirrorsPutsBack(t *testing.T) {
	f := newFixture(t, ingest.Options{})
	r, err := f.ix.Add(context.Background(), ingest.Source{Name: "kept", Location: "https://git.example.org/kept", Remote: true})
	if err != nil {
		t.Fatal(err)
	}
	dir := f.st.GitDirs().Dir(r)
	for _, made := range []string{dir + ".old/kept", dir + ".partial/new", filepath.Join(filepath.Dir(dir), "77.git.old")} {
		if err := os.MkdirAll(made, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := ingest.SweepMirrors(f.st); n != 1 || err != nil {
		t.Errorf("%d removed, %v; want the one without a repository", n, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "kept")); err != nil {
		t.Errorf("the old mirror is not back: %v", err)
	}
}
