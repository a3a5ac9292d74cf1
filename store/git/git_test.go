package git_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/store/git"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// unbounded is no budget.
var unbounded *git.Budget

// fixture is a repository made by the git binary, independently of the package.
type fixture struct {
	t   testing.TB
	dir string
}

func newFixture(t testing.TB, initFlags ...string) *fixture {
	t.Helper()
	x := &fixture{t: t, dir: filepath.Join(t.TempDir(), "repo")}
	cmd := exec.Command("git", append([]string{"init", "-q", "-b", "main"}, append(initFlags, x.dir)...)...)
	cmd.Env = fixtureEnv()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	return x
}

func fixtureEnv() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.org",
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000")
}

// git runs git in the fixture and returns its output without the last newline.
func (x *fixture) git(args ...string) string { return x.gitInput("", args...) }

func (x *fixture) gitInput(input string, args ...string) string {
	x.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always", "-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = x.dir, fixtureEnv(), strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		x.t.Fatalf("git %q: %v\n%s", args, err, stderr.Bytes())
	}
	return strings.TrimSuffix(string(out), "\n")
}

func (x *fixture) write(path, content string) {
	x.t.Helper()
	full := filepath.Join(x.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		x.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		x.t.Fatal(err)
	}
}

// commit records the worktree and returns the commit's id.
func (x *fixture) commit() string {
	x.t.Helper()
	x.git("add", "-A")
	x.git("commit", "-q", "--allow-empty", "-m", "change")
	return x.git("rev-parse", "HEAD")
}

// open opens the fixture through the package.
func (x *fixture) open() *git.Repo {
	x.t.Helper()
	return open(x.t, x.dir)
}

func open(t testing.TB, dir string) *git.Repo {
	t.Helper()
	repo, err := git.Open(t.Context(), dir)
	if err != nil {
		t.Fatalf("Open(%s): %v", dir, err)
	}
	return repo
}

// object is the file of a loose object, made writable.
func (x *fixture) object(oid string) string {
	x.t.Helper()
	path := filepath.Join(x.dir, ".git", "objects", oid[:2], oid[2:])
	if err := os.Chmod(path, 0o644); err != nil {
		x.t.Fatal(err)
	}
	return path
}

// oneLine fails unless err is an error that fits a line and holds every part.
func oneLine(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	if strings.ContainsAny(err.Error(), "\n\r") {
		t.Errorf("error has several lines: %q", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not hold %q", err, part)
		}
	}
}
