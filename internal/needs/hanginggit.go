package needs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// HangingGit has git hang in one subcommand until the test ends. pid returns the
// process that hangs, once there is one.
func HangingGit(t testing.TB, subcommand string) (pid func() (int, bool)) {
	t.Helper()
	Program(t, "sh")
	Program(t, "sleep")
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "pid")
	script := "#!/bin/sh\ncase \" $* \" in *\" " + subcommand + " \"*) echo $$ >'" + file + ".new'; mv '" + file + ".new' '" + file + "'; exec sleep 600;; esac\nexec '" + git + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return func() (int, bool) {
		text, err := os.ReadFile(file)
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		return pid, err == nil && pid > 0
	}
}
