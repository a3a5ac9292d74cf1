package main

import (
	"bytes"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBackup: the measurement works on a toy corpus, and answers are the same
// after a restore.
func TestBackup(t *testing.T) {
	binary, dir := builtTrawl(t), t.TempDir()
	corpus, data := filepath.Join(dir, "toy"), filepath.Join(dir, "data")
	if err := run(t.Context(), []string{"corpus", "--files", "60", "--out", corpus}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"init -q", "add -A", "-c user.name=kiln -c user.email=kiln@example.org commit -q -m toy"} {
		if out, err := exec.Command("git", append([]string{"-C", corpus}, strings.Fields(line)...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", line, err, out)
		}
	}
	if out, err := exec.Command(binary, "index", "--data", data, "toy="+corpus).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var out bytes.Buffer
	args := []string{"backup", "--trawl", binary, "--data", data, "--queries", "32"}
	if err := run(t.Context(), args, &out, io.Discard); err != nil || !strings.Contains(out.String(), "32 of 32 the same") {
		t.Errorf("%v: %v, and prints\n%s", args, err, &out)
	}
}

func TestBackupFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"backup"}, "--data is missing"},
		{[]string{"backup", "--data", "x", "--queries", "0"}, "at least one"},
		{[]string{"backup", "--data", "x", "--recipient", "age1"}, "go together"},
	} {
		if err := run(t.Context(), c.args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q in it", c.args, err, c.want)
		}
	}
}
