package object

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/store/disk"
)

// Folder is a folder of a file system as a Store.
type Folder struct {
	fs  disk.FS
	dir string

	mu sync.Mutex // guards both
	// made are the folders known to be there, unsynced those with files that
	// were put since the last Sync.
	made, unsynced map[string]bool
}

// NewFolder returns the folder dir, which is made when something is put there.
func NewFolder(fs disk.FS, dir string) *Folder {
	return &Folder{fs: fs, dir: dir, made: map[string]bool{}, unsynced: map[string]bool{}}
}

// String returns the folder's path.
func (f *Folder) String() string { return f.dir }

func (f *Folder) path(name string) string {
	return f.fs.PathJoin(append([]string{f.dir}, strings.Split(name, "/")...)...)
}

// Put writes beside the name and renames. The file is durable then, its name
// once its folder is synced.
func (f *Folder) Put(ctx context.Context, name string, data []byte) error {
	return f.put(ctx, name, func(tmp string) error { return disk.WriteSynced(f.fs, tmp, data) })
}

// Upload does the same, a part after the other.
func (f *Folder) Upload(ctx context.Context, name string, from io.ReaderAt, content Content) error {
	return f.put(ctx, name, func(tmp string) error {
		file, err := f.fs.Create(tmp, writeCategory)
		if err != nil {
			return err
		}
		_, err = io.CopyBuffer(justWriter{file}, content.Reader(ctx, from), make([]byte, copyBytes))
		if err == nil {
			err = file.Sync()
		}
		return errors.Join(err, file.Close())
	})
}

const (
	// copyBytes is how much is copied at once.
	copyBytes = 1 << 20
	// writeCategory is what the engine's file system counts our writes as.
	writeCategory = "objects"
)

// justWriter hides all other methods, so that copying goes through a buffer of
// ours.
type justWriter struct{ io.Writer }

func (f *Folder) put(ctx context.Context, name string, write func(tmp string) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	folder := f.path(path.Dir(name))
	if err := f.make(folder); err != nil {
		return fmt.Errorf("store %s: %w", name, err)
	}
	tmp := f.fs.PathJoin(folder, temporary+rand.Text())
	err := write(tmp)
	if err == nil {
		err = f.fs.Rename(tmp, f.path(name))
	}
	if err != nil {
		_ = f.fs.Remove(tmp) // what stays is removed by Sweep
		return fmt.Errorf("store %s: %w", name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unsynced[folder] = true
	return nil
}

// make makes a folder and those above it, each durable before what is in it.
func (f *Folder) make(folder string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.makeLocked(folder)
}

func (f *Folder) makeLocked(folder string) error {
	if f.made[folder] {
		return nil
	}
	_, err := f.fs.Stat(folder)
	if err == nil {
		// An earlier run may have ended before it synced the entry.
		if parent := f.fs.PathDir(folder); folder != f.dir && parent != folder {
			err = disk.SyncDir(f.fs, parent)
		}
		f.made[folder] = err == nil
		return err
	}
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	parent := f.fs.PathDir(folder)
	if parent != folder {
		if err := f.makeLocked(parent); err != nil {
			return err
		}
	}
	// Only the owner may read what is stored.
	if err := f.fs.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if err := disk.SyncDir(f.fs, parent); err != nil {
		return err
	}
	f.made[folder] = true
	return nil
}

// Get reads a file.
func (f *Folder) Get(ctx context.Context, name string, limit int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, err := disk.ReadFile(f.fs, f.path(name), limit)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return data, nil
}

// Download reads a file.
func (f *Folder) Download(ctx context.Context, name string, to io.Writer, content Content) error {
	file, err := f.fs.Open(f.path(name))
	if errors.Is(err, os.ErrNotExist) {
		err = &ContentError{"it is not there"}
	}
	if err == nil {
		defer file.Close()
		_, err = io.CopyBuffer(justWriter{to}, content.Reader(ctx, file), make([]byte, copyBytes))
	}
	switch wrong := (*ContentError)(nil); {
	case errors.As(err, &wrong):
		return fmt.Errorf("read %s: %w", f, &DamagedError{name, wrong.Why})
	case err != nil:
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// List walks a folder, without temporary files.
func (f *Folder) List(ctx context.Context, folder string, each func(Info) error) error {
	return f.walk(ctx, folder, func(name string, info fs.FileInfo) error {
		if strings.HasPrefix(path.Base(name), temporary) {
			return nil
		}
		return each(Info{name, info.Size(), info.ModTime()})
	})
}

func (f *Folder) walk(ctx context.Context, folder string, each func(name string, info fs.FileInfo) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	names, err := f.fs.List(f.path(folder))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list %s: %w", folder, err)
	}
	slices.Sort(names)
	for _, n := range names {
		name := path.Join(folder, n)
		info, err := f.fs.Stat(f.path(name))
		switch {
		case errors.Is(err, os.ErrNotExist):
			continue // gone meanwhile
		case err != nil:
			return fmt.Errorf("list %s: %w", folder, err)
		case info.IsDir():
			err = f.walk(ctx, name, each)
		case info.Mode().IsRegular():
			err = each(name, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Delete removes a file, for good once its folder is synced.
func (f *Folder) Delete(_ context.Context, name string) error {
	err := f.fs.Remove(f.path(name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unsynced[f.path(path.Dir(name))] = true
	return nil
}

// Sync syncs the folders in which files were put or deleted.
func (f *Folder) Sync(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for folder := range f.unsynced {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := disk.SyncDir(f.fs, folder); err != nil {
			return fmt.Errorf("sync %s: %w", folder, err)
		}
		delete(f.unsynced, folder)
	}
	return nil
}

// temporary is what names of files begin with that are not whole yet.
const temporary = "tmp-"

// leftoverAfter is the age at which a temporary file is a leftover.
const leftoverAfter = 24 * time.Hour

// Sweep removes what interrupted writes left.
func (f *Folder) Sweep(ctx context.Context, now time.Time) error {
	return f.walk(ctx, ".", func(name string, info fs.FileInfo) error {
		if !strings.HasPrefix(path.Base(name), temporary) || now.Sub(info.ModTime()) < leftoverAfter {
			return nil
		}
		return f.Delete(ctx, name)
	})
}
