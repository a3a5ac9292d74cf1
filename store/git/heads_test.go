package git_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/store/git"
)

// headsByGit is what ReadHeads is to return, as git has it.
func headsByGit(t *testing.T, r *gitrepo.Repo) git.Heads {
	t.Helper()
	h := git.Heads{Branches: map[string]string{}}
	for line := range strings.Lines(r.Git("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/")) {
		id, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		h.Branches[ref] = id
	}
	cmd := exec.Command("git", "symbolic-ref", "-q", "HEAD")
	cmd.Dir = r.Dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		h.Default.Commit = r.Git("rev-parse", "HEAD")
	case err != nil:
		t.Fatal(err)
	default:
		ref := strings.TrimSpace(string(out))
		h.Default = git.Branch{Name: strings.TrimPrefix(ref, "refs/heads/"), Commit: h.Branches[ref]}
	}
	return h
}

func sameHeads(a, b git.Heads) bool {
	return a.Default == b.Default && maps.Equal(a.Branches, b.Branches)
}

// TestReadHeadsAsGitDoes: after any sequence of what moves refs, the files say
// what git says.
func TestReadHeadsAsGitDoes(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 7))
			flags := [][]string{nil, {"--bare"}, {"--object-format=sha256"}}[seed%3]
			r := gitrepo.New(t, t.TempDir(), flags...)
			tree := r.Feed("", "mktree")
			var commits []string
			for n := range 4 {
				commits = append(commits, r.Git("commit-tree", "-m", fmt.Sprint(n), tree))
			}
			// Names that are folders of others are tried too: git refuses the second.
			names := []string{"main", "a", "a/b", "a/b/c", "feature/x", "Zeta", "müll", "x.y-z_1+2=3,4"}
			any := func() string { return "refs/heads/" + names[rnd.IntN(len(names))] }
			try := func(args ...string) {
				cmd := exec.Command("git", args...)
				cmd.Dir = r.Dir
				_ = cmd.Run() // that git refuses to is one of the cases
			}
			for step := range 40 {
				switch rnd.IntN(8) {
				case 0, 1, 2:
					try("update-ref", any(), commits[rnd.IntN(len(commits))])
				case 3:
					try("update-ref", "-d", any())
				case 4:
					r.Git("pack-refs", "--all")
				case 5:
					r.Git("symbolic-ref", "HEAD", any())
				case 6:
					r.Git("update-ref", "--no-deref", "HEAD", commits[rnd.IntN(len(commits))])
					r.Git("update-ref", fmt.Sprintf("refs/tags/t%d", step), commits[0])
				case 7:
					r.Git("gc", "-q", "--prune=never")
				}
				want := headsByGit(t, r)
				got, ok := git.ReadHeads(r.Dir, true)
				if !ok || !sameHeads(got, want) {
					t.Fatalf("step %d: got %+v, %t; git has %+v", step, got, ok, want)
				}
				if one, ok := git.ReadHeads(r.Dir, false); !ok || one.Default != want.Default || one.Branches != nil {
					t.Fatalf("step %d, HEAD only: got %+v, %t; git has %+v", step, one, ok, want.Default)
				}
			}
		})
	}
}

// TestReadHeadsLeavesTheUnusualToGit: nothing is said of a repository whose refs
// are elsewhere, or look other than git writes them.
func TestReadHeadsLeavesTheUnusualToGit(t *testing.T) {
	file := func(name, text string) func(*testing.T, *gitrepo.Repo) string {
		return func(t *testing.T, r *gitrepo.Repo) string {
			path := filepath.Join(r.Dir, ".git", name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
			return r.Dir
		}
	}
	moved := func(name string) func(*testing.T, *gitrepo.Repo) string {
		return func(t *testing.T, r *gitrepo.Repo) string {
			path, other := filepath.Join(r.Dir, ".git", name), filepath.Join(t.TempDir(), "moved")
			if err := errors.Join(os.Rename(path, other), os.Symlink(other, path)); err != nil {
				t.Fatal(err)
			}
			return r.Dir
		}
	}
	id := strings.Repeat("a1", 20)
	for _, c := range []struct {
		name string
		make func(*testing.T, *gitrepo.Repo) string
		ok   bool
	}{
		{"as git made it", func(_ *testing.T, r *gitrepo.Repo) string { return r.Dir }, true},
		{"a mirror or a bare one", func(_ *testing.T, r *gitrepo.Repo) string { return filepath.Join(r.Dir, ".git") }, true},
		{"a ref that git is writing", file("refs/heads/main.lock", ""), true},
		{"no repository", func(t *testing.T, _ *gitrepo.Repo) string { return t.TempDir() }, false},
		{"nothing", func(_ *testing.T, r *gitrepo.Repo) string { return r.Dir + "/none" }, false},
		{"a folder inside", func(t *testing.T, r *gitrepo.Repo) string { return filepath.Dir(file("../sub/a", "")(t, r)) + "/sub" }, false},
		{"a worktree", func(t *testing.T, r *gitrepo.Repo) string {
			dir := filepath.Join(t.TempDir(), "tree")
			r.Git("worktree", "add", "-q", "--detach", dir)
			return dir
		}, false},
		{"the git directory of a worktree", func(t *testing.T, r *gitrepo.Repo) string {
			r.Git("worktree", "add", "-q", "--detach", filepath.Join(t.TempDir(), "tree"))
			return filepath.Join(r.Dir, ".git/worktrees/tree")
		}, false},
		{"another .git directory", func(t *testing.T, r *gitrepo.Repo) string {
			dir := t.TempDir()
			r.Git("init", "-q", "--separate-git-dir", filepath.Join(dir, "git"))
			return r.Dir
		}, false},
		{"reftable by its folder", file("reftable/tables.list", ""), false},
		{"other refs by the configuration", file("config", "[core]\n\tbare = false\n[extensions]\n\tRefStorage = reftable\n"), false},
		{"a large configuration", file("config", strings.Repeat("# \n", 100_000)), false},
		{"HEAD is empty", file("HEAD", ""), false},
		{"HEAD is cut", file("HEAD", id[:39]+"\n"), false},
		{"HEAD is no branch", file("HEAD", "ref: refs/tags/v1\n"), false},
		{"HEAD leads elsewhere", file("HEAD", "ref: refs/heads/../../../x\n"), false},
		{"HEAD with more behind it", file("HEAD", "ref: refs/heads/main\nmore\n"), false},
		{"an empty ref", file("refs/heads/a", ""), false},
		{"a ref of zeros", file("refs/heads/a", strings.Repeat("0", 40)+"\n"), false},
		{"a symbolic branch", file("refs/heads/a", "ref: refs/heads/main\n"), false},
		{"a branch of an odd name", file("refs/heads/a..b", id+"\n"), false},
		{"packed refs are cut", file("packed-refs", id+" refs/heads/a"), false},
		{"packed refs with an odd line", file("packed-refs", id+" refs/heads/a\n?\n"), false},
		{"packed refs with a long line", file("packed-refs", id+" refs/heads/"+strings.Repeat("a", 100_000)+"\n"), false},
		{"packed refs above the bound", file("packed-refs", strings.Repeat(id+" refs/heads/a\n", 320_000)), false},
		{"HEAD is a link", moved("HEAD"), false},
		{"a ref is a link", moved("refs/heads/main"), false},
		{"refs is a link", moved("refs"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := gitrepo.New(t, t.TempDir())
			r.Commit("first")
			dir := c.make(t, r)
			if h, ok := git.ReadHeads(dir, true); ok != c.ok {
				t.Errorf("got %+v, %t; want %t", h, ok, c.ok)
			}
		})
	}
}

// BenchmarkReadHeads is the cost of a look at a repository with so many packed refs.
func BenchmarkReadHeads(b *testing.B) {
	for _, refs := range []int{1, 1_000, 20_000} {
		r := gitrepo.New(b, b.TempDir())
		r.Commit("first")
		id := r.Git("rev-parse", "HEAD")
		packed := strings.Builder{}
		for n := range refs {
			fmt.Fprintf(&packed, "%s refs/heads/b%06d\n", id, n)
		}
		if err := os.WriteFile(filepath.Join(r.Dir, ".git/packed-refs"), []byte(packed.String()), 0o644); err != nil {
			b.Fatal(err)
		}
		r.Git("symbolic-ref", "HEAD", "refs/heads/b000000")
		for _, all := range []bool{false, true} {
			b.Run(fmt.Sprintf("refs=%d/all=%t", refs, all), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, ok := git.ReadHeads(r.Dir, all); !ok {
						b.Fatal("it is not read")
					}
				}
			})
		}
	}
}
