package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/git"
)

func TestOpenKinds(t *testing.T) {
	x := newFixture(t)
	x.write("a", "1")
	commit := x.commit()
	x.git("worktree", "add", "-q", "-b", "side", "../linked")
	x.git("clone", "-q", "--bare", ".", "../bare.git")
	if err := os.Symlink(x.dir, x.dir+"-link"); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ dir, branch string }{
		{".", "main"},
		{".git", "main"},
		{"../linked", "side"},
		{"../bare.git", "main"},
		{"../repo-link", "main"},
	}
	for _, test := range tests {
		dir := filepath.Join(x.dir, test.dir)
		got, err := open(t, dir).DefaultBranch(t.Context())
		if want := (git.Branch{Name: test.branch, Commit: commit}); err != nil || got != want {
			t.Errorf("DefaultBranch of %s = %v, %v; want %v", test.dir, got, err, want)
		}
	}
}

// A repository opens whatever bytes its path has, and however long it is.
func TestOpenPathOfAllBytes(t *testing.T) {
	x := newFixture(t)
	x.write("a", "1")
	commit := x.commit()
	all := ""
	for b := 1; b < 256; b++ {
		if b != '/' {
			all += string([]byte{byte(b)})
		}
	}
	root := t.TempDir()
	names := []string{all, "line\nbreak", "ends\n", "\nbegins", "carriage\r", " ", "-option", ":colon", "a:b", "\"quoted\"", "\\", "..twice", "ü\u2028ü", "\xff\xfe",
		strings.Repeat("n", 255), strings.Repeat(strings.Repeat("d", 250)+"/", 15)[:3700-len(root)]}
	for _, name := range names {
		dir := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(dir, os.DirFS(x.dir)); err != nil {
			t.Fatal(err)
		}
		repo, err := git.Open(t.Context(), dir)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		got, err := repo.DefaultBranch(t.Context())
		if want := (git.Branch{Name: "main", Commit: commit}); err != nil || got != want {
			t.Errorf("%q: the default branch is %v, %v; want %v", name, got, err, want)
		}
	}
}

func TestOpenRelative(t *testing.T) {
	x := newFixture(t)
	t.Chdir(filepath.Dir(x.dir))
	if repo := open(t, "repo"); repo.Dir() != "repo" {
		t.Errorf("Dir() = %q, want repo", repo.Dir())
	}
}

func TestOpenRefuses(t *testing.T) {
	x := newFixture(t)
	x.write("sub/file", "1")
	broken := newFixture(t)
	broken.git("config", "core.repositoryFormatVersion", "99")
	plain := t.TempDir()
	tests := []struct {
		dir   string
		want  error
		parts []string
	}{
		{plain, git.ErrNotRepository, []string{plain, "name the folder that holds .git"}},
		{filepath.Join(plain, "none"), git.ErrNotRepository, []string{"does not exist"}},
		{filepath.Join(x.dir, "sub/file"), git.ErrNotRepository, []string{"is a file"}},
		// Not found by walking up: what is named is what is opened.
		{filepath.Join(x.dir, "sub"), git.ErrNotRepository, []string{"lies inside the one of " + x.dir}},
		{broken.dir, nil, []string{"99"}},
	}
	for _, test := range tests {
		_, err := git.Open(t.Context(), test.dir)
		oneLine(t, err, test.parts...)
		if test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("Open(%s): %v, want %v", test.dir, err, test.want)
		}
	}
}

// TestOpenAsksGit: a repository as git init makes it is opened without a process; of
// all that is odd git judges.
func TestOpenAsksGit(t *testing.T) {
	x := newFixture(t)
	config := filepath.Join(x.dir, ".git", "config")
	usual, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(t.TempDir(), "linked")
	x.write("a", "1")
	x.commit()
	x.git("worktree", "add", "-q", linked)
	x.git("worktree", "prune")
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\necho asked >&2; exit 9\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if _, err := git.Open(t.Context(), linked); err == nil {
		t.Error("a linked worktree is opened without git")
	}
	for _, test := range []struct {
		config string
		asks   bool
	}{
		{string(usual), false},
		{"# comment\n; another\n\n[core]\n\trepositoryFormatVersion = 0\n[remote \"o.x\"]\n\turl = https://example.org/a=b#c\n", false},
		{string(usual) + "[extensions]\n\tobjectFormat = sha256\n", true},
		{string(usual) + "[Extensions]\n\tworktreeConfig = true\n", true},
		{string(usual) + "[core]\n\trepositoryformatversion = 0\n", true},
		{"[core]\n\trepositoryformatversion = 1\n", true},
		{"[core]\n\trepositoryformatversion = 99\n", true},
		{"[core]\n\tbare = true\n", true},
		{"[core] repositoryformatversion = 0\n", true},
		{string(usual) + "[user]\n\tname = \"quoted\"\n", true},
		{string(usual) + "[user]\n\tname = two \\\n lines\n", true},
		{string(usual) + "nothing that git knows\n", true},
		{"", true},
	} {
		if err := os.WriteFile(config, []byte(test.config), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := git.Open(t.Context(), x.dir); (err != nil) != test.asks {
			t.Errorf("open with the configuration %q: %v; asks git: want %t", test.config, err, test.asks)
		}
	}
}

func TestOpenWithoutGit(t *testing.T) {
	x := newFixture(t)
	t.Setenv("PATH", t.TempDir())
	_, err := git.Open(t.Context(), x.dir)
	oneLine(t, err, "git is not installed")
}

func TestDefaultBranch(t *testing.T) {
	x := newFixture(t)
	repo := x.open()

	// Nothing there yet.
	_, err := repo.DefaultBranch(t.Context())
	oneLine(t, err, "main", x.dir)
	if !errors.Is(err, git.ErrEmpty) {
		t.Errorf("empty repository: %v, want ErrEmpty", err)
	}

	// An ordinary branch, one with a slash, a detached head, an unborn branch.
	x.write("a", "1")
	commit := x.commit()
	for _, test := range []struct {
		checkout []string
		want     git.Branch
	}{
		{nil, git.Branch{Name: "main", Commit: commit}},
		{[]string{"-b", "feature/x"}, git.Branch{Name: "feature/x", Commit: commit}},
		{[]string{"--detach"}, git.Branch{Commit: commit}},
	} {
		x.git(append([]string{"checkout", "-q"}, test.checkout...)...)
		if got, err := repo.DefaultBranch(t.Context()); err != nil || got != test.want {
			t.Errorf("after checkout %q: %v, %v; want %v", test.checkout, got, err, test.want)
		}
	}
	x.git("checkout", "-q", "--orphan", "new")
	if _, err := repo.DefaultBranch(t.Context()); !errors.Is(err, git.ErrEmpty) {
		t.Errorf("unborn branch: %v, want ErrEmpty", err)
	}
}

// A damaged repository must not pass for an empty one: its documents would be
// taken for deleted.
func TestDefaultBranchOfDamagedRepository(t *testing.T) {
	tests := []struct {
		name   string
		damage func(x *fixture, commit string) error
	}{
		{"ref emptied", func(x *fixture, _ string) error { return os.Truncate(filepath.Join(x.dir, ".git/refs/heads/main"), 0) }},
		{"ref garbled", func(x *fixture, _ string) error {
			return os.WriteFile(filepath.Join(x.dir, ".git/refs/heads/main"), []byte("nothing\n"), 0o644)
		}},
		{"commit lost", func(x *fixture, commit string) error { return os.Remove(x.object(commit)) }},
		{"commit emptied", func(x *fixture, commit string) error { return os.Truncate(x.object(commit), 0) }},
		{"repository lost", func(x *fixture, _ string) error { return os.RemoveAll(x.dir) }},
	}
	for _, test := range tests {
		x := newFixture(t)
		commit := x.commit()
		repo := x.open()
		if err := test.damage(x, commit); err != nil {
			t.Fatal(err)
		}
		_, err := repo.DefaultBranch(t.Context())
		oneLine(t, err, x.dir)
		if errors.Is(err, git.ErrEmpty) {
			t.Errorf("%s: %v, which passes for empty", test.name, err)
		}
	}
}

func TestResolve(t *testing.T) {
	x := newFixture(t)
	x.write("a", "1")
	first := x.commit()
	x.git("tag", "-a", "-m", "t", "v1")
	x.write("a", "2")
	second := x.commit()
	repo := x.open()
	for rev, want := range map[string]string{
		"main": second, "HEAD": second, "refs/heads/main": second, "v1": first, "HEAD~1": first,
		second: second, second[:8]: second, "main^": first, "main@{upstream}": "", "v2": "",
		x.git("rev-parse", "HEAD:a"): "", x.git("rev-parse", "v1"): first,
		// Refused before git sees them.
		"": "", "--all": "", "-n": "", "^main": "", "main:a": "", ":/change": "", "v1..main": "", "a\nb": "", "a\x00b": "",
		// Left to git to refuse.
		"main main": "", "@{": "", "main^{tree}": "", "0000000000000000000000000000000000000000": "",
	} {
		got, err := repo.Resolve(t.Context(), rev)
		if got != want || (want == "") != errors.Is(err, git.ErrNoRevision) {
			t.Errorf("Resolve(%q) = %q, %v; want %q", rev, got, err, want)
		}
		if err != nil {
			oneLine(t, err)
		}
	}
}

func TestCancelledBeforeStart(t *testing.T) {
	x := newFixture(t)
	repo := x.open()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := repo.DefaultBranch(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("DefaultBranch after cancel: %v, want context.Canceled", err)
	}
	if _, err := git.Open(ctx, x.dir); !errors.Is(err, context.Canceled) {
		t.Errorf("Open after cancel: %v, want context.Canceled", err)
	}
}

// A repository whose configuration names programs must not get them run.
func TestConfigurationRunsNothing(t *testing.T) {
	x := newFixture(t)
	x.write("a", "1")
	x.write(".gitattributes", "* diff=evil filter=evil\n")
	first := x.commit()
	x.write("a", "2")
	second := x.commit()
	mark := filepath.Join(t.TempDir(), "mark")
	script := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n: >"+mark+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.fsmonitor", "core.pager", "diff.external", "diff.evil.command", "diff.evil.textconv",
		"filter.evil.smudge", "core.sshCommand", "core.gitProxy", "core.alternateRefsCommand", "alias.ls-tree"} {
		x.git("config", key, script)
	}
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change"} {
		if err := os.Symlink(script, filepath.Join(x.dir, ".git", "hooks", hook)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GIT_DIR", "/nowhere")
	t.Setenv("GIT_EXTERNAL_DIFF", script)
	repo := x.open()
	if _, err := repo.DefaultBranch(t.Context()); err != nil {
		t.Error(err)
	}
	if err := repo.ListTree(t.Context(), second, func(git.TreeEntry) error { return nil }); err != nil {
		t.Error(err)
	}
	if err := repo.DiffTree(t.Context(), first, second, func(git.Change) error { return nil }); err != nil {
		t.Error(err)
	}
	readAll(t, repo, []string{x.git("--git-dir=.git", "rev-parse", second+":a")})
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program named by the repository's configuration was run")
	}
}
