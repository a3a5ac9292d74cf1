package git_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/store/git"
)

// The files say the names that git says, loose and packed.
func TestEachPlainRefName(t *testing.T) {
	r := gitrepo.New(t, t.TempDir())
	r.Write("a", "a\n")
	r.Commit("Add a")
	for n := range 30 {
		r.Git("tag", fmt.Sprintf("v%d", n))
		if n == 20 {
			r.Git("pack-refs", "--all")
			r.Git("tag", "-d", "v3")
			r.Git("tag", "-f", "v4") // loose and packed
		}
	}
	r.Git("branch", "fix/a")
	names := func(ctx context.Context, prefix string, most int) (out []string, complete bool) {
		complete = git.EachPlainRefName(ctx, r.Dir, prefix, func(name string) bool {
			out = append(out, name)
			return len(out) < most
		})
		slices.Sort(out)
		return slices.Compact(out), complete
	}
	for _, prefix := range []string{"refs/heads/", "refs/tags/", "refs/none/"} {
		want := strings.Fields(r.Git("for-each-ref", "--format=%(refname)", prefix))
		slices.Sort(want)
		if got, complete := names(t.Context(), prefix, 1000); !complete || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %t; git says %q", prefix, got, complete, want)
		}
	}
	if got, complete := names(t.Context(), "refs/tags/", 3); !complete || len(got) > 3 {
		t.Errorf("three of them: %q, %t", got, complete)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if got, complete := names(over, "refs/tags/", 1000); complete || len(got) > 0 {
		t.Errorf("without time: %q, %t", got, complete)
	}
	if err := os.Symlink(filepath.Join(r.Dir, ".git", "HEAD"), filepath.Join(r.Dir, ".git", "refs", "tags", "link")); err != nil {
		t.Fatal(err)
	}
	if got, complete := names(t.Context(), "refs/tags/", 1000); complete || slices.Contains(got, "refs/tags/link") {
		t.Errorf("with a symbolic link: %q, %t", got, complete)
	}
	if git.EachPlainRefName(t.Context(), filepath.Join(r.Dir, "none"), "refs/tags/", func(string) bool { return true }) {
		t.Error("no repository has names")
	}
}

func BenchmarkEachPlainRefName(b *testing.B) {
	r := gitrepo.New(b, b.TempDir())
	r.Write("a", "a\n")
	r.Commit("Add a")
	head := strings.TrimSpace(r.Git("rev-parse", "HEAD"))
	var packed strings.Builder
	packed.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for n := range 10_000 {
		fmt.Fprintf(&packed, "%s refs/tags/v%06d\n", head, n)
	}
	if err := os.WriteFile(filepath.Join(r.Dir, ".git", "packed-refs"), []byte(packed.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		n := 0
		if !git.EachPlainRefName(b.Context(), r.Dir, "refs/tags/", func(string) bool { n++; return true }) || n != 10_000 {
			b.Fatal(n)
		}
	}
}
