package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/trawlsearch/trawl/internal/race"
)

// raced are the commands, as a pattern of the shell, that scripts run with the
// race detector: those that change a store with many goroutines.
const raced = `"serve "*|"index "*|"backup "*|"check "*|"migrate "*|"repo add"|"repo sync"`

// plainPrograms returns what is to stand before PATH. With the race detector
// trawl takes a third of a second to start, so the commands that ask and are
// gone, some 400 of 500 in the scripts, are those of a program without it. What
// they do side by side, the tests of the packages do with it, and
// TestRunLeavesNothingBehind.
func plainPrograms(t *testing.T) string {
	t.Helper()
	if !race.Enabled {
		return ""
	}
	slow, err := exec.LookPath("trawl") // TestMain has put this program there
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := "#!/bin/sh\ncase \"$1 $2\" in " + raced + ") exec '" + slow + "' \"$@\";; esac\nexec '" + plainTrawl(t) + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "trawl"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir + string(filepath.ListSeparator)
}

// plainTrawl returns the program without the race detector: that of
// TRAWL_TEST_BINARY, or one built here.
func plainTrawl(t *testing.T) string {
	t.Helper()
	if binary := os.Getenv("TRAWL_TEST_BINARY"); binary != "" {
		return binary
	}
	binary := filepath.Join(t.TempDir(), "trawl")
	cmd := exec.Command("go", "build", "-race=false", "-buildvcs=false", "-ldflags", "-s -w", "-o", binary, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build trawl: %v: %s", err, out)
	}
	return binary
}
