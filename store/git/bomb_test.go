package git_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store/git"
)

// bombBytes is how large the files are that packs of a kilobyte hold here.
// TRAWL_BOMB_MIB makes them larger: bounds hold whatever their size.
func bombBytes(t *testing.T) int {
	t.Helper()
	mebibytes := 300
	if text := os.Getenv("TRAWL_BOMB_MIB"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 300 {
			t.Fatalf("TRAWL_BOMB_MIB=%s: want a number from 300 on", text)
		}
		mebibytes = n
	}
	return mebibytes << 20
}

// zerosID is the id of a blob of so many zeros.
func zerosID(size int) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", size)
	for piece := make([]byte, 1<<20); size > 0; size -= len(piece) {
		piece = piece[:min(len(piece), size)]
		h.Write(piece)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// deflated is data as objects keep it.
func deflated(t *testing.T, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// packed is an object in a pack, of kind 3 (blob) or 7 (what is to be made of
// the object of that id).
func packed(t *testing.T, kind byte, base string, data []byte) []byte {
	t.Helper()
	n := len(data)
	head := []byte{kind<<4 | byte(n&15)}
	for n >>= 4; n > 0; n >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(n&0x7f))
	}
	id, err := hex.DecodeString(base)
	if err != nil {
		t.Fatal(err)
	}
	return append(append(head, id...), deflated(t, data)...)
}

// repeated tells to make a text of size bytes of one of base bytes.
func repeated(base, size int) []byte {
	out := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(base)), uint64(size))
	for ; size > 0; size -= min(size, base-1) {
		n := min(size, base-1)
		out = append(out, 0x80|0x70, byte(n), byte(n>>8), byte(n>>16))
	}
	return out
}

// deltaBomb adds a file named bomb to the fixture, which is a difference of a
// kilobyte to one of a mebibyte, and returns its id.
func (x *fixture) deltaBomb(t *testing.T, size int) string {
	t.Helper()
	const base = 1 << 20
	baseID := x.gitInput(string(make([]byte, base)), "hash-object", "-w", "--stdin")
	x.indexPack(packed(t, 7, baseID, repeated(base, size)))
	return x.commitBlob(zerosID(size))
}

// textBomb adds a text of short lines to the fixture, which is a difference of a
// kilobyte to one of half a mebibyte, and returns its id.
func (x *fixture) textBomb(t *testing.T, line string, size int) string {
	t.Helper()
	const base = 1 << 19
	text := strings.Repeat(line, base/len(line)+1)[:base]
	baseID := x.gitInput(text, "hash-object", "-w", "--stdin")
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", size)
	for left := size; left > 0; left -= min(left, base-1) {
		h.Write([]byte(text[:min(left, base-1)]))
	}
	x.indexPack(packed(t, 7, baseID, repeated(base, size)))
	return hex.EncodeToString(h.Sum(nil))
}

// indexPack adds a pack of the objects, whose bases may lie outside of it.
func (x *fixture) indexPack(objects ...[]byte) {
	pack := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(objects)))
	pack = append(pack, bytes.Join(objects, nil)...)
	sum := sha1.Sum(pack)
	x.gitInput(string(append(pack, sum[:]...)), "index-pack", "--fix-thin", "--stdin")
}

// TestDiffThatGitDiesOf: a commit of whose diff git dies is not told as one
// without changes, and those before it are told.
func TestDiffThatGitDiesOf(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the memory of children is bounded on Linux only")
	}
	x := newFixture(t)
	x.write("a.txt", "one\n")
	first := x.commit()
	x.write("a.txt", "two\n")
	second := x.commit()
	tree := x.gitInput("100644 blob "+x.textBomb(t, "a\n", 60<<20)+"\tbomb\n", "mktree")
	bomb := x.git("commit-tree", "-m", "bomb", tree)
	var told []string
	var err error
	for tries := 0; err == nil && tries < 4; tries++ { // git was done before it had a bound
		told = nil
		err = x.open().Log(t.Context(), []string{second, first, bomb}, git.LogOptions{Depth: git.LogHunks, MaxFileBytes: git.MaxDiffBytes}, func(c *git.Commit) error {
			told = append(told, c.OID)
			return nil
		})
	}
	if !errors.Is(err, git.ErrTooCostly) || !slices.Equal(told, []string{second, first}) {
		t.Errorf("%q are told, %v; want %s and %s, and ErrTooCostly", told, err, second, first)
	}
}

// looseBomb is deltaBomb with an object that is compressed well.
func (x *fixture) looseBomb(t *testing.T, size int) string {
	t.Helper()
	id := zerosID(size)
	path := filepath.Join(x.dir, ".git", "objects", id[:2], id[2:])
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := zlib.NewWriterLevel(&out, zlib.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(w, "blob %d\x00", size)
	piece := make([]byte, 1<<20)
	for left := size; left > 0; left -= len(piece) {
		if _, err := w.Write(piece[:min(len(piece), left)]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return x.commitBlob(id)
}

// commitBlob commits a blob as the file bomb, beside one that is harmless.
func (x *fixture) commitBlob(id string) string {
	small := x.gitInput("small\n", "hash-object", "-w", "--stdin")
	tree := x.gitInput("100644 blob "+id+"\tbomb\n100644 blob "+small+"\tsmall\n", "mktree", "--missing")
	x.git("update-ref", "refs/heads/main", x.git("commit-tree", "-m", "bomb", tree))
	return id
}

// childrenBytes is what the processes take that this one has started, less
// what is mapped from files.
func childrenBytes() int64 {
	sum := int64(0)
	self, _ := os.Executable() // known on Linux
	pids := []string{"self"}
	for len(pids) > 0 {
		lists, _ := filepath.Glob("/proc/" + pids[0] + "/task/*/children") // a good pattern
		pids = pids[1:]
		for _, list := range lists {
			text, err := os.ReadFile(list)
			if err != nil {
				continue // it has ended
			}
			for _, pid := range strings.Fields(string(text)) {
				if exe, err := os.Readlink("/proc/" + pid + "/exe"); err != nil || exe == self {
					continue // it is not git yet, and has the memory of this process
				}
				pids = append(pids, pid)
				var all, resident, shared int64
				statm, err := os.ReadFile("/proc/" + pid + "/statm")
				if err != nil {
					continue
				}
				if _, err := fmt.Sscan(string(statm), &all, &resident, &shared); err == nil {
					sum += (resident - shared) * int64(os.Getpagesize())
				}
			}
		}
	}
	return sum
}

// peak is the most that children take while do works.
func peak(t *testing.T, do func()) int64 {
	t.Helper()
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("the memory of children is known on Linux only")
	}
	done, most := make(chan struct{}), make(chan int64)
	go func() {
		top := int64(0)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			top = max(top, childrenBytes())
			select {
			case <-done:
				most <- top
				return
			case <-tick.C:
			}
		}
	}()
	do()
	close(done)
	return <-most
}

// leastPeak is peak, again if that was too much: on a busy machine the
// goroutine that watches git's processes may not run for a while.
func leastPeak(t *testing.T, do func()) (most int64) {
	t.Helper()
	for tries := range 5 {
		time.Sleep(time.Duration(tries) * 100 * time.Millisecond)
		if most = peak(t, do); most <= maxGrowth || t.Failed() {
			break
		}
		t.Logf("git took %d MiB", most>>20)
	}
	return most
}

// maxGrowth is what all of git's processes may take for a hostile repository.
const maxGrowth = 256 << 20

// TestBombsAreNotInflated: a file of hundreds of megabytes in a pack of some
// kilobytes is told by its size, others are read, and git stays small.
func TestBombsAreNotInflated(t *testing.T) {
	size := bombBytes(t)
	for name, plant := range map[string]func(*fixture) string{
		"delta": func(x *fixture) string { return x.deltaBomb(t, size) },
		"loose": func(x *fixture) string { return x.looseBomb(t, size) },
	} {
		t.Run(name, func(t *testing.T) {
			x := newFixture(t)
			bomb := plant(x)
			small := x.git("rev-parse", "main:small")
			repo := x.open()
			most := leastPeak(t, func() {
				got := readWith(t, blobs(t, repo), []string{small, bomb, small}, 32<<20)
				if !errors.Is(got[1].err, git.ErrTooLarge) || got[1].size != int64(size) {
					t.Errorf("the bomb is told as %d bytes, %v; want ErrTooLarge with %d", got[1].size, got[1].err, size)
				}
				for _, i := range []int{0, 2} {
					if string(got[i].data) != "small\n" {
						t.Errorf("beside the bomb stands %q, %v", got[i].data, got[i].err)
					}
				}
				objects := repo.Objects()
				defer objects.Close()
				if _, err := objects.Read(t.Context(), bomb, 32<<20); !errors.Is(err, git.ErrTooLarge) {
					t.Errorf("Objects.Read = %v, want ErrTooLarge", err)
				}
				if o, err := objects.Read(t.Context(), small, 32<<20); err != nil || string(o.Data) != "small\n" {
					t.Errorf("behind it Objects.Read = %q, %v", o.Data, err)
				}
				// What cannot be read even alone is no damage.
				err := objects.Copy(t.Context(), bomb, func(string, int64) (io.Writer, error) { return io.Discard, nil })
				if name == "delta" && !errors.Is(err, git.ErrTooCostly) || name == "loose" && err != nil {
					t.Errorf("a copy of the bomb: %v, want ErrTooCostly for a delta", err)
				}
				err = repo.Log(t.Context(), []string{x.git("rev-parse", "main")}, git.LogOptions{Depth: git.LogHunks}, func(*git.Commit) error { return nil })
				if err != nil && !errors.Is(err, git.ErrTooCostly) {
					t.Errorf("the diff of the bomb: %v, want nil or ErrTooCostly", err)
				}
				if err == nil && name == "delta" {
					t.Error("the diff of the bomb was made")
				}
				// A reader of paths alone is not disturbed.
				if err := repo.Log(t.Context(), []string{x.git("rev-parse", "main")}, git.LogOptions{Depth: git.LogPaths}, func(*git.Commit) error { return nil }); err != nil {
					t.Errorf("paths of the bomb: %v", err)
				}
			})
			t.Logf("git took %d MiB", most>>20)
			if most > maxGrowth {
				t.Errorf("git took %d MiB, want at most %d", most>>20, maxGrowth>>20)
			}
			if name == "delta" {
				notMirrored(t, x)
			}
		})
	}
}

// notMirrored checks that neither side of git grows without bound while a bomb
// is fetched; it is refused in a line and nothing of it stays.
func notMirrored(t *testing.T, x *fixture) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mirror")
	most := leastPeak(t, func() {
		_, err := unbounded.Mirror(t.Context(), "", "file://"+x.dir, dir, nil)
		for tries := 0; err == nil && tries < 4; tries++ { // git was done before anyone had looked
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			_, err = unbounded.Mirror(t.Context(), "", "file://"+x.dir, dir, nil)
		}
		if !errors.Is(err, git.ErrTooCostly) {
			t.Fatalf("Mirror = %v, want ErrTooCostly", err)
		}
		oneLine(t, err, "mirror file://", "MiB of memory", "far larger than their pack")
	})
	if most > maxGrowth {
		t.Errorf("git took %d MiB, want at most %d", most>>20, maxGrowth>>20)
	}
	left, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(left) > 0 {
		t.Errorf("%d entries are left beside the mirror, %v; want none", len(left), err)
	}
}
