//go:build unix

package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// private fails if other users have a right to something below dir.
func private(t *testing.T, when, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		files++
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // by a server at work
		}
		if err == nil && info.Mode()&0o077 != 0 && d.Type() != fs.ModeSymlink {
			t.Errorf("%s: %v %s", when, info.Mode(), path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if files < 5 {
		t.Errorf("%s: %d files in %s", when, files, dir)
	}
}

// TestDataIsForItsOwnerOnly goes through all that makes files, with an umask that
// gives them to everybody. The packages do so without the umask that main sets.
func TestDataIsForItsOwnerOnly(t *testing.T) {
	if testing.Short() {
		t.Skip("runs most commands")
	}
	keepMemoryLimit(t)
	for _, mask := range []int{0, 0o022} {
		old := syscall.Umask(mask)
		defer syscall.Umask(old)
		dir := t.TempDir()
		data, backups := filepath.Join(dir, "data"), filepath.Join(dir, "backups")
		t.Setenv("TRAWL_DATA", data)
		do := func(args ...string) {
			t.Helper()
			var stderr bytes.Buffer
			if err := run(t.Context(), args, strings.NewReader("correct horse battery"), io.Discard, &stderr); err != nil {
				t.Fatalf("trawl %s: %v; it said:\n%s", strings.Join(args, " "), err, &stderr)
			}
		}
		kiln := repository(t, "kiln")
		do("index", kiln, "mirrored=file://"+kiln)
		do("user", "create", "ann", "--admin", "--password-stdin")
		private(t, "index", data)

		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- run(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--log-level", "error"}, strings.NewReader(""), io.Discard, io.Discard)
		}()
		awaitReady(t, data)
		private(t, "serve", data)
		do("repo", "sync", "mirrored")
		do("backup", "create", backups, "--mirrors")
		private(t, "backup", data)
		private(t, "backup", backups)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		private(t, "after the server", data)
		do("check")
		private(t, "check", data)

		t.Setenv("TRAWL_DATA", filepath.Join(dir, "restored", "data"))
		do("backup", "restore", backups)
		private(t, "restore", filepath.Join(dir, "restored"))

		older := filepath.Join(dir, "older")
		t.Setenv("TRAWL_DATA", older)
		r, err := zip.OpenReader(filepath.Join(oldStores, "format1-folded.zip"))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.CopyFS(older, r), r.Close()); err != nil {
			t.Fatal(err)
		}
		do("migrate")
		do("index", "other="+kiln)
		private(t, "migrate and index", older)
	}
}
