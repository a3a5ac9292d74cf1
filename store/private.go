package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/store/disk"
)

// others are the bits of the group and of everybody else.
const others = 0o077

// ours are the beginnings of the names of what trawl makes in a data directory.
var ours = []string{"index", "mirrors", "backup", checkpointDir, formatFile, "server.json", "token", "spool", ".restoring"}

// MakePrivate takes all rights of other users away from a data directory and
// what trawl has made in it. Files of older programs, and directories that were
// made by hand, have such rights. It does not look into folders that are private
// already.
//
// It returns how many files and folders it changed. What belongs to another
// account stays as it is, and so does a directory that has something else in it;
// the error names the first.
func MakePrivate(dir string) (changed int, err error) {
	info, err := os.Stat(dir)
	if err != nil || info.Mode()&others == 0 {
		return 0, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	p := privacy{}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case slices.ContainsFunc(ours, func(name string) bool { return strings.HasPrefix(e.Name(), name) }):
			if err := filepath.WalkDir(path, p.visit); err != nil {
				return p.changed, fmt.Errorf("make %s private: %w", path, err)
			}
		case e.Name() != "lost+found" && p.left == nil:
			p.left = fmt.Errorf("%s keeps its mode %v, since %s is in it: give trawl a directory of its own", dir, info.Mode().Perm(), e.Name())
		}
	}
	if p.left == nil {
		err = p.restrict(dir, info)
	}
	return p.changed, errors.Join(err, p.left)
}

// privacy is MakePrivate at work.
type privacy struct {
	changed int
	left    error // what was left as it is, the first
}

// visit is called for each file and folder.
func (p *privacy) visit(path string, d fs.DirEntry, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil // it is gone, or was reported
	}
	if err != nil || !d.IsDir() && !d.Type().IsRegular() {
		return err
	}
	info, err := d.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&others == 0 && d.IsDir():
		return fs.SkipDir
	}
	return p.restrict(path, info)
}

func (p *privacy) restrict(path string, info fs.FileInfo) error {
	if info.Mode()&others == 0 {
		return nil
	}
	err := os.Chmod(path, info.Mode()&^others)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrPermission):
		if p.left == nil {
			p.left = fmt.Errorf("%s belongs to another account: give it to this one, or run chmod go-rwx", path)
		}
		return nil
	case err == nil:
		p.changed++
	}
	return err
}

// makePrivate is MakePrivate of the data directory, if it is on a disk. It reports
// what it changed and what it could not change.
func makePrivate(fs disk.FS, dir string, event func(string, error)) {
	if fs != disk.OS() {
		return
	}
	changed, err := MakePrivate(dir)
	if changed > 0 {
		event("other users of this machine could read the data directory, and no longer can", nil)
	}
	if err != nil {
		event("other users of this machine may read or change the data directory", err)
	}
}
