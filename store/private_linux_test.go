package store_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/trawlsearch/trawl/store"
)

// A directory of another account cannot be made private, which is reported.
func TestMakePrivateOfAnotherAccount(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can act as another account")
	}
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(filepath.Join(dir, "index"), 0o777); err != nil {
		t.Fatal(err)
	}
	for path := dir; path != "/"; path = filepath.Dir(path) {
		if info, err := os.Stat(path); err != nil || info.Mode()&0o005 != 0o005 {
			if err := os.Chmod(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := syscall.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	changed, err := store.MakePrivate(dir)
	if err := syscall.Setfsuid(0); err != nil {
		t.Fatal(err)
	}
	if changed != 0 || err == nil || !strings.Contains(err.Error(), dir+"/index belongs to another account") {
		t.Errorf("got %d, %v", changed, err)
	}
}
