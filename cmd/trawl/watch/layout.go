package watch

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// kind is what a folder that is watched holds.
type kind int

const (
	// kindGit has HEAD and packed-refs, kindRefs loose refs, and kindTables refs in the
	// newer form of git.
	kindGit kind = iota
	kindRefs
	kindTables
)

const (
	reftable = "reftable"
	// tablesList names the tables that hold, and is written with each change of refs.
	tablesList = "tables.list"
	lockSuffix = ".lock"
)

// matters reports whether refs change with a file of a folder.
func (k kind) matters(name string) bool {
	switch k {
	case kindGit:
		return name == "HEAD" || name == "packed-refs"
	case kindTables:
		return name == tablesList
	}
	return !strings.HasSuffix(name, lockSuffix)
}

// mostPointerBytes bounds a file that names a folder.
const mostPointerBytes = 8 << 10

// errNoRepository says that a folder holds no git directory.
var errNoRepository = errors.New("it holds no git directory")

// locate returns the git directory of a folder, and the one with its refs, which worktrees
// share.
func locate(dir string) (gitDir, common string, err error) {
	gitDir = filepath.Join(dir, ".git")
	info, err := os.Stat(gitDir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		gitDir = dir // a bare one
	case err != nil:
		return "", "", err
	case !info.IsDir():
		if gitDir, err = pointer(gitDir, "gitdir: ", dir); err != nil {
			return "", "", err
		}
	}
	if _, err := os.Stat(filepath.Join(gitDir, "HEAD")); err != nil {
		return "", "", errNoRepository
	}
	common, err = pointer(filepath.Join(gitDir, "commondir"), "", gitDir)
	if errors.Is(err, os.ErrNotExist) {
		return gitDir, gitDir, nil
	}
	return gitDir, common, err
}

// pointer reads the folder that a file names, from another one on.
func pointer(file, prefix, from string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostPointerBytes))
	if err != nil {
		return "", err
	}
	path, ok := strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), prefix)
	if !ok || path == "" {
		return "", errNoRepository
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(from, path)
	}
	return filepath.Clean(path), nil
}
