package store

import (
	"fmt"

	"github.com/trawlsearch/trawl/store/shard"
)

// Detach makes the directory of a node, which is not open, a store of its own, with the
// version that it has: what it knows of the log is deleted, and so is what its headers
// say of objects, which a store of its own does not keep true. All that goes in one
// batch. Version is 0, and nothing changes, if it is a store of its own already.
func Detach(dir string, o Options) (v Version, err error) {
	o = o.withDefaults()
	o.Log, o.Runs, o.ReadOnly, o.detaching = nil, nil, false, true
	format, err := knownFormat(o.FS, dir)
	if err == nil && format == 0 {
		err = fmt.Errorf("detach %q: there is no store: %w", dir, ErrNotFound)
	}
	if err != nil {
		return 0, err
	}
	s, err := Open(dir, o)
	if err != nil {
		return 0, err
	}
	v, err = detach(s.committer)
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return 0, fmt.Errorf("detach %q: %w", dir, err)
	}
	return v, nil
}

func detach(w *committer) (Version, error) {
	c, e := w.current()
	v, _, err := appliedVersion(e.DB)
	if err != nil || v == 0 {
		return 0, err
	}
	ops := []operation{valueOperation{name: keyApplied}, valueOperation{name: keyCluster}}
	c.byNumber.Scan(func(id uint32, sh *shard.Shard) bool {
		if h := sh.Header; h.TextFile != nil || h.SymbolFile != nil {
			h.TextFile, h.SymbolFile = nil, nil
			ops = append(ops, headerOperation{id, &h})
		}
		return true
	})
	return v, w.commitHere(ops)
}
