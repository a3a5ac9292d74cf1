package main

import (
	"context"
	"os"
	"sync"
	"testing"
)

// built is trawl's binary, built once: linking it takes longer than most tests.
var built struct {
	sync.Once
	dir    string
	binary string
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// builtTrawl returns the path of trawl's binary, which TRAWL_TEST_BINARY may
// name. Tests that are to be short do without.
func builtTrawl(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and starts servers")
	}
	if binary := os.Getenv("TRAWL_TEST_BINARY"); binary != "" {
		return binary
	}
	built.Do(func() {
		built.err = inScratch(context.Background(), &built.binary, func(string) {}, func(s *scratch) error {
			built.dir, s.kept = s.dir, true
			return nil
		})
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.binary
}

// TestScratch: a scratch is gone when its command has ended, unless it is kept.
func TestScratch(t *testing.T) {
	for _, kept := range []bool{false, true} {
		t.Setenv("TMPDIR", t.TempDir())
		binary, dir := "named", ""
		err := inScratch(t.Context(), &binary, func(note string) { t.Errorf("told %q without anything to build", note) }, func(s *scratch) error {
			dir, s.kept = s.dir, kept
			return nil
		})
		if _, statErr := os.Stat(dir); err != nil || binary != "named" || (statErr == nil) != kept {
			t.Errorf("kept %v: error %v, binary %q, the directory: %v", kept, err, binary, statErr)
		}
	}
}
