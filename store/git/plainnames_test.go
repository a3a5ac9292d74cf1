package git_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/store/git"
)

// TestRefsAsGitDoes: after any sequence of what moves refs, revisions name what git says
// that they name, and the refs are those that git lists.
func TestRefsAsGitDoes(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 8))
			r := gitrepo.New(t, t.TempDir(), [][]string{nil, {"--bare"}, {"--object-format=sha256"}}[seed%3]...)
			tree := r.Feed("", "mktree")
			var commits []string
			for n := range 3 {
				commits = append(commits, r.Git("commit-tree", "-m", fmt.Sprint(n), tree))
			}
			names := []string{"main", "v1", "a/b", "a", "dead", "beef-gadded", "x.y", "origin", "müll"}
			gitDir := r.Git("rev-parse", "--absolute-git-dir")
			// Not what git writes there: a tree, and an object that is not there.
			odd := []string{tree, strings.Repeat("b", len(tree))}
			places := []string{"refs/heads/", "refs/tags/", "refs/remotes/", "refs/", "refs/remotes/origin/"}
			try := func(args ...string) string {
				cmd := exec.Command("git", args...)
				cmd.Dir = r.Dir
				out, _ := cmd.Output() // that git refuses to is one of the cases
				return strings.TrimSuffix(string(out), "\n")
			}
			for step := range 8 {
				for range 3 {
					ref := places[rnd.IntN(len(places))] + names[rnd.IntN(len(names))]
					switch rnd.IntN(7) {
					case 0, 1:
						try("update-ref", ref, commits[rnd.IntN(len(commits))])
					case 2:
						try("update-ref", ref, tree) // names no commit
					case 3:
						try("update-ref", "-d", ref)
					case 4:
						try("symbolic-ref", "refs/remotes/origin/HEAD", ref)
					case 5:
						try("pack-refs", "--all")
					case 6:
						file := filepath.Join(gitDir, "refs/heads", names[rnd.IntN(2)])
						if err := os.WriteFile(file, []byte(odd[rnd.IntN(2)]+"\n"), 0o644); err != nil {
							t.Fatal(err)
						}
					}
				}
				revs := []string{"HEAD", "FETCH_HEAD", "none", "refs/none", "heads/main", "tags/v1", "remotes/origin", "@", "main-worktree/HEAD", commits[0][:7],
					strings.ToUpper(commits[1][:8]), "v0-g" + commits[2][:9], "main^0", "none^{commit}", "config", "objects"}
				for _, name := range names {
					revs = append(revs, name, places[rnd.IntN(len(places))]+name)
				}
				repo, err := git.Open(t.Context(), r.Dir)
				if err != nil {
					t.Fatal(err)
				}
				got, err := repo.Commits(t.Context(), revs)
				if err != nil {
					t.Fatal(err)
				}
				if knowing, err := repo.Commits(t.Context(), revs, commits...); err != nil || !slices.Equal(knowing, got) {
					t.Errorf("step %d: %q are %q when commits are known, %v, want %q", step, revs, knowing, err, got)
				}
				for i, rev := range revs {
					if want := try("rev-parse", "--verify", "-q", rev+"^{commit}"); got[i] != want {
						t.Errorf("step %d: %q names %q, git says %q", step, rev, got[i], want)
					}
				}
				refs, err := repo.Refs(t.Context(), "refs/")
				if want := strings.Fields(try("for-each-ref", "--format=%(refname)")); err != nil || !slices.Equal(refs, want) {
					t.Errorf("step %d: refs are %q, %v; git lists %q", step, refs, err, want)
				}
			}
		})
	}
}

// TestNamesWithoutProcess: that there is no ref of a name is known without git, and that it is
// of a branch whose commit is known; nothing else is said without it.
func TestNamesWithoutProcess(t *testing.T) {
	r := gitrepo.New(t, t.TempDir())
	r.Commit("first")
	r.Git("update-ref", "refs/remotes/origin/only", "HEAD")
	r.Git("update-ref", "refs/heads/packed", "HEAD")
	r.Git("update-ref", "refs/heads/both", "HEAD")
	r.Git("update-ref", "refs/heads/-x", "HEAD") // names nothing: it could be an option
	r.Git("tag", "both")
	r.Git("tag", "pkg@1.0.0") // packed beside the others, as some tools name tags
	r.Git("tag", "loose")
	r.Git("pack-refs", "--all")
	r.Git("tag", "v2")
	r.Git("update-ref", "refs/heads/loose-one", "HEAD")
	commit := r.Git("rev-parse", "HEAD")
	repo, err := git.Open(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	absent := []string{"none", "refs/heads/none", "release/2.0", "v1.2.3", "only", "deadbee-x", "müll"}
	if got, err := repo.Commits(t.Context(), absent); err != nil || slices.ContainsFunc(got, func(c string) bool { return c != "" }) {
		t.Errorf("commits of what is not there: got %q, %v", got, err)
	}
	branches := []string{"main", "packed", "loose-one", "heads/packed", "refs/heads/loose-one", "none", "-x"}
	if got, err := repo.Commits(t.Context(), branches, "other", commit); err != nil || !slices.Equal(got, []string{commit, commit, commit, commit, commit, "", ""}) {
		t.Errorf("branches by their files: got %q, %v, want %s", got, err, commit)
	}
	for _, rev := range []string{"HEAD", "both", "loose", "v2", "origin/only", "dead", "@", "packed~1", "packed@{1}"} {
		if got, err := repo.Commits(t.Context(), []string{rev, "packed"}, commit); err == nil {
			t.Errorf("%q: got %q by its file", rev, got)
		}
	}
	for _, rev := range []string{"HEAD", "main", "packed", "loose-one", "loose", "v2", "origin/only", "refs/tags/loose", "dead", "DEADBEEF", "v9-gdeadbee", "@", "none~1", "none@{1}", "main-worktree/none"} {
		if got, err := repo.Commits(t.Context(), []string{rev, "none"}); err == nil {
			t.Errorf("%q: got %q without asking git", rev, got)
		}
	}
	if err := os.Remove(filepath.Join(r.Dir, ".git", "HEAD")); err != nil {
		t.Fatal(err)
	}
	if got, err := repo.Commits(t.Context(), []string{"none"}); err == nil {
		t.Errorf("of what is no repository: got %q", got)
	}
}
