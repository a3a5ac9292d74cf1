package search_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/internal/gitrepo"
)

// gitHistory is a git repository in the making: a stream for git fast-import.
type gitHistory struct {
	stream strings.Builder
	marks  int
	when   int
}

// commit adds a commit that holds files and nothing else, and returns its mark,
// as in ":1". Refs may name it; parents are marks.
func (g *gitHistory) commit(files map[string]string, parents []string, refs ...string) string {
	g.marks++
	mark := fmt.Sprint(":", g.marks)
	g.when += 1000
	fmt.Fprintf(&g.stream, "commit refs/made/%d\nmark %s\ncommitter C <c@example.org> %d +0000\ndata 1\nx\n", g.marks, mark, 1_000_000_000+g.when)
	for i, p := range parents {
		fmt.Fprintf(&g.stream, "%s %s\n", []string{"from", "merge"}[min(i, 1)], p)
	}
	g.stream.WriteString("deleteall\n")
	for _, path := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&g.stream, "M 100644 inline %q\ndata %d\n%s\n", path, len(files[path]), files[path])
	}
	for _, ref := range refs {
		g.ref(ref, mark)
	}
	return mark
}

func (g *gitHistory) ref(ref, mark string) {
	fmt.Fprintf(&g.stream, "reset %s\nfrom %s\n\n", ref, mark)
}

// write makes the repository, bare, and returns where it is.
func (g *gitHistory) write(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "r.git")
	runGit(t, dir, "", "init", "-q", "--bare", "-b", "main", dir)
	runGit(t, dir, g.stream.String(), "fast-import", "--quiet")
	refs := runGit(t, dir, "", "for-each-ref", "--format=delete %(refname)", "refs/made/")
	runGit(t, dir, refs+"\n", "update-ref", "--stdin")
	return dir
}

func runGit(t testing.TB, dir, input string, args ...string) string {
	t.Helper()
	return gitrepo.Run(t, "", []string{"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@b"},
		input, append([]string{"--git-dir=" + dir, "-c", "core.quotePath=false"}, args...)...)
}
