package store

import (
	"github.com/trawlsearch/trawl/store/shard"
)

// removeOrphans deletes runs without a header and returns the number behind every
// shard number seen. It goes by the bounds of the engine's tables and reads
// none, so that a damaged shard does not keep the others from being opened.
func (w *committer) removeOrphans() (next uint32, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	tables, err := w.engine.DB.SSTables()
	if err != nil {
		return 0, err
	}
	next = 1
	if id, _, ok := w.catalogue.byNumber.Max(); ok {
		next = id + 1
	}
	var ops []operation
	gone := map[uint32]bool{}
	for _, level := range tables {
		for _, t := range level {
			last := shard.Last(t.Largest.UserKey)
			if t.Largest.IsExclusiveSentinel() && last > 0 {
				last-- // the end of a range deletion
			}
			for id := shard.First(t.Smallest.UserKey); id <= last; id++ {
				next = max(next, id+1)
				if w.catalogue.shard(id) != nil || gone[id] {
					continue
				}
				gone[id] = true
				ops = append(ops, headerOperation{shard: id})
			}
		}
	}
	if len(ops) == 0 {
		return next, nil
	}
	return next, w.installHere(ops)
}
