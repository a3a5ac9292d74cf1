package spool_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store/spool"
)

func open(t *testing.T, o spool.Options) (*spool.Space, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "spool")
	s, err := spool.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the folder is there at the end: %v", err)
		}
	})
	return s, dir
}

func create(t *testing.T, s *spool.Space, client string, bytes int64) *spool.File {
	t.Helper()
	f, err := s.Create(t.Context(), client, bytes)
	if err != nil {
		t.Fatalf("create %d for %s: %v", bytes, client, err)
	}
	return f
}

func read(t *testing.T, f *spool.File) string {
	t.Helper()
	got, err := io.ReadAll(f.Reader())
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// now is a context that waits for nothing.
func now(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	s, dir := open(t, spool.Options{})
	f := create(t, s, "a", 0)
	for _, part := range []string{"clay", "", " and brick"} {
		if _, err := io.WriteString(f, part); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, f) + read(t, f); got != "clay and brickclay and brick" || f.Size() != 14 || s.Held() != 14 {
		t.Errorf("read %q of %d bytes, %d held; want the same twice, 14, 14", got, f.Size(), s.Held())
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the folder: %v, %v; want it private", info, err)
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if s.Held() != 0 {
		t.Errorf("%d bytes are held after Close", s.Held())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// One client cannot take what others need, and what cannot be kept even alone is
// told from what has no room now.
func TestBounds(t *testing.T) {
	s, _ := open(t, spool.Options{Bytes: 16 << 20})
	if _, err := s.Create(t.Context(), "a", 8<<20+1); !errors.Is(err, spool.ErrTooLarge) {
		t.Errorf("more than half: %v, want ErrTooLarge", err)
	}
	first := create(t, s, "a", 8<<20)
	create(t, s, "a", 4<<20)
	if _, err := s.Create(now(t), "a", 1<<20); !errors.Is(err, spool.ErrFull) {
		t.Errorf("a client with three quarters: %v, want ErrFull", err)
	}
	b := create(t, s, "b", 1)
	if _, err := b.Write(make([]byte, 3<<20)); !errors.Is(err, spool.ErrFull) {
		t.Errorf("a file that grows where there is no room: %v, want ErrFull", err)
	}
	_ = first.Close()
	if _, err := b.Write(make([]byte, 1<<20)); err != nil {
		t.Errorf("a file that grows: %v", err)
	}
	if _, err := b.Write(make([]byte, 8<<20)); !errors.Is(err, spool.ErrTooLarge) {
		t.Errorf("a file that grows beyond half: %v, want ErrTooLarge", err)
	}

	// A client waits for room.
	waited := make(chan error)
	go func() {
		f, err := s.Create(t.Context(), "b", 8<<20)
		if err == nil {
			err = f.Close()
		}
		waited <- err
	}()
	select {
	case err := <-waited:
		t.Errorf("beside 5 of 16 MiB a client has 8 more: %v", err)
	case <-time.After(10 * time.Millisecond):
	}
	_ = b.Close()
	if err := <-waited; err != nil {
		t.Errorf("behind others: %v", err)
	}
}

func TestFullDisk(t *testing.T) {
	left := int64(1 << 20)
	s, _ := open(t, spool.Options{Free: func() (int64, error) { return left, nil }})
	f := create(t, s, "a", 1<<20)
	if _, err := s.Create(t.Context(), "a", 2<<20); !errors.Is(err, spool.ErrFull) {
		t.Errorf("create: %v, want ErrFull", err)
	}
	left = 0
	if _, err := f.Write(make([]byte, 2<<20)); !errors.Is(err, spool.ErrFull) {
		t.Errorf("grow: %v, want ErrFull", err)
	}
	if err := f.Close(); err != nil || s.Held() != 0 {
		t.Errorf("close: %v, %d held", err, s.Held())
	}
}

// What a process that was killed left is removed by the next.
func TestOpenRemovesWhatIsLeft(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "123"), []byte(strings.Repeat("a", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := spool.Open(dir, spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is left, %v; want no folder", left, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
