package engine

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Open opens the database in dir, unless it is damaged. A crash while the database
// is first created can leave the name of its newest manifest without the manifest.
// A directory whose database is not known to exist, and which has no table, holds
// no acknowledged change, so its files are removed and created again.
func Open(dir string, o Options) (*Engine, error) {
	if err := judgeManifest(o.FS, dir, o.Exists); err != nil && (o.Exists || IsDamage(err)) {
		return nil, fmt.Errorf("%w: %s", err, o.Advice)
	}
	if !o.ReadOnly {
		if err := breakSeal(o.FS, dir); err != nil {
			return nil, err
		}
	}
	e, err := open(dir, o)
	if err != nil && !o.Exists && !o.ReadOnly && removeAll(o.FS, dir) {
		e, err = open(dir, o)
	}
	// A table is missing, or the file that tells the format.
	if IsNotExist(err) || errors.Is(err, pebble.ErrDBNotPristine) {
		err = fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if IsDamage(err) {
		err = fmt.Errorf("%w: %s", err, o.Advice)
	}
	return e, err
}

// Reopen opens the database again, beside an engine that writes no more: what was
// committed is in the new one; what the last commit, which failed, was about may be.
func (e *Engine) Reopen() (*Engine, error) { return open(e.dir, e.options) }

// Lock takes the lock of the engine's directory, or returns ErrLocked.
func Lock(fs vfs.FS, index string) (*pebble.Lock, error) {
	lock, err := pebble.LockDirectory(index, fs)
	// Only what becomes of the file that is locked has a path.
	if err != nil && !errors.As(err, new(*os.PathError)) {
		err = ErrLocked
	}
	return lock, err
}

// removeAll removes the files of a database without tables. It reports false if there
// are tables, or a file stays.
func removeAll(fs vfs.FS, dir string) bool {
	names, err := fs.List(dir)
	if err != nil || slices.ContainsFunc(names, isTable) {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool {
		return name != "LOCK" && fs.Remove(fs.PathJoin(dir, name)) != nil // the lock is the caller's
	})
}

// open opens the database. A write that failed meanwhile is an error.
func open(dir string, o Options) (*Engine, error) {
	e := &Engine{dir: dir, options: o, failStop: newFailStop(o.FS, dir, cmp.Or(o.LongestPause, longestPause)), stuck: make(chan struct{}, 1)}
	err := e.Do(func() (err error) {
		e.DB, err = pebble.Open(dir, e.pebbleOptions())
		return err
	})
	if err != nil && e.DB != nil {
		_ = e.DB.Close() // it wrote nothing
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// isTable reports whether a file of the engine is a table.
func isTable(name string) bool { return strings.HasSuffix(name, ".sst") }
