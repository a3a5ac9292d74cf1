package git_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/git"
)

// scaled is a number that an environment variable makes larger.
func scaled(t *testing.T, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < usual {
		t.Fatalf("%s=%s: want a number from %d on", name, text, usual)
	}
	return n
}

// within runs do and checks what git takes meanwhile.
func within(t *testing.T, do func()) {
	t.Helper()
	most := peak(t, do)
	t.Logf("git took %d MiB", most>>20)
	if most > maxGrowth {
		t.Errorf("git took %d MiB, want at most %d", most>>20, maxGrowth>>20)
	}
}

// TestManyRefs: many refs (TRAWL_REFS says how many) are listed and resolved in
// bounds, each as what it is.
func TestManyRefs(t *testing.T) {
	n := scaled(t, "TRAWL_REFS", 10_000)
	x := newFixture(t)
	x.write("a.txt", "one\n")
	commit := x.commit()
	var packed strings.Builder
	packed.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for i := range n {
		fmt.Fprintf(&packed, "%s refs/heads/many/%08d\n", commit, i)
	}
	if err := os.WriteFile(filepath.Join(x.dir, ".git", "packed-refs"), []byte(packed.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	repo := x.open()
	within(t, func() {
		refs, err := repo.Refs(t.Context(), "refs/heads/many/")
		if err != nil || len(refs) != n || refs[n-1] != fmt.Sprintf("refs/heads/many/%08d", n-1) {
			t.Fatalf("%d refs are listed, %v; want %d", len(refs), err, n)
		}
		commits, err := repo.Commits(t.Context(), refs)
		if err != nil || len(commits) != n || commits[0] != commit || commits[n-1] != commit {
			t.Errorf("%d commits, %v; want %d times %s", len(commits), err, n, commit)
		}
		if got, err := repo.Resolve(t.Context(), refs[n/2]); err != nil || got != commit {
			t.Errorf("Resolve(%s) = %q, %v", refs[n/2], got, err)
		}
	})
	// A mirror of them fits the least budget there is.
	mirror, err := git.NewBudget(0).ForSyncs().Mirror(t.Context(), "", "file://"+x.dir, filepath.Join(t.TempDir(), "mirror"), nil)
	if err == nil {
		err = mirror.Fetch(t.Context(), nil)
	}
	if err != nil {
		t.Errorf("mirror: %v", err)
	}
}

// TestLongDeltaChain: an object at the end of ten thousand differences, each to
// the one before, is read as what it is, in bounds.
func TestLongDeltaChain(t *testing.T) {
	const depth = 10_000
	x := newFixture(t)
	text := []byte("0000000 kiln\n")
	objects := [][]byte{packed(t, 3, "", text)}
	var body bytes.Buffer
	w := zlib.NewWriter(&body)
	for i := range depth {
		next := fmt.Appendf(nil, "%07d", i)
		// The number is new, what follows is copied from behind it.
		delta := append([]byte{byte(len(text)), byte(len(text)), 7}, next...)
		delta = append(delta, 0x80|0x01|0x10, 7, byte(len(text)-7))
		last := objects[len(objects)-1]
		if len(delta) > 15 {
			t.Fatalf("a difference has %d bytes, the head written here is for 15", len(delta))
		}
		body.Reset()
		w.Reset(&body)
		if _, err := w.Write(delta); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, bytes.Join([][]byte{{6<<4 | byte(len(delta))}, offset(len(last)), body.Bytes()}, nil))
		text = append(next, text[7:]...)
	}
	x.indexPack(objects...)
	id := x.gitInput(string(text), "hash-object", "--stdin")
	repo := x.open()
	within(t, func() {
		if got := readWith(t, blobs(t, repo), []string{id}, 1<<20); got[0].err != nil || string(got[0].data) != string(text) {
			t.Errorf("the last of the chain is %q, %v; want %q", got[0].data, got[0].err, text)
		}
	})
}

// offset is how far the base of a difference stands before it in a pack.
func offset(n int) []byte {
	out := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		out = append([]byte{0x80 | byte(n&0x7f)}, out...)
	}
	return out
}

// TestHugeMessage: of a commit with a message of a hundred megabytes git is told
// in bounds: by its files, by the beginning of its message, or by ErrTooCostly.
func TestHugeMessage(t *testing.T) {
	x := newFixture(t)
	x.write("a.txt", "one\n")
	first := x.commit()
	tree := x.git("rev-parse", "HEAD^{tree}")
	body := "tree " + tree + "\nparent " + first + "\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n\n" + strings.Repeat("word ", 20<<20)
	huge := x.gitInput(body, "hash-object", "-t", "commit", "-w", "--stdin")
	x.git("update-ref", "refs/heads/main", huge)
	repo := x.open()
	within(t, func() {
		if b, err := repo.DefaultBranch(t.Context()); err != nil || b.Commit != huge {
			t.Errorf("DefaultBranch = %v, %v; want %s", b, err, huge)
		}
		files := 0
		if err := repo.ListTree(t.Context(), huge, func(git.TreeEntry) error { files++; return nil }); err != nil || files != 1 {
			t.Errorf("%d files are listed, %v; want one", files, err)
		}
		for _, depth := range []git.LogDepth{git.LogMessages, git.LogPaths, git.LogHunks} {
			err := repo.Log(t.Context(), []string{huge}, git.LogOptions{Depth: depth}, func(c *git.Commit) error {
				if len(c.Message) > git.MaxMessageBytes {
					t.Errorf("a message of %d bytes is kept, want at most %d", len(c.Message), git.MaxMessageBytes)
				}
				return nil
			})
			if err != nil && !errors.Is(err, git.ErrTooCostly) {
				t.Errorf("Log: %v, want nil or ErrTooCostly", err)
			}
		}
		objects := repo.Objects()
		defer objects.Close()
		if _, err := objects.Read(t.Context(), huge, 4<<20); !errors.Is(err, git.ErrTooLarge) {
			t.Errorf("Objects.Read = %v, want ErrTooLarge", err)
		}
	})
}

// TestDamagedPackIndex: whatever bytes of a pack's index are wrong, what is read
// is right or told as missing or corrupt.
func TestDamagedPackIndex(t *testing.T) {
	x := newFixture(t)
	want := map[string]string{}
	for i := range 20 {
		text := fmt.Sprintf("kiln %d\n", i)
		x.write(fmt.Sprintf("f%d", i), text)
		want[x.gitInput(text, "hash-object", "--stdin")] = text
	}
	x.commit()
	x.git("repack", "-q", "-a", "-d")
	found, err := filepath.Glob(filepath.Join(x.dir, ".git", "objects", "pack", "*.idx"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%q are there, %v; want one index", found, err)
	}
	if err := os.Chmod(found[0], 0o644); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	oids := sortedKeys(want)
	// Of the head, of the fan-out, of ids, of checksums and of offsets.
	for at := 2; at < len(good); at += len(good) / 25 {
		bad := bytes.Clone(good)
		bad[at] ^= 0x55
		if err := os.WriteFile(found[0], bad, 0o644); err != nil {
			t.Fatal(err)
		}
		repo, err := git.Open(t.Context(), x.dir)
		if err != nil {
			oneLine(t, err)
			continue
		}
		reader, err := repo.Blobs(t.Context())
		if err != nil {
			oneLine(t, err)
			continue
		}
		err = reader.Read(t.Context(), oids, 1<<20, func(i int, b git.Blob) error {
			if b.Err == nil && string(b.Data) != want[oids[i]] {
				t.Errorf("byte %d: %s holds %q, want %q", at, oids[i], b.Data, want[oids[i]])
			}
			return nil
		})
		reader.Close()
		if err != nil {
			oneLine(t, err)
		}
	}
}
