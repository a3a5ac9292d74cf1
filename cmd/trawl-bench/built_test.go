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
	scratch *scratch
	binary  string
	err     error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.scratch != nil {
		built.scratch.close(&built.err)
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
		built.scratch, built.err = openScratch(context.Background(), &built.binary, func(string) {})
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.binary
}

// TestScratch: a scratch is gone when it is closed, unless it is kept.
func TestScratch(t *testing.T) {
	for _, kept := range []bool{false, true} {
		t.Setenv("TMPDIR", t.TempDir())
		binary := "named"
		s, err := openScratch(t.Context(), &binary, func(note string) { t.Errorf("told %q without anything to build", note) })
		if err != nil {
			t.Fatal(err)
		}
		s.kept = kept
		s.close(&err)
		if _, statErr := os.Stat(s.dir); err != nil || binary != "named" || (statErr == nil) != kept {
			t.Errorf("kept %v: error %v, binary %q, the directory: %v", kept, err, binary, statErr)
		}
	}
}
