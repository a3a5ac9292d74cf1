//go:build unix

package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/git"
)

// The users of TestForeignRepository.
const bob, alice = 4001, 4002

// TestForeignRepository: a repository of bob's may have git read what is bob's or
// below its folder, and nothing of alice's.
func TestForeignRepository(t *testing.T) {
	link := func(x *fixture, name, to string) {
		x.t.Helper()
		path := filepath.Join(x.dir, name)
		if err := errors.Join(os.RemoveAll(path), os.Symlink(to, path)); err != nil {
			x.t.Fatal(err)
		}
	}
	write := func(x *fixture, name, text string) {
		x.t.Helper()
		if err := os.WriteFile(filepath.Join(x.dir, name), []byte(text), 0o644); err != nil {
			x.t.Fatal(err)
		}
	}
	elsewhere := func(x *fixture, at string) {
		x.t.Helper()
		if err := os.RemoveAll(filepath.Join(x.dir, ".git")); err != nil {
			x.t.Fatal(err)
		}
		write(x, ".git", "gitdir: "+at+"\n")
	}
	for _, c := range []struct {
		name string
		// lead has bob's repository lead to the other one.
		lead    func(bobs, other *fixture)
		refused bool // if the other one is alice's
	}{
		{"nothing", func(bobs, _ *fixture) { bobs.commit() }, false},
		{".git file", func(bobs, other *fixture) { elsewhere(bobs, filepath.Join(other.dir, ".git")) }, true},
		{".git link", func(bobs, other *fixture) { link(bobs, ".git", filepath.Join(other.dir, ".git")) }, true},
		{".git file to a link", func(bobs, other *fixture) {
			link(bobs, "inner", filepath.Join(other.dir, ".git"))
			elsewhere(bobs, "inner")
		}, true},
		{"alternates", func(bobs, other *fixture) {
			write(bobs, ".git/objects/info/alternates", filepath.Join(other.dir, ".git/objects")+"\n")
		}, true},
		{"odd alternates", func(bobs, other *fixture) {
			link(bobs, "a\nb", filepath.Join(other.dir, ".git/objects"))
			write(bobs, ".git/objects/info/alternates", "\"../../a\\nb\"\n")
		}, true},
		{"objects", func(bobs, other *fixture) { link(bobs, ".git/objects", filepath.Join(other.dir, ".git/objects")) }, true},
		{"packs", func(bobs, other *fixture) {
			link(bobs, ".git/objects/pack", filepath.Join(other.dir, ".git/objects/pack"))
		}, true},
		{"one object", func(bobs, other *fixture) {
			object := other.git("rev-parse", "HEAD")
			object = filepath.Join(".git/objects", object[:2], object[2:])
			if err := os.MkdirAll(filepath.Dir(filepath.Join(bobs.dir, object)), 0o755); err != nil {
				t.Fatal(err)
			}
			link(bobs, object, filepath.Join(other.dir, object))
		}, true},
		{"common directory", func(bobs, other *fixture) {
			write(bobs, ".git/commondir", filepath.Join(other.dir, ".git")+"\n")
		}, true},
		{"configuration", func(bobs, other *fixture) {
			link(bobs, ".git/config", filepath.Join(other.dir, ".git/config"))
		}, true},
		{"hooks, which are never read", func(bobs, other *fixture) {
			link(bobs, ".git/hooks", filepath.Join(other.dir, ".git"))
		}, false},
		{"a link within", func(bobs, _ *fixture) {
			if err := os.Rename(filepath.Join(bobs.dir, ".git/objects"), filepath.Join(bobs.dir, "kept")); err != nil {
				t.Fatal(err)
			}
			link(bobs, ".git/objects", "../kept")
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			bobs, other := newFixture(t), newFixture(t)
			for _, x := range []*fixture{bobs, other} {
				x.write("a.txt", "one\n")
				x.commit()
			}
			c.lead(bobs, other)
			owners := func(user int) func(string) (int, bool) {
				return func(path string) (int, bool) {
					if strings.HasPrefix(path, filepath.Dir(bobs.dir)+"/") {
						return bob, true
					}
					return user, true
				}
			}
			source := bobs.dir
			for _, open := range []struct {
				how  string
				open func() error
			}{
				{"Open", func() error { _, err := git.Open(t.Context(), source); return err }},
				{"Mirror", func() error {
					_, err := unbounded.Mirror(t.Context(), "", "file://"+source, filepath.Join(t.TempDir(), "mirror"), nil)
					return err
				}},
			} {
				git.SetOwner(t, owners(alice))
				if err := open.open(); errors.Is(err, git.ErrForeign) != c.refused || err != nil && !c.refused {
					t.Errorf("%s: got %v; want it refused: %v", open.how, err, c.refused)
				} else if c.refused && open.how == "Open" {
					oneLine(t, err)
				}
				git.SetOwner(t, owners(bob))
				if err := open.open(); errors.Is(err, git.ErrForeign) {
					t.Errorf("%s: got %v, though all of it is bob's", open.how, err)
				}
			}
		})
	}
}

// What lies in a worktree that is linked to a repository of the same owner is
// theirs.
func TestForeignWorktree(t *testing.T) {
	x := newFixture(t)
	x.write("a.txt", "one\n")
	x.commit()
	linked := filepath.Join(t.TempDir(), "linked")
	x.git("worktree", "add", "-q", linked)
	git.SetOwner(t, func(string) (int, bool) { return bob, true })
	if _, err := git.Open(t.Context(), linked); err != nil {
		t.Error(err)
	}
}
