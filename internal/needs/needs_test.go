package needs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMissingProgramSkipsAndNamesItsPackage(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for program, want := range map[string]string{
		"ctags":    "(Debian package universal-ctags)",
		"gone":     "(Debian package gone)",
		"promtool": "(Debian package prometheus)",
		"src":      "(no Debian package)",
	} {
		line := &recorder{TB: t}
		if path := Program(line, program); path != "" {
			t.Errorf("%s: found %s", program, path)
		}
		if got := line.skipped; strings.Contains(got, "\n") ||
			!strings.Contains(got, "left out "+t.Name()) || !strings.Contains(got, want) {
			t.Errorf("%s: skipped with %q, want one line with the test and the package %s", program, got, want)
		}
	}
}

func TestProgramTakesTheFirstThatIsThere(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	want := filepath.Join(bin, "second")
	if err := os.WriteFile(want, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := Program(t, "first", "second", "third"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// recorder keeps what a test is skipped with.
type recorder struct {
	testing.TB
	skipped string
}

func (r *recorder) Skip(args ...any) { r.skipped, _ = args[0].(string) }
