package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/git"
)

func TestMatchRef(t *testing.T) {
	for _, tt := range []struct {
		glob, ref string
		want      bool
	}{
		// Without a wildcard: the ref itself and all below it.
		{"refs/heads/main", "refs/heads/main", true},
		{"heads/main", "refs/heads/main", true},
		{"heads", "refs/heads/main", true},
		{"heads/", "refs/heads/a/b", true},
		{"heads/ma", "refs/heads/main", false},
		{"main", "refs/heads/main", false},
		// A star stands for slashes too.
		{"heads/*", "refs/heads/a/b", true},
		{"*", "refs/tags/v1", true},
		{"refs/heads/rel*", "refs/heads/release/1/2", true},
		{"refs/*/v1", "refs/tags/deep/v1", true},
		{"refs/heads/rel*", "refs/heads/main", false},
		{"refs/heads/*", "refs/heads/", true},
		// Other wildcards.
		{"tags/v?", "refs/tags/v1", true},
		{"tags/v?", "refs/tags/v10", false},
		{"tags/v[0-9]", "refs/tags/v1", true},
		{"tags/v[!0-9]", "refs/tags/v1", false},
		{"tags/v[!0-9]", "refs/tags/vx", true},
		// Nothing matches a malformed one.
		{"tags/v[0", "refs/tags/v[0", false},
		{"tags/v[", "refs/tags/v1", false},
	} {
		if got := git.MatchRef(tt.glob, tt.ref); got != tt.want {
			t.Errorf("MatchRef(%q, %q) = %v, want %v", tt.glob, tt.ref, got, tt.want)
		}
	}
}

func TestCommits(t *testing.T) {
	for _, flags := range [][]string{nil, {"--object-format=sha256"}} {
		x := newFixture(t, flags...)
		x.write("a.txt", "one\n")
		first := x.commit()
		x.git("tag", "v1")
		x.git("tag", "-a", "-m", "annotated", "v1a")
		x.git("tag", "-a", "-m", "of a tag", "v1b", "v1a")
		x.git("tag", "tree", "HEAD^{tree}")
		x.git("tag", "blob", "HEAD:a.txt")
		x.git("tag", "-a", "-m", "of a tree", "tree-tag", "HEAD^{tree}")
		x.write("a.txt", "two\n")
		second := x.commit()
		x.git("update-ref", "refs/heads/-dash", first)
		x.git("update-ref", "refs/heads/a b"[:len("refs/heads/a")], first)
		revs := []string{
			"main", "HEAD", "HEAD~1", "v1", "v1a", "v1b", "refs/tags/v1", "refs/heads/-dash", second, first[:9], "HEAD^{/chan}",
			"nosuch", "", "tree", "blob", "tree-tag", "-dash", "--help", "^main", "v1..main", "main:a.txt", ":/x", "main\n" + first, "main\x00", "a\tb",
			strings.Repeat("0", len(first)), first + " commit 12", "main commit 1", "@{upstream}", "main@{99}", strings.Repeat("x", 9000), "../../etc/passwd",
			"HEAD~99999999",
		}
		want := []string{
			second, second, first, first, first, first, first, first, second, first, second,
		}
		got, err := x.open().Commits(t.Context(), revs)
		if err != nil {
			t.Fatal(err)
		}
		for i, rev := range revs {
			w := ""
			if i < len(want) {
				w = want[i]
			}
			if got[i] != w {
				t.Errorf("%v: Commits(%.60q) = %q, want %q", flags, rev, got[i], w)
			}
		}
		if got, err := x.open().Commits(t.Context(), []string{"-x", ""}); err != nil || !slices.Equal(got, []string{"", ""}) {
			t.Errorf("Commits of nothing that could be: got %q, %v", got, err)
		}
	}
}

// A commit that cannot be read keeps no other from being found.
func TestCommitsOfDamagedRepository(t *testing.T) {
	x := newFixture(t)
	x.write("a.txt", "one\n")
	first := x.commit()
	x.git("tag", "bad")
	x.write("a.txt", "two\n")
	second := x.commit()
	if err := os.Chmod(x.object(first), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(x.object(first), []byte("no zlib"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := x.open().Commits(t.Context(), []string{"bad", "main", "bad", "bad", "HEAD"})
	if want := []string{"", second, "", "", second}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	repo := x.open()
	if err := os.RemoveAll(filepath.Join(x.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	if got, err := repo.Commits(t.Context(), []string{"main"}); err == nil {
		t.Errorf("Commits of a repository that is gone: got %q, want an error", got)
	}
}

func TestRefs(t *testing.T) {
	x := newFixture(t)
	if got, err := x.open().Refs(t.Context(), "refs/"); err != nil || len(got) > 0 {
		t.Errorf("refs of an empty repository: got %q, %v", got, err)
	}
	x.write("a.txt", "one\n")
	commit := x.commit()
	var update strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&update, "create refs/tags/t%05d %s\n", i, commit)
	}
	update.WriteString("create refs/heads/-x " + commit + "\ncreate refs/heads/ü " + commit + "\n")
	x.gitInput(update.String(), "update-ref", "--stdin")
	got, err := x.open().Refs(t.Context(), "refs/")
	if err != nil || len(got) != 10_003 || got[0] != "refs/heads/-x" || got[1] != "refs/heads/main" || got[2] != "refs/heads/ü" {
		t.Fatalf("got %d refs, %q first, %v", len(got), got[:min(len(got), 3)], err)
	}
	commits, err := x.open().Commits(t.Context(), got)
	if err != nil || len(slices.Compact(commits)) != 1 || commits[0] != commit {
		t.Errorf("commits of all refs: got %q, %v, want %s", slices.Compact(commits), err, commit)
	}
	if got, err := x.open().Refs(t.Context(), "--help"); err == nil {
		t.Errorf("Refs of an option: got %q", got)
	}
}

func TestCommitBefore(t *testing.T) {
	x := newFixture(t)
	// Three commits a thousand seconds apart, and a later one that joins a side
	// branch, which is not part of the chain.
	commit := func(mark int, branch string, unix int, parents string) string {
		return fmt.Sprintf("commit refs/heads/%s\nmark :%d\ncommitter C <c@example.org> %d +0000\ndata 1\nx\n%s\n", branch, mark, unix, parents)
	}
	x.gitInput(commit(1, "main", 1_000_000_000, "")+commit(2, "main", 1_000_001_000, "")+commit(3, "main", 1_000_002_000, "")+
		commit(4, "side", 1_000_002_500, "from :1\n")+commit(5, "main", 1_000_009_000, "from :3\nmerge :4\n"), "fast-import", "--quiet")
	head := x.git("rev-parse", "main")
	commits := []string{x.git("rev-parse", "main~3"), x.git("rev-parse", "main~2"), x.git("rev-parse", "main~1")}
	for _, tt := range []struct {
		unix int64
		want string
	}{
		{1_000_009_000, head}, {1_000_008_999, commits[2]}, {1_000_002_600, commits[2]}, {1_000_001_999, commits[1]},
		{1_000_000_000, commits[0]}, {999_999_999, ""}, {0, ""}, {-1, ""},
	} {
		if got, err := x.open().CommitBefore(t.Context(), head, tt.unix); err != nil || got != tt.want {
			t.Errorf("CommitBefore(%d) = %q, %v, want %q", tt.unix, got, err, tt.want)
		}
	}
	if got, err := x.open().CommitBefore(t.Context(), "main", 1); err == nil {
		t.Errorf("CommitBefore of a name: got %q", got)
	}
}

// No glob brings it down, and a ref matches itself, whatever is in it.
func FuzzMatchRef(f *testing.F) {
	f.Add("heads/*", "refs/heads/main")
	f.Add("refs/tags/v[!0-9]?", "refs/tags/v1")
	f.Add(`a\`, "refs/a")
	f.Add("[^]-]", "refs/-")
	f.Fuzz(func(t *testing.T, glob, ref string) {
		git.MatchRef(glob, ref)
		if strings.HasPrefix(ref, "refs/") && !strings.ContainsAny(ref, "*?[") && !git.MatchRef(ref, ref) {
			t.Errorf("%q does not match itself", ref)
		}
		if !git.MatchRef("*", ref) && strings.HasPrefix(ref, "refs/") {
			t.Errorf("%q is not matched by *", ref)
		}
	})
}
