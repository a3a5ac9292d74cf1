package disk

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The modes of what is made: for its owner only, whatever the umask is.
const (
	privateDir  = 0o700
	privateFile = 0o600
	// others are the bits of the group and of everybody else.
	others = 0o077
)

// FS is a file system that a data directory can be on.
type FS = vfs.FS

// File is an open file of an FS.
type File = vfs.File

// OS returns the operating system's file system. Files and folders made through it
// are for their owner only.
func OS() FS { return privateFS{vfs.Default} }

// privateFS is the operating system's file system, on which files and folders
// are made for their owner only.
type privateFS struct{ vfs.FS }

// Create implements vfs.FS.
func (p privateFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return private(name)(p.FS.Create(name, c))
}

// OpenReadWrite implements vfs.FS.
func (p privateFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return private(name)(p.FS.OpenReadWrite(name, c, o...))
}

// ReuseForWrite implements vfs.FS.
func (p privateFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return private(newname)(p.FS.ReuseForWrite(oldname, newname, c))
}

// MkdirAll implements vfs.FS.
func (p privateFS) MkdirAll(dir string, _ os.FileMode) error { return p.FS.MkdirAll(dir, privateDir) }

// Lock implements vfs.FS.
func (p privateFS) Lock(name string) (io.Closer, error) {
	lock, err := p.FS.Lock(name)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(name)
	if err == nil && info.Mode()&others != 0 {
		err = os.Chmod(name, privateFile)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// Unwrap implements vfs.FS.
func (p privateFS) Unwrap() vfs.FS { return p.FS }

// private returns a function that makes a file private which was just opened to
// be written.
func private(name string) func(vfs.File, error) (vfs.File, error) {
	return func(f vfs.File, err error) (vfs.File, error) {
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err == nil && info.Mode()&others != 0 {
			err = os.Chmod(name, privateFile)
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return f, nil
	}
}

// MakeDir makes dir and everything above it so that it survives a crash: an
// entry in a directory is durable only once that directory has been synced.
func MakeDir(fs FS, dir string) error {
	if _, err := fs.Stat(dir); err == nil {
		return nil
	}
	parent := fs.PathDir(dir)
	if parent != dir {
		if err := MakeDir(fs, parent); err != nil {
			return err
		}
	}
	if err := fs.MkdirAll(dir, privateDir); err != nil {
		return err
	}
	return SyncDir(fs, parent)
}

// Replace puts a small file into place, whole or not at all: it writes tmp beside
// it, and renames that after a sync.
func Replace(fs FS, path, tmp string, data []byte) error {
	err := WriteSynced(fs, tmp, data)
	if err == nil {
		err = fs.Rename(tmp, path)
	}
	if err == nil {
		err = SyncDir(fs, fs.PathDir(path))
	}
	return err
}

// WriteSynced writes a file and makes its data durable, but not its name.
func WriteSynced(fs FS, path string, data []byte) error {
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// SyncDir makes durable which files are in dir.
func SyncDir(fs FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// ReadFile reads a file of at most limit bytes.
func ReadFile(fs FS, path string, limit int64) ([]byte, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return data, nil
}
