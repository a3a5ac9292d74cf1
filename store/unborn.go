package store

import (
	"strings"

	"github.com/cockroachdb/pebble/v2"
)

// openEngine opens the engine in index. A crash while it is made for the first
// time can leave the name of its newest manifest without the manifest. Nothing
// can have been acknowledged in a directory that never got a format and has no
// table, so what is there is removed and made again.
func (s *Store) openEngine(index string, v FormatVersion, o Options) (*pebble.DB, error) {
	db, err := pebble.Open(index, s.opts)
	if err == nil || v != 0 || o.ReadOnly {
		return db, err
	}
	names, lerr := s.fs.List(index)
	if lerr != nil {
		return nil, err
	}
	for _, n := range names {
		if strings.HasSuffix(n, ".sst") {
			return nil, err
		}
	}
	for _, n := range names {
		if n == "LOCK" {
			continue // it is ours
		}
		if rerr := s.fs.Remove(s.fs.PathJoin(index, n)); rerr != nil {
			return nil, err
		}
	}
	return pebble.Open(index, s.opts)
}
