package bench

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// dropCaches is the file by which root drops the page cache of Linux.
const dropCaches = "/proc/sys/vm/drop_caches"

// pageCache is the memory in which the system keeps files. How it is emptied
// depends on what we may do.
type pageCache struct {
	method string
	whole  bool
}

// newPageCache finds out what we may do.
func newPageCache() pageCache {
	if f, err := os.OpenFile(dropCaches, os.O_WRONLY, 0); err == nil {
		_ = f.Close()
		return pageCache{"the system's whole page cache dropped, then a new process", true}
	}
	return pageCache{}.ofFiles()
}

// ofFiles returns the cache as one may empty it without rights.
func (pageCache) ofFiles() pageCache {
	return pageCache{"posix_fadvise(DONTNEED) over the files of the index or corpus, then a new process", false}
}

// empty forgets the files below dirs, and others if that is how it is done.
func (c pageCache) empty(dirs []string) error {
	if c.whole {
		unix.Sync()
		return os.WriteFile(dropCaches, []byte("1"), 0)
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			return forget(path)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// forget takes one file out of the cache. Dirty pages would stay there, so they
// are written first.
func forget(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close())
}
