package store

import (
	"github.com/trawlsearch/trawl/store/shard"
)

// removeOrphans deletes runs without a header and sets nextShard behind every
// shard number seen. It goes by the bounds of the engine's tables and reads
// none, so that a damaged shard does not keep the others from being opened.
func (s *Store) removeOrphans() error {
	tables, err := s.engine.DB.SSTables()
	if err != nil {
		return err
	}
	s.nextShard = 1
	if id, _, ok := s.catalogue.shards.Max(); ok {
		s.nextShard = id + 1
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
				s.nextShard = max(s.nextShard, id+1)
				if s.catalogue.shard(id) != nil || gone[id] {
					continue
				}
				gone[id] = true
				ops = append(ops, headerOperation{shard: id})
			}
		}
	}
	if len(ops) == 0 {
		return nil
	}
	return s.installHere(ops)
}
