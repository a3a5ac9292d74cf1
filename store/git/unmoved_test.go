package git_test

import (
	"path/filepath"
	"testing"

	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/store/git"
)

// TestUnmoved: a mirror is unmoved after each fetch, and not after whatever a fetch
// would take over.
func TestUnmoved(t *testing.T) {
	for _, flags := range [][]string{nil, {"--object-format=sha256"}} {
		r := gitrepo.New(t, filepath.Join(t.TempDir(), "source"), flags...)
		url, dir := "file://"+r.Dir, filepath.Join(t.TempDir(), "mirror")
		budget := git.NewBudget(git.LeastBudget)
		check := func(when string, want bool) {
			t.Helper()
			if got, err := budget.Unmoved(t.Context(), "", url, dir); got != want || err != nil {
				t.Errorf("%s: got %t, %v; want %t", when, got, err, want)
			}
		}
		check("no mirror", false)
		if flags != nil {
			r.Commit("zeroth") // a mirror of an empty repository is one of SHA-1
		}
		mirror, err := budget.Mirror(t.Context(), "", url, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			when string
			do   func()
		}{
			{"empty", nil},
			{"a first commit", func() { r.Commit("first") }},
			{"another commit", func() { r.Commit("second") }},
			{"a branch", func() { r.Git("branch", "b/c") }},
			{"HEAD names another branch of the same commit", func() { r.Git("symbolic-ref", "HEAD", "refs/heads/b/c") }},
			{"a tag", func() { r.Git("tag", "-am", "x", "v1") }},
			{"a tag of a tag", func() { r.Git("tag", "-am", "x", "v2", "v1") }},
			{"a branch goes back", func() { r.Git("update-ref", "refs/heads/main", "HEAD^") }},
			{"a ref of another kind", func() { r.Git("update-ref", "refs/pull/1/head", "HEAD") }},
			{"a symbolic ref", func() { r.Git("symbolic-ref", "refs/remotes/x/HEAD", "refs/heads/main") }},
			{"a branch is deleted", func() { r.Git("update-ref", "-d", "refs/heads/main") }},
			{"a tag is deleted", func() { r.Git("tag", "-d", "v1") }},
			{"HEAD is detached", func() { r.Git("checkout", "-q", "--detach") }},
			{"HEAD is detached elsewhere", func() { r.Commit("third") }},
		} {
			if c.do != nil {
				c.do()
				check(c.when, false)
			}
			if err := mirror.Fetch(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			check(c.when+", fetched", true)
			r.Git("pack-refs", "--all")
			check(c.when+", packed there", true)
			gitrepo.Run(t, dir, nil, "", "pack-refs", "--all")
			check(c.when+", packed here", true)
		}
		r.Git("symbolic-ref", "HEAD", "refs/heads/gone")
		check("HEAD leads nowhere, which a fetch leaves as it is", true)
		url = "file://" + filepath.Join(t.TempDir(), "gone")
		if got, err := budget.Unmoved(t.Context(), "", url, dir); got || err == nil {
			t.Errorf("a remote that is away: got %t, %v; want an error", got, err)
		}
	}
}
