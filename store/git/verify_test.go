package git_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/git"
)

// mirrorFile returns the file of a mirror that a glob names.
func mirrorFile(t *testing.T, dir, glob string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, glob))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: got %q, %v; want one file", glob, found, err)
	}
	return found[0]
}

// flipBit changes a byte of a file, from its end if at is negative.
func flipBit(t *testing.T, file string, at int) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if at < 0 {
		at += len(b)
	}
	b[at] ^= 0x40
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func verify(t *testing.T, dir string, quick bool) []string {
	t.Helper()
	var found []string
	err := git.NewBudget(git.LeastBudget).Verify(t.Context(), dir, quick, func(problem string) { found = append(found, problem) })
	if err != nil {
		t.Errorf("verify: %v", err)
	}
	return found
}

// TestVerifyAndRenew: whatever is damaged in a mirror is found, and gone once it
// is made anew; what is odd in it is no damage.
func TestVerifyAndRenew(t *testing.T) {
	x := newFixture(t)
	for _, name := range []string{"a", "b", "c"} {
		x.write(name, strings.Repeat("line of "+name+"\n", 100))
	}
	commit := x.commit()
	x.git("tag", "v1")
	x.git("repack", "-qad")
	const pack, idx = "objects/pack/*.pack", "objects/pack/*.idx"
	remove := func(glob string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(mirrorFile(t, dir, glob)); err != nil {
				t.Fatal(err)
			}
		}
	}
	flip := func(glob string, at int) func(*testing.T, string) {
		return func(t *testing.T, dir string) { flipBit(t, mirrorFile(t, dir, glob), at) }
	}
	write := func(name, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, test := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		// want stands in one of the problems; a quick look may see another one, and
		// none if it is unseen.
		want   string
		unseen bool
	}{
		{"nothing", func(*testing.T, string) {}, "", false},
		{"first table of the index", flip(idx, 500), "non-monotonic index", false},
		{"names in the index", flip(idx, 8+256*4+5), "hash mismatch", false},
		{"checksums in the index", flip(idx, -45), "hash mismatch", true},
		{"end of the index", flip(idx, -3), "hash mismatch", true},
		{"a file in the pack", flip(pack, 220), "checksum mismatch", true},
		{"end of the pack", flip(pack, -3), "does not match index", false},
		{"no index", remove(idx), "invalid sha1 pointer", false},
		{"no pack", remove(pack), "invalid sha1 pointer", false},
		{"HEAD", write("HEAD", "nonsense\n"), "not a git repository", false},
		{"refs", write("packed-refs", "nonsense\n"), "unexpected line", false},
		{"a ref to nothing", write("refs/heads/gone", strings.Repeat("12", 20)+"\n"), "refs/heads/gone: invalid sha1 pointer", false},
		{"configuration", write("config", "[[[\n"), "bad config line 1", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "m")
			// Over a transport, since a clone of files links them.
			from := "file://" + x.dir
			if _, err := unbounded.Mirror(t.Context(), "", from, dir, nil); err != nil {
				t.Fatal(err)
			}
			test.damage(t, dir)
			for _, quick := range []bool{false, true} {
				found := verify(t, dir, quick)
				seen := quick && len(found) > 0 || slices.ContainsFunc(found, func(problem string) bool { return strings.Contains(problem, test.want) })
				switch {
				case test.want == "" || quick && test.unseen:
					if len(found) > 0 {
						t.Errorf("quick %t: found %q, want nothing", quick, found)
					}
				case !seen:
					t.Errorf("quick %t: found %q, want something with %q", quick, found, test.want)
				case strings.Contains(strings.Join(found, " "), dir+"/"):
					t.Errorf("quick %t: %q names the directory again and again", quick, found)
				}
			}
			var b *git.Budget
			if err := b.Renew(t.Context(), "", from, dir, nil); err != nil {
				t.Fatal(err)
			}
			if found := verify(t, dir, false); len(found) > 0 {
				t.Errorf("made anew it has %q", found)
			}
			repo, err := b.Mirror(t.Context(), "", from, dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			checkMirror(t, repo, x, "main", commit)
			if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) != 1 {
				t.Errorf("beside the mirror: %v, %v; want nothing", left, err)
			}
		})
	}
}

// rawTree writes a tree that git would not make. Entries are a mode and a name.
func (x *fixture) rawTree(blob string, entries ...string) string {
	x.t.Helper()
	id, err := hex.DecodeString(blob)
	if err != nil {
		x.t.Fatal(err)
	}
	var raw strings.Builder
	for _, e := range entries {
		raw.WriteString(e + "\x00" + string(id))
	}
	return x.gitInput(raw.String(), "hash-object", "-t", "tree", "-w", "--stdin", "--literally")
}

// TestVerifyLeavesOddObjects: trees that git would not make are not damaged.
func TestVerifyLeavesOddObjects(t *testing.T) {
	x := newFixture(t)
	x.write("a", "1")
	x.commit()
	blob := x.git("hash-object", "-w", "a")
	tree := x.rawTree(blob, "100644 .git", "100644 z", "100644 a", "100644 a", "100666 b", "100644 c/d")
	commit := x.git("commit-tree", "-m", "odd", tree)
	x.git("update-ref", "refs/heads/odd", commit)
	if found := verify(t, filepath.Join(x.dir, ".git"), false); len(found) > 0 {
		t.Errorf("found %q, want nothing", found)
	}
}

// TestVerifyTellsSomeFaults: thousands of missing objects are not told one by one.
// Sound repositories of odd shapes are verified without a finding.
func TestVerifySoundRepositories(t *testing.T) {
	plain := func(t *testing.T) *fixture {
		x := newFixture(t)
		x.write("a", "1")
		x.commit()
		return x
	}
	for name, build := range map[string]func(*testing.T) *fixture{
		"without a commit": func(t *testing.T) *fixture { return newFixture(t) },
		"of SHA-256": func(t *testing.T) *fixture {
			x := newFixture(t, "--object-format=sha256")
			x.write("a", "")
			x.commit()
			return x
		},
		"with a HEAD that names no branch": func(t *testing.T) *fixture {
			x := plain(t)
			x.git("symbolic-ref", "HEAD", "refs/heads/unborn")
			return x
		},
		"with a detached HEAD": func(t *testing.T) *fixture {
			x := plain(t)
			x.git("checkout", "-q", "--detach")
			return x
		},
		"with an empty commit": func(t *testing.T) *fixture {
			x := newFixture(t)
			x.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
			return x
		},
		"with refs to trees, files and tags of tags": func(t *testing.T) *fixture {
			x := plain(t)
			x.git("update-ref", "refs/odd/tree", x.git("rev-parse", "HEAD^{tree}"))
			x.git("update-ref", "refs/odd/blob", x.git("rev-parse", "HEAD:a"))
			x.git("tag", "-a", "-m", "one", "one")
			x.git("tag", "-a", "-m", "two", "two", "one")
			return x
		},
		"with a thousand refs of odd names": func(t *testing.T) *fixture {
			x := plain(t)
			var in strings.Builder
			for _, n := range []string{"tmp_x", "config", "HEAD", "\xff", "caf\xe9", strings.Repeat("n", 200)} {
				fmt.Fprintf(&in, "create refs/heads/%s HEAD\n", n)
			}
			for i := range 1000 {
				fmt.Fprintf(&in, "create refs/heads/many/%d HEAD\n", i)
			}
			x.gitInput(in.String(), "update-ref", "--stdin")
			return x
		},
		"with paths of all bytes": func(t *testing.T) *fixture {
			x := plain(t)
			for b := 1; b < 256; b++ {
				if b != '/' {
					x.write("d/"+string([]byte{byte(b), byte(b), byte(b)}), "")
				}
			}
			x.commit()
			return x
		},
		"repacked and shallow": func(t *testing.T) *fixture {
			x := plain(t)
			x.write("a", "2")
			x.commit()
			x.git("clone", "-q", "--depth=1", "file://"+x.dir, x.dir+"-shallow")
			return &fixture{t: t, dir: x.dir + "-shallow"}
		},
	} {
		for _, quick := range []bool{false, true} {
			if found := verify(t, filepath.Join(build(t).dir, ".git"), quick); len(found) > 0 {
				t.Errorf("%s, quick %t: found %q, want nothing", name, quick, found)
			}
		}
	}
}

func TestVerifyTellsSomeFaults(t *testing.T) {
	x := newFixture(t)
	x.write("a", "1")
	x.commit()
	for i := range 40 {
		x.write(filepath.Join("d", strings.Repeat("x", i+1)), strings.Repeat("y", i+1))
	}
	x.commit()
	for _, line := range strings.Split(x.git("ls-tree", "-r", "HEAD:d"), "\n") {
		oid := strings.Fields(line)[2]
		if err := os.Remove(filepath.Join(x.dir, ".git", "objects", oid[:2], oid[2:])); err != nil {
			t.Fatal(err)
		}
	}
	found := verify(t, filepath.Join(x.dir, ".git"), false)
	if len(found) != 6 || !strings.HasPrefix(found[0], "missing blob ") || found[5] != "and 35 more" {
		t.Errorf("found %q, want 5 missing blobs and how many more", found)
	}
}

// TestRenewKeepsWhatItCannotReplace: a source that is gone leaves the mirror.
func TestRenewKeepsWhatItCannotReplace(t *testing.T) {
	x := newFixture(t)
	x.write("a", "1")
	commit := x.commit()
	dir := filepath.Join(t.TempDir(), "m")
	repo, err := unbounded.Mirror(t.Context(), "", "file://"+x.dir, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b *git.Budget
	if err := b.Renew(t.Context(), "", "file://"+x.dir+"-gone", dir, nil); err == nil {
		t.Error("renewed from a source that is gone, want an error")
	}
	checkMirror(t, repo, x, "main", commit)
	proxy := "http://127.0.0.1:1"
	if err := b.Renew(t.Context(), proxy, "file://"+x.dir, dir, nil); err == nil {
		t.Error("renewed past the proxy, want an error")
	}
	checkMirror(t, repo, x, "main", commit)
}

// TestMirrorSettlesSwap: a crash between the renamings of Renew leaves the place
// of the mirror empty. The old one goes back, whether the source is still there
// or not.
func TestMirrorSettlesSwap(t *testing.T) {
	for _, gone := range []bool{false, true} {
		x := newFixture(t)
		x.write("a", "1")
		commit := x.commit()
		dir, from := filepath.Join(t.TempDir(), "m"), "file://"+x.dir
		if _, err := unbounded.Mirror(t.Context(), "", from, dir, nil); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(dir, dir+git.OldSuffix); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir+git.PartialSuffix, 0o755); err != nil {
			t.Fatal(err)
		}
		var b *git.Budget
		if gone {
			from += "-gone"
		}
		if err := b.Renew(t.Context(), "", from, dir, nil); (err != nil) != gone {
			t.Errorf("source gone %t: renewed with %v", gone, err)
		}
		repo, err := unbounded.Mirror(t.Context(), "", from, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkMirror(t, repo, x, "main", commit)
		if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) != 1 {
			t.Errorf("source gone %t: beside the mirror are %v, %v; want nothing", gone, left, err)
		}
	}
}
