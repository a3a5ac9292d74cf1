package serverfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/trawlsearch/trawl/cmd/trawl/serverfile"
)

func TestWriteReadRemove(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b]") // Glob must not be confused
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := serverfile.Read(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read before Write: got %v, want fs.ErrNotExist", err)
	}
	want := serverfile.File{Address: "127.0.0.1:7080", PID: 12, Token: "secret"}
	for range 2 { // the second time over the first
		if err := serverfile.Write(dir, want); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := serverfile.Read(dir); got != want || err != nil {
		t.Errorf("Read: got %+v, %v; want %+v", got, err, want)
	}
	info, err := os.Stat(filepath.Join(dir, "server.json"))
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("mode: got %o, want 600: it holds a token", mode)
	}
	for range 2 { // the second time there is none
		if err := serverfile.Remove(dir); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("after Remove: %v, %v; want an empty directory", left, err)
	}
}

func TestLocalAddress(t *testing.T) {
	for address, want := range map[string]string{
		// every interface
		"0.0.0.0:7080": "127.0.0.1:7080",
		"[::]:7080":    "127.0.0.1:7080",
		":7080":        "127.0.0.1:7080",
		// one of them
		"127.0.0.1:7080": "127.0.0.1:7080",
		"[::1]:7080":     "[::1]:7080",
		"10.0.0.5:80":    "10.0.0.5:80",
	} {
		if got := serverfile.LocalAddress(address); got != want {
			t.Errorf("LocalAddress(%q): got %q, want %q", address, got, want)
		}
	}
}
