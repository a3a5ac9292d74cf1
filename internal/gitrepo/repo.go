package gitrepo

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Repo is a repository of a test.
type Repo struct {
	testing.TB
	Dir string
	// Env is added to the environment of git, as people and dates of commits.
	Env []string

	written []string // and not added yet
}

// New makes a repository in a directory that is made if need be, with main for its
// first branch.
func New(t testing.TB, dir string, flags ...string) *Repo {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r := &Repo{TB: t, Dir: dir}
	r.Git(append([]string{"init", "-q", "-b", "main"}, flags...)...)
	return r
}

// Git runs git in the repository and returns what it printed, without white space
// around.
func (r *Repo) Git(args ...string) string {
	r.Helper()
	return r.Feed("", args...)
}

// Feed is Git with a standard input.
func (r *Repo) Feed(input string, args ...string) string {
	r.Helper()
	if paths := r.written; len(paths) > 0 {
		r.written = nil
		Run(r.TB, r.Dir, r.Env, "", append([]string{"add", "--"}, paths...)...)
	}
	return Run(r.TB, r.Dir, r.Env, input, args...)
}

// Run runs git in a directory, "" for that of the test, with a standard input and an addition to the environment.
func Run(t testing.TB, dir string, env []string, input string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	// git -c and the variables of git come before this configuration. A commit starts no
	// maintenance, which is two processes more and does nothing.
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=3",
		"GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=Ada", "GIT_CONFIG_KEY_1=user.email", "GIT_CONFIG_VALUE_1=ada@example.org",
		"GIT_CONFIG_KEY_2=maintenance.auto", "GIT_CONFIG_VALUE_2=false")
	cmd.Env = append(cmd.Env, env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q: %v\n%s%s", args, err, out, stderr.Bytes())
	}
	return strings.TrimSpace(string(out))
}

// Write writes a file of the work tree. The next command of git finds it in the index.
func (r *Repo) Write(path, content string) {
	r.Helper()
	full := filepath.Join(r.Dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		r.Fatal(err)
	}
	r.written = append(r.written, path)
}

// Commit commits what was added.
func (r *Repo) Commit(message string) {
	r.Helper()
	r.Git("commit", "-q", "--allow-empty", "-m", message)
}
