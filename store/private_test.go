//go:build unix

package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/trawlsearch/trawl/store"
)

// wide returns what is below dir and has a bit for the group or for others.
func wide(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode()&0o077 != 0 && d.Type() != fs.ModeSymlink {
			found = append(found, info.Mode().String()+" "+path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// umask sets that of the process until the test ends.
func umask(t *testing.T, mask int) {
	t.Helper()
	old := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(old) })
}

// What a store makes is for its owner only, whatever the umask.
func TestStoreIsPrivate(t *testing.T) {
	for _, mask := range []int{0, 0o022, 0o077} {
		umask(t, mask)
		dir := filepath.Join(t.TempDir(), "above", "data")
		st, err := store.Open(dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.Repositories().New(store.Repository{Name: "kiln", Source: "/srv/kiln"}); err != nil {
			t.Fatal(err)
		}
		c, err := st.Checkpoint()
		if err != nil {
			t.Fatal(err)
		}
		if got := wide(t, filepath.Dir(dir)); len(got) > 0 {
			t.Errorf("umask %o: other users have rights to %q", mask, got)
		}
		if err := errors.Join(c.Close(), st.Close()); err != nil {
			t.Fatal(err)
		}
		if got := wide(t, filepath.Dir(dir)); len(got) > 0 {
			t.Errorf("umask %o, closed: other users have rights to %q", mask, got)
		}
	}
}

// A directory that an older program made is private from the next start on.
func TestOpenMakesADirectoryPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	open := func() (events string) {
		t.Helper()
		st, err := store.Open(dir, store.Options{Event: func(m string, err error) {
			events += m + "\n"
			if err != nil {
				t.Error(err)
			}
		}})
		if err == nil {
			err = st.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return events
	}
	if events := open(); events != "" {
		t.Errorf("a new directory: %s", events)
	}
	mirror := filepath.Join(dir, "mirrors", "1.git")
	if err := os.MkdirAll(mirror, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(mirror, "config"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(mirror, "link")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "index"), filepath.Join(dir, "mirrors"), mirror} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if events := open(); strings.Count(events, "\n") != 1 || !strings.Contains(events, "no longer can") {
		t.Errorf("a directory that others can read: %q", events)
	}
	if got := wide(t, dir); len(got) > 0 {
		t.Errorf("other users have rights to %q", got)
	}
	if info, err := os.Stat(outside); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("what a link leads to: %v, %v", info, err)
	}
	if events := open(); events != "" {
		t.Errorf("once more: %s", events)
	}
}

// A directory that has other things in it, such as a home, is not taken from those
// who use these.
func TestMakePrivateLeavesOtherThings(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"index/deep", "documents"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	changed, err := store.MakePrivate(dir)
	if changed != 2 || err == nil || !strings.Contains(err.Error(), "documents is in it") {
		t.Errorf("got %d, %v; want 2 and an error", changed, err)
	}
	for name, want := range map[string]fs.FileMode{"": 0o755, "documents": 0o755, "index": 0o700, "index/deep": 0o700} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: got %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
}
