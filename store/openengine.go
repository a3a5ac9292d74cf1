package store

import (
	"errors"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
)

// openEngine opens the engine in index. A crash while the engine is first created
// can leave the name of its newest manifest without the manifest. A directory that
// never got a format version and has no table holds no acknowledged change, so its
// files are removed and created again.
func (s *Store) openEngine(v FormatVersion) (*engine, error) {
	index := s.index()
	e, err := s.tryEngine(index)
	if err == nil || v != 0 || s.options.ReadOnly {
		return e, err
	}
	names, lerr := s.fs.List(index)
	if lerr != nil || slices.ContainsFunc(names, isTable) {
		return nil, err
	}
	for _, n := range names {
		if n == "LOCK" {
			continue // it is ours
		}
		if rerr := s.fs.Remove(s.fs.PathJoin(index, n)); rerr != nil {
			return nil, err
		}
	}
	return s.tryEngine(index)
}

// tryEngine opens the engine. A write that failed while it was opened is an error.
func (s *Store) tryEngine(index string) (*engine, error) {
	e := &engine{failStop: newFailStop(s.fs, index, s.options.longestPause), closed: make(chan error, 1)}
	err := e.do(func() (err error) {
		e.db, err = pebble.Open(index, s.engineOptions(e.failStop))
		return err
	})
	if err != nil && e.db != nil {
		_ = e.db.Close() // it wrote nothing
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// lacksFile reports whether the engine could not be opened for want of a table, or
// of the file that tells its format.
func lacksFile(err error) bool { return isNotExist(err) || errors.Is(err, pebble.ErrDBNotPristine) }

// isTable reports whether a file of the engine is a table.
func isTable(name string) bool { return strings.HasSuffix(name, ".sst") }
