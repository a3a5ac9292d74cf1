package git_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/trawlsearch/trawl/store/git"
)

// got is what Read said of one object, copied out of the reader's buffer.
type got struct {
	size int64
	data []byte
	err  error
}

func readAll(t testing.TB, repo *git.Repo, oids []string) []got {
	t.Helper()
	reader := blobs(t, repo)
	return readWith(t, reader, oids, math.MaxInt64)
}

func blobs(t testing.TB, repo *git.Repo) *git.BlobReader {
	t.Helper()
	reader, err := repo.Blobs(t.Context())
	if err != nil {
		t.Fatalf("Blobs: %v", err)
	}
	t.Cleanup(reader.Close)
	return reader
}

func readWith(t testing.TB, reader *git.BlobReader, oids []string, maxBytes int64) []got {
	t.Helper()
	var all []got
	err := reader.Read(t.Context(), oids, maxBytes, func(i int, b git.Blob) error {
		if i != len(all) {
			t.Errorf("index %d, want %d", i, len(all))
		}
		all = append(all, got{b.Size, bytes.Clone(b.Data), b.Err})
		return nil
	})
	if err != nil {
		t.Fatalf("Read of %d objects: %v", len(oids), err)
	}
	if len(all) != len(oids) {
		t.Fatalf("Read told of %d objects, want %d", len(all), len(oids))
	}
	return all
}

// contents are blobs around every size at which the reader changes its ways.
func contents() [][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	var all [][]byte
	for _, size := range []int{0, 1, 100, 4095, 4096, 512<<10 - 2, 512<<10 - 1, 512 << 10, 512<<10 + 1, 3 << 20, 17 << 20, 10} {
		content := make([]byte, size)
		for i := range content {
			content[i] = "abc\n\x00\xff def"[random.IntN(10)]
		}
		all = append(all, content)
	}
	return all
}

func storeBlobs(x *fixture, all [][]byte) []string {
	var oids []string
	for _, content := range all {
		oids = append(oids, x.gitInput(string(content), "hash-object", "-w", "--stdin"))
	}
	return oids
}

func TestReadSizes(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			x := newFixture(t, "--object-format="+format)
			want := contents()
			oids := storeBlobs(x, want)
			reader := blobs(t, x.open())
			for round := range 2 { // the second uses the same process and buffers
				for i, g := range readWith(t, reader, oids, math.MaxInt64) {
					if g.err != nil || g.data == nil || g.size != int64(len(want[i])) || !bytes.Equal(g.data, want[i]) {
						t.Errorf("round %d, blob of %d bytes: got %d bytes, size %d, %v", round, len(want[i]), len(g.data), g.size, g.err)
					}
				}
			}
			if len(readWith(t, reader, nil, 0)) != 0 {
				t.Error("reading nothing told of something")
			}
		})
	}
}

func TestReadLimit(t *testing.T) {
	x := newFixture(t)
	want := contents()
	oids := storeBlobs(x, want)
	for _, limit := range []int64{0, 99, 100, 4096, 1 << 20} {
		for i, g := range readWith(t, blobs(t, x.open()), oids, limit) {
			if g.size != int64(len(want[i])) {
				t.Errorf("limit %d, blob of %d bytes: size %d", limit, len(want[i]), g.size)
			}
			if tooLarge := g.size > limit; tooLarge != errors.Is(g.err, git.ErrTooLarge) || tooLarge != (g.data == nil) {
				t.Errorf("limit %d, blob of %d bytes: %d bytes of data, %v", limit, len(want[i]), len(g.data), g.err)
			}
		}
	}
}

func TestReadBadObjects(t *testing.T) {
	x := newFixture(t)
	x.write("a", "1")
	commit := x.commit()
	good := x.git("rev-parse", commit+":a")
	var big strings.Builder
	for i := range 20000 {
		fmt.Fprintln(&big, i*i)
	}
	damage := map[string]func(raw []byte) []byte{
		"truncated": func(raw []byte) []byte { return raw[:len(raw)/2] },
		"changed": func(raw []byte) []byte {
			return append(raw[:len(raw)/2:len(raw)/2], bytes.Repeat([]byte{0xEE}, len(raw)/2)...)
		},
		"no header": func([]byte) []byte { return []byte("this is no object") },
		"emptied":   func([]byte) []byte { return nil },
	}
	type object struct {
		oid  string
		want []error // any of these; none for a good one
	}
	objects := []object{
		{good, nil},
		{strings.Repeat("ab", 20), []error{git.ErrMissing}},
		{commit, []error{git.ErrNotBlob}},
		{x.git("rev-parse", commit+"^{tree}"), []error{git.ErrNotBlob}},
	}
	for name, change := range damage {
		oid := x.gitInput(name+big.String(), "hash-object", "-w", "--stdin")
		path := x.object(oid)
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, change(raw), 0o644); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object{oid, []error{git.ErrCorrupt, git.ErrMissing}}, object{good, nil})
	}
	var oids []string
	for _, o := range objects {
		oids = append(oids, o.oid)
	}
	corrupt := 0
	for i, g := range readWith(t, blobs(t, x.open()), oids, math.MaxInt64) {
		if g.err != nil {
			oneLine(t, g.err)
		}
		if objects[i].want == nil {
			if g.err != nil || string(g.data) != "1" {
				t.Errorf("good object %d: %q, %v", i, g.data, g.err)
			}
			continue
		}
		matched := false
		for _, want := range objects[i].want {
			matched = matched || errors.Is(g.err, want)
		}
		if !matched || g.data != nil {
			t.Errorf("object %d: %d bytes, %v; want one of %v", i, len(g.data), g.err, objects[i].want)
		}
		if errors.Is(g.err, git.ErrCorrupt) {
			corrupt++
		}
	}
	if corrupt < 2 {
		t.Errorf("%d objects told as corrupt, want at least the truncated and the changed", corrupt)
	}
}

func TestReadRefusesWhatIsNoObjectID(t *testing.T) {
	x := newFixture(t)
	reader := blobs(t, x.open())
	for _, oid := range []string{"", "HEAD", "abc", strings.Repeat("A", 40), strings.Repeat("a", 39) + "\n"} {
		oneLine(t, reader.Read(t.Context(), []string{oid}, 1, nil), "not an object id")
	}
}

func TestReadEndsEarly(t *testing.T) {
	x := newFixture(t)
	oids := slices.Repeat([]string{x.git("hash-object", "-w", "--stdin")}, 20000) // more requests than fit a pipe
	reader := blobs(t, x.open())

	// By the callback.
	stop := errors.New("enough")
	err := reader.Read(t.Context(), oids, 10, func(i int, _ git.Blob) error {
		if i == 3 {
			return stop
		}
		return nil
	})
	if err != stop {
		t.Errorf("callback's error: got %v", err)
	}

	// By the context, seen before the next object.
	ctx, cancel := context.WithCancel(t.Context())
	last := 0
	err = reader.Read(ctx, oids, 10, func(i int, _ git.Blob) error {
		if last = i; i == 1000 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || last != 1000 {
		t.Errorf("cancel at object 1000: %v after object %d", err, last)
	}

	// And the reader works on.
	readWith(t, reader, oids, 10)
}

func TestReadOfVanishedRepository(t *testing.T) {
	x := newFixture(t)
	oids := []string{x.git("hash-object", "-w", "--stdin")}
	repo := x.open()
	reader := blobs(t, repo)
	if err := os.RemoveAll(x.dir); err != nil {
		t.Fatal(err)
	}
	reader.Close() // the next read has to start git again
	err := reader.Read(t.Context(), oids, 10, func(int, git.Blob) error { return nil })
	oneLine(t, err, x.dir, "not a git repository")
	if _, err := repo.Blobs(t.Context()); err == nil {
		t.Error("Blobs of a vanished repository gave no error")
	}
}

func TestConcurrentReaders(t *testing.T) {
	x := newFixture(t)
	want := contents()
	oids := storeBlobs(x, want)
	repo := x.open()
	shared := blobs(t, repo)
	var wg sync.WaitGroup
	for i := range 6 {
		reader := shared
		if i%2 == 0 {
			reader = blobs(t, repo)
		}
		wg.Go(func() {
			err := reader.Read(context.Background(), oids, 1<<20, func(i int, b git.Blob) error {
				if b.Err == nil && !bytes.Equal(b.Data, want[i]) {
					return fmt.Errorf("blob %d differs", i)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// BenchmarkRead reads a whole tree: a generated one, or the repository named
// by TRAWL_BENCH_REPO.
func BenchmarkRead(b *testing.B) {
	dir := os.Getenv("TRAWL_BENCH_REPO")
	if dir == "" {
		x := newFixture(b)
		for i := range 2000 {
			x.write(fmt.Sprintf("d%d/f%d", i%50, i), strings.Repeat(fmt.Sprintln("line", i), 800))
		}
		x.commit()
		x.git("repack", "-adq")
		dir = x.dir
	}
	repo := open(b, dir)
	branch, err := repo.DefaultBranch(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	var oids []string
	for _, e := range listTree(b, repo, branch.Commit) {
		if e.Kind == "blob" {
			oids = append(oids, e.OID)
		}
	}
	reader := blobs(b, repo)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		var total int64
		err := reader.Read(b.Context(), oids, 2<<20, func(_ int, blob git.Blob) error {
			total += blob.Size
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(total)
	}
}
