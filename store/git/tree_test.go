package git_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/git"
)

// oddPaths are file names that a careless parser of git's output trips over.
var oddPaths = []string{
	"plain.txt", "with space", "new\nline", "tab\tin\tname", "-dash", "--help", "ünïcode/日本.txt", `quo"te`, `back\slash`,
	"bad\xff\xfeutf8", ":colon", "deep/er/and/deeper", "trailing ", "\x01control", strings.Repeat("long", 60),
}

func listTree(t testing.TB, repo *git.Repo, commit string) []git.TreeEntry {
	t.Helper()
	var entries []git.TreeEntry
	err := repo.ListTree(t.Context(), commit, func(e git.TreeEntry) error {
		entries = append(entries, e)
		return nil
	})
	if err != nil {
		t.Fatalf("ListTree(%s): %v", commit, err)
	}
	return entries
}

func TestListTreeOddPaths(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			x := newFixture(t, "--object-format="+format)
			for i, path := range oddPaths {
				x.write(path, fmt.Sprint(i))
			}
			commit := x.commit()
			entries := listTree(t, x.open(), commit)
			var got []string
			for _, e := range entries {
				got = append(got, e.Path)
				if e.Mode != git.ModeFile || e.Kind != "blob" || len(e.OID) != len(commit) {
					t.Errorf("entry %+v, want a plain blob with an id of %d digits", e, len(commit))
				}
			}
			want := slices.Sorted(slices.Values(oddPaths))
			if !slices.Equal(got, want) {
				t.Errorf("paths\n got %q\nwant %q", got, want)
			}
		})
	}
}

func TestListTreeKinds(t *testing.T) {
	other := newFixture(t)
	other.write("x", "1")
	pinned := other.commit()
	x := newFixture(t)
	x.write("file", "1")
	x.write("run.sh", "#!/bin/sh")
	x.git("add", "run.sh")
	if err := os.Chmod(filepath.Join(x.dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("no/such/target", filepath.Join(x.dir, "link")); err != nil {
		t.Fatal(err)
	}
	x.write(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = "+other.dir+"\n")
	if err := os.Mkdir(filepath.Join(x.dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	x.git("update-index", "--add", "--cacheinfo", "160000,"+pinned+",sub")
	commit := x.commit()
	oid := func(path string) string { return x.git("rev-parse", commit+":"+path) }
	want := []git.TreeEntry{
		{Mode: git.ModeFile, Kind: "blob", OID: oid(".gitmodules"), Path: ".gitmodules"},
		{Mode: git.ModeFile, Kind: "blob", OID: oid("file"), Path: "file"},
		{Mode: git.ModeSymlink, Kind: "blob", OID: oid("link"), Path: "link"},
		{Mode: git.ModeExecutable, Kind: "blob", OID: oid("run.sh"), Path: "run.sh"},
		{Mode: git.ModeSubmodule, Kind: "commit", OID: pinned, Path: "sub"},
	}
	if got := listTree(t, x.open(), commit); !slices.Equal(got, want) {
		t.Errorf("ListTree\n got %v\nwant %v", got, want)
	}
}

func TestListTreeEmptyTree(t *testing.T) {
	x := newFixture(t)
	if got := listTree(t, x.open(), x.commit()); len(got) != 0 {
		t.Errorf("tree of an empty commit lists %v", got)
	}
}

func TestListTreeErrors(t *testing.T) {
	x := newFixture(t)
	for i := range 3000 {
		x.write(fmt.Sprintf("dir%d/file%d", i%7, i), "same")
	}
	commit := x.commit()
	repo := x.open()

	// An error of the callback's own comes back untouched.
	stop := errors.New("enough")
	calls := 0
	err := repo.ListTree(t.Context(), commit, func(git.TreeEntry) error {
		calls++
		return stop
	})
	if err != stop || calls != 1 {
		t.Errorf("callback's error: got %v after %d calls, want it after 1", err, calls)
	}

	// Cancelled in the middle.
	ctx, cancel := context.WithCancel(t.Context())
	err = repo.ListTree(ctx, commit, func(git.TreeEntry) error {
		cancel()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancel in the middle: %v, want context.Canceled", err)
	}

	// No such commit.
	none := strings.Repeat("ab", 20)
	oneLine(t, repo.ListTree(t.Context(), none, nil), "list tree "+none, x.dir, "git ls-tree")
	oneLine(t, repo.ListTree(t.Context(), "--name-only", nil), "begins with")

	// A subtree that is not there.
	if err := os.Remove(x.object(x.git("rev-parse", commit+":dir3"))); err != nil {
		t.Fatal(err)
	}
	err = repo.ListTree(t.Context(), commit, func(git.TreeEntry) error { return nil })
	oneLine(t, err, "list tree "+commit)
}

func TestDiffTree(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			x := newFixture(t, "--object-format="+format)
			for _, path := range []string{"stays", "edited", "mode", "kind", "moved\nfrom", "dir/gone"} {
				x.write(path, "content of "+path)
			}
			before := x.commit()
			x.write("edited", "other")
			x.write("added\tfile", "new")
			x.git("mv", "moved\nfrom", "moved to")
			x.git("rm", "-q", "dir/gone", "kind")
			if err := os.Chmod(filepath.Join(x.dir, "mode"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("x", filepath.Join(x.dir, "kind")); err != nil {
				t.Fatal(err)
			}
			after := x.commit()
			was := func(path string) string { return x.git("rev-parse", before+":"+path) }
			is := func(path string) string { return x.git("rev-parse", after+":"+path) }
			want := []git.Change{
				{'A', 0, git.ModeFile, "", is("added\tfile"), "added\tfile"},
				{'D', git.ModeFile, 0, was("dir/gone"), "", "dir/gone"},
				{'M', git.ModeFile, git.ModeFile, was("edited"), is("edited"), "edited"},
				{'T', git.ModeFile, git.ModeSymlink, was("kind"), is("kind"), "kind"},
				{'M', git.ModeFile, git.ModeExecutable, was("mode"), is("mode"), "mode"},
				{'D', git.ModeFile, 0, was("moved\nfrom"), "", "moved\nfrom"},
				{'A', 0, git.ModeFile, "", is("moved to"), "moved to"},
			}
			got := diffTree(t, x.open(), before, after)
			if !slices.Equal(got, want) {
				t.Errorf("DiffTree\n got %v\nwant %v", got, want)
			}
		})
	}
}

func diffTree(t testing.TB, repo *git.Repo, before, after string) []git.Change {
	t.Helper()
	var changes []git.Change
	err := repo.DiffTree(t.Context(), before, after, func(c git.Change) error {
		changes = append(changes, c)
		return nil
	})
	if err != nil {
		t.Fatalf("DiffTree(%s, %s): %v", before, after, err)
	}
	return changes
}

// Against nothing, a diff adds exactly what the tree lists; against itself it
// is empty. The two parsers check each other.
func TestDiffTreeAgainstNothingListsTree(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		x := newFixture(t, "--object-format="+format)
		for _, path := range oddPaths {
			x.write(path, path)
		}
		commit := x.commit()
		repo := x.open()
		var want []git.Change
		for _, e := range listTree(t, repo, commit) {
			want = append(want, git.Change{Status: 'A', NewMode: e.Mode, NewOID: e.OID, Path: e.Path})
		}
		if got := diffTree(t, repo, "", commit); !slices.Equal(got, want) {
			t.Errorf("%s: DiffTree from nothing\n got %v\nwant %v", format, got, want)
		}
		if got := diffTree(t, repo, commit, commit); len(got) != 0 {
			t.Errorf("%s: DiffTree with itself = %v", format, got)
		}
	}
}

func TestDiffTreeErrors(t *testing.T) {
	x := newFixture(t)
	x.write("a", "1")
	commit := x.commit()
	repo := x.open()
	stop := errors.New("enough")
	if err := repo.DiffTree(t.Context(), "", commit, func(git.Change) error { return stop }); err != stop {
		t.Errorf("callback's error: got %v", err)
	}
	oneLine(t, repo.DiffTree(t.Context(), strings.Repeat("ab", 20), commit, nil), "compare", x.dir)
	oneLine(t, repo.DiffTree(t.Context(), "--output=/tmp/x", commit, nil), "begins with")
}
