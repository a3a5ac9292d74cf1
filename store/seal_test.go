package store_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

func readFile(t *testing.T, fs vfs.FS, path string) []byte {
	t.Helper()
	f, err := fs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeFile(t *testing.T, fs vfs.FS, path string, data []byte) {
	t.Helper()
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	// With the race detector on, the file system spoils what it is given.
	if _, err := f.Write(bytes.Clone(data)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// manifestOf returns the path of the engine's newest manifest.
func manifestOf(t *testing.T, fs vfs.FS) string {
	t.Helper()
	names, err := fs.List("data/index")
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for _, n := range names {
		if strings.HasPrefix(n, "MANIFEST-") && n > last {
			last = n
		}
	}
	return "data/index/" + last
}

// sealed is a closed store with a shard and a repository.
func sealed(t *testing.T) vfs.FS {
	t.Helper()
	fs := vfs.NewMem()
	s := open(t, fs)
	docs, texts := documents(5, 10)
	if err := s.Commit(store.Change{Add: []shard.Header{writeShard(t, s, docs, texts)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Repositories().New(store.Repository{Name: "kiln"}); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	return fs
}

func tryOpen(fs vfs.FS) (repositories int, err error) {
	s, err := store.Open("data", store.Options{FS: fs, CacheBytes: 8 << 20})
	if err != nil {
		return 0, err
	}
	sn := s.Snapshot()
	repositories = len(sn.Repositories())
	return repositories, errors.Join(sn.Close(), s.Close())
}

// Whatever bit of the manifest of a store that was closed in good order is
// flipped, the store is not opened without what the manifest told of.
func TestSealedManifest(t *testing.T) {
	fs := sealed(t)
	path := manifestOf(t, fs)
	manifest := readFile(t, fs, path)
	for bit := range 8 * len(manifest) {
		manifest[bit/8] ^= 1 << (bit % 8)
		writeFile(t, fs, path, manifest)
		if _, err := tryOpen(fs); !errors.Is(err, store.ErrDamagedLog) || !strings.Contains(err.Error(), "backup") {
			t.Fatalf("bit %d flipped: got %v, want ErrDamagedLog and what to do", bit, err)
		}
		manifest[bit/8] ^= 1 << (bit % 8)
	}
	writeFile(t, fs, path, manifest[:len(manifest)-1])
	if _, err := tryOpen(fs); !errors.Is(err, store.ErrDamagedLog) {
		t.Errorf("a byte short: got %v, want ErrDamagedLog", err)
	}
	writeFile(t, fs, path, manifest)
	if n, err := tryOpen(fs); n != 1 || err != nil {
		t.Errorf("as it was: got %d repositories, %v; want 1", n, err)
	}
}

// A seal that is damaged, or of an older manifest, keeps no store from being
// opened.
func TestBadSeal(t *testing.T) {
	fs := sealed(t)
	seal := readFile(t, fs, "data/index/SEAL")
	for bit := range 8 * len(seal) {
		seal[bit/8] ^= 1 << (bit % 8)
		writeFile(t, fs, "data/index/SEAL", seal)
		if n, err := tryOpen(fs); n != 1 || err != nil {
			t.Fatalf("bit %d flipped: got %d repositories, %v; want 1", bit, n, err)
		}
		seal = readFile(t, fs, "data/index/SEAL")
	}
}

// Without a seal, a record that is damaged in the middle is told from one that
// a crash cut off.
func TestUnsealedManifest(t *testing.T) {
	fs := sealed(t)
	if err := fs.Remove("data/index/SEAL"); err != nil {
		t.Fatal(err)
	}
	path := manifestOf(t, fs)
	manifest := readFile(t, fs, path)
	manifest[9] ^= 1
	writeFile(t, fs, path, manifest)
	if _, err := tryOpen(fs); !errors.Is(err, store.ErrDamagedLog) {
		t.Errorf("the first record is damaged: got %v, want ErrDamagedLog", err)
	}
	manifest[9] ^= 1
	writeFile(t, fs, path, append(manifest, "\x12\x34\x56\x78\x40\x00\x01cut off"...))
	if n, err := tryOpen(fs); n != 1 || err != nil {
		t.Errorf("a record is cut off: got %d repositories, %v; want 1", n, err)
	}
}

// Without the file that names the manifest, or without the whole index, a store
// is not taken for a new one: the engine would delete its tables, and the first
// client would become its first user. Nor is it opened without a table.
func TestLostFiles(t *testing.T) {
	for _, lost := range []func(string) bool{
		func(name string) bool { return strings.HasPrefix(name, "marker.manifest.") },
		func(name string) bool { return strings.HasPrefix(name, "MANIFEST-") },
		func(name string) bool { return strings.HasPrefix(name, "marker.format") },
		func(name string) bool { return strings.HasSuffix(name, ".sst") },
		func(string) bool { return true },
	} {
		fs := sealed(t)
		names, err := fs.List("data/index")
		if err != nil {
			t.Fatal(err)
		}
		tables := map[string][]byte{}
		for _, n := range names {
			path := "data/index/" + n
			if lost(n) {
				if err := fs.Remove(path); err != nil {
					t.Fatal(err)
				}
			} else if strings.HasSuffix(n, ".sst") {
				tables[path] = readFile(t, fs, path)
			}
		}
		for _, format := range []bool{true, false} {
			if !format && len(tables) == 0 {
				continue // nothing tells it from a new one
			}
			if !format {
				if err := fs.Remove("data/FORMAT"); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := tryOpen(fs); err == nil || format && (!shard.IsDamage(err) || !strings.Contains(err.Error(), "backup")) {
				t.Errorf("with format %t: got %v, want what is damaged and what to do", format, err)
			}
			for path, data := range tables {
				if !bytes.Equal(readFile(t, fs, path), data) {
					t.Errorf("with format %t: %s has changed", format, path)
				}
			}
		}
	}
}

// What was committed is in tables once the store is closed: the log has nothing
// that a flipped bit could take away.
func TestCloseLeavesNothingInTheLog(t *testing.T) {
	fs := sealed(t)
	names, err := fs.List("data/index")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if strings.HasSuffix(n, ".log") {
			writeFile(t, fs, "data/index/"+n, nil)
		}
	}
	if n, err := tryOpen(fs); n != 1 || err != nil {
		t.Errorf("got %d repositories, %v; want 1", n, err)
	}
}
