package ingest

import (
	"context"
	"errors"
	"slices"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// heal runs change, and when that reads a damaged shard, quarantines the shard
// and runs it again. No change sees a quarantined shard: a sync writes its
// documents anew, a merge leaves it out, and the change that removes the last
// reference to it drops it. In a store of several nodes the shard is fetched again, which
// a change waits for; only documents that cannot be fetched are written anew.
func (ix *Indexer) heal(ctx context.Context, change func() error) error {
	met := map[uint32]bool{}
	for {
		if err := ix.store.Node().AwaitMended(ctx); err != nil {
			return err
		}
		err := change()
		shard, damaged := shard.Damaged(err)
		if !damaged || ctx.Err() != nil || met[shard] {
			return err
		}
		met[shard] = true
		// Another change may have met the same damage first.
		if _, aside := ix.store.SetAside(shard, err, ix.opts.Now()); aside != nil {
			return errors.Join(err, aside)
		}
	}
}

// lost reports whether one of the shards is quarantined.
func lost(sn *store.Snapshot, shards []uint32) bool {
	return slices.ContainsFunc(shards, func(id uint32) bool {
		v, ok := sn.Shard(id)
		return ok && v.Quarantine != nil
	})
}
