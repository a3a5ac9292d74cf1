package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/store/disk"
)

// manifestOf writes records as the engine writes its manifest. ends are the
// lengths of the manifest behind each record.
func manifestOf(t testing.TB, records ...[]byte) (manifest []byte, ends []int) {
	t.Helper()
	var out bytes.Buffer
	w := record.NewWriter(&out)
	for _, r := range records {
		end, err := w.WriteRecord(r)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, int(end))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), ends
}

// recordsOf is the opposite.
func recordsOf(t testing.TB, manifest []byte) (records [][]byte) {
	t.Helper()
	r := record.NewReader(bytes.NewReader(manifest), 0)
	for {
		next, err := r.Next()
		if err == io.EOF {
			return records
		}
		if err != nil {
			t.Fatal(err)
		}
		one, err := io.ReadAll(next)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, one)
	}
}

// The figures of the engine's log that are used here are those of its package.
func TestLogFigures(t *testing.T) {
	if empty, _ := manifestOf(t, nil); len(empty) != leastChunk {
		t.Errorf("an empty record takes %d bytes, want %d", len(empty), leastChunk)
	}
	for n, want := range map[int]int{manifestBlock - leastChunk: manifestBlock, manifestBlock - leastChunk + 1: manifestBlock + leastChunk + 1} {
		if m, _ := manifestOf(t, make([]byte, n)); len(m) != want {
			t.Errorf("a record of %d bytes takes %d bytes, want %d", n, len(m), want)
		}
	}
}

// The manifest is whole when a record ends anywhere near the end of a block. With
// seven bytes left, the engine's writer puts the header of an empty chunk there.
func TestRecordEndsNearBlockEnd(t *testing.T) {
	for left := range 20 {
		first := bytes.Repeat([]byte{3}, manifestBlock-leastChunk-left)
		manifest, ends := manifestOf(t, first, []byte("the second"), []byte("the third"))
		if ends[0] != manifestBlock-left {
			t.Fatalf("the first record ends at %d, want %d", ends[0], manifestBlock-left)
		}
		if err := checkManifest(manifest); err != nil {
			t.Errorf("%d bytes are left in the first block: %v", left, err)
		}
	}
}

// within opens the database in data/index, calls f, and closes it in good order.
func within(fs vfs.FS, exists bool, f func(*pebble.DB) error) error {
	cache := pebble.NewCache(1 << 20)
	defer cache.Unref()
	e, err := Open("data/index", Options{FS: fs, Cache: cache, Exists: exists, Event: func(string, error) {}})
	if err != nil {
		return err
	}
	err = f(e.DB)
	flushed := e.FlushToTables()
	if err := errors.Join(err, e.DB.Close()); err != nil || !flushed {
		return errors.Join(err, e.Err())
	}
	return e.Seal()
}

// keysOf opens the database in data/index and returns its keys.
func keysOf(fs vfs.FS) (keys string, err error) {
	err = within(fs, true, func(db *pebble.DB) error {
		it, err := db.NewIter(nil)
		if err != nil {
			return err
		}
		var found []string
		for ok := it.First(); ok; ok = it.Next() {
			found = append(found, string(it.Key()))
		}
		keys = strings.Join(found, " ")
		return it.Close()
	})
	return keys, err
}

// put opens the database in data/index, which is there or not, and puts keys there.
func put(t *testing.T, fs vfs.FS, keys ...string) {
	t.Helper()
	err := within(fs, false, func(db *pebble.DB) error {
		for _, key := range keys {
			if err := db.Set([]byte(key), nil, pebble.Sync); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A closed database opens, with everything in it, whatever is left in a block of its
// manifest, with and without a seal. Directories with seven bytes left were
// refused once.
func TestDatabaseWithRecordNearBlockEnd(t *testing.T) {
	for left := range 9 {
		for _, sealed := range []bool{true, false} {
			fs := vfs.NewMem()
			put(t, fs, "kiln", "loom")
			path := leaveInBlock(t, fs, left)
			if !sealed {
				if err := fs.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			if keys, err := keysOf(fs); err != nil || keys != "kiln loom" {
				t.Errorf("%d bytes left, sealed %t: got %q, %v; want both keys", left, sealed, keys, err)
			}
		}
	}
}

// leaveInBlock writes the manifest of a closed store, and its seal, again so that
// left bytes remain in the first block ahead of a record. It returns the path of the
// seal.
func leaveInBlock(t *testing.T, fs vfs.FS, left int) (seal string) {
	t.Helper()
	name, manifest, err := readManifest(fs, "data/index")
	if err != nil {
		t.Fatal(err)
	}
	records := recordsOf(t, manifest)
	if len(records) < 2 {
		t.Fatalf("the manifest has %d records, want two or more", len(records))
	}
	// The number of the next file, which later records give again.
	nextFile := func(n int) []byte {
		if n%2 == 1 {
			return append(bytes.Repeat([]byte{3, 2}, n/2-1), 3, 0x82, 0)
		}
		return bytes.Repeat([]byte{3, 2}, n/2)
	}
	filler := nextFile(manifestBlock - left - leastChunk)
	manifest, ends := manifestOf(t, append([][]byte{filler}, records...)...)
	if ends[0] != manifestBlock-left {
		t.Fatalf("the first record ends at %d, want %d", ends[0], manifestBlock-left)
	}
	seal = fs.PathJoin("data/index", sealFile)
	for path, data := range map[string][]byte{fs.PathJoin("data/index", name): manifest, seal: sealOf(name, manifest)} {
		if err := disk.WriteSynced(fs, path, bytes.Clone(data)); err != nil {
			t.Fatal(err)
		}
	}
	return seal
}

// A seal over all of the manifest ends the question, whatever the manifest holds.
func TestSealEndsTheQuestion(t *testing.T) {
	fs := vfs.NewMem()
	put(t, fs)
	name, manifest, err := readManifest(fs, "data/index")
	if err != nil {
		t.Fatal(err)
	}
	manifest[9] ^= 1 // damage, as without a seal
	path := fs.PathJoin("data/index", name)
	seal := fs.PathJoin("data/index", sealFile)
	for _, c := range []struct {
		about string
		seal  []byte
		want  error
	}{
		{"a seal of this manifest", sealOf(name, manifest), nil},
		{"a seal of the manifest without its last byte", sealOf(name, manifest[:len(manifest)-1]), ErrDamagedLog},
		{"a seal of another manifest", sealOf("MANIFEST-999999", manifest), ErrDamagedLog},
		{"no seal", nil, ErrDamagedLog},
	} {
		for path, data := range map[string][]byte{path: manifest, seal: c.seal} {
			if err := disk.WriteSynced(fs, path, bytes.Clone(data)); err != nil {
				t.Fatal(err)
			}
		}
		if err := judgeManifest(fs, "data/index", true); err != c.want {
			t.Errorf("%s: got %v, want %v", c.about, err, c.want)
		}
	}
}

// randomRecords makes records of random lengths over some blocks. Near the end of
// a block, lengths leave 0 to 8 bytes there.
func randomRecords(rng *rand.Rand, blocks int) (records [][]byte) {
	for at := 0; at < blocks*manifestBlock; {
		n := []int{1 + rng.IntN(20), rng.IntN(300), rng.IntN(3000)}[rng.IntN(3)]
		if rng.IntN(40) == 0 {
			n = rng.IntN(3 * manifestBlock)
		}
		if left := manifestBlock - at%manifestBlock; left > 2*leastChunk+8 && left < 3000 {
			n = left - leastChunk - rng.IntN(9)
		}
		r := make([]byte, n)
		switch rng.IntN(3) {
		case 0: // zeros
		case 1: // what looks like lengths and kinds
			for i := range r {
				r[i] = byte(rng.IntN(5))
			}
		case 2:
			for i := range r {
				r[i] = byte(rng.Uint32())
			}
		}
		records = append(records, r)
		at += leastChunk * (1 + (at%manifestBlock+leastChunk+n-1)/manifestBlock)
		at += n
	}
	return records
}

// Manifests of records of random lengths are whole; cut anywhere they are what a
// crash leaves, also with zeros or the bytes of another file behind the cut; and with a bit
// flipped in any record but the last they are damaged.
func TestManifests(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	for round := range race.Scaled(10, 2) {
		records := randomRecords(rng, 1+rng.IntN(5))
		about := fmt.Sprintf("seed %d, round %d", seed, round)
		manifest, ends := manifestOf(t, records...)
		if err := checkManifest(manifest); err != nil {
			t.Fatalf("%s: whole: %v", about, err)
		}
		for range 20 {
			n := rng.IntN(len(manifest) + 1)
			if rng.IntN(2) == 0 {
				n = max(0, min(len(manifest), ends[rng.IntN(len(ends))]+rng.IntN(19)-9))
			}
			cut := bytes.Clone(manifest[:n])
			if err := checkManifest(cut); err != nil {
				t.Fatalf("%s: cut to %d of %d bytes: %v", about, n, len(manifest), err)
			}
			if err := checkManifest(append(cut, make([]byte, rng.IntN(3000))...)); err != nil {
				t.Fatalf("%s: cut to %d of %d bytes, and zeros: %v", about, n, len(manifest), err)
			}
		}
		for range 3 {
			i := rng.IntN(len(records))
			from := 0
			if i > 0 {
				from = ends[i-1]
			}
			at := from + rng.IntN(ends[i]-from)
			flipped := bytes.Clone(manifest)
			flipped[at] ^= 1 << rng.IntN(8)
			want := error(nil)
			if i < len(records)-1 && !inPadding(manifest, at) {
				want = ErrDamagedLog
			}
			if err := checkManifest(flipped); err != want {
				t.Fatalf("%s: a bit of byte %d in record %d of %d flipped: got %v, want %v", about, at, i+1, len(records), err, want)
			}
		}
	}
}

// inPadding reports whether a byte of a manifest is of the zeros that fill a
// block: another byte there changes no record.
func inPadding(manifest []byte, at int) bool {
	whole := recordsBehind(manifest)
	changed := bytes.Clone(manifest)
	changed[at] ^= 0xff
	return recordsBehind(changed) == whole
}

// recordsBehind counts what the engine reads of a manifest.
func recordsBehind(manifest []byte) (n int) {
	r := record.NewReader(bytes.NewReader(manifest), 0)
	for ; ; n++ {
		next, err := r.Next()
		if err == nil {
			_, err = io.Copy(io.Discard, next)
		}
		if err != nil {
			return n
		}
	}
}
