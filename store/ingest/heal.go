package ingest

import (
	"context"
	"errors"
	"slices"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// heal runs change, and when that meets a damaged shard, sets the shard aside
// and runs it again. Shards that are set aside are seen by no change: a sync
// writes their documents anew, a merge leaves them out, and the last change that
// makes a repository do without one drops it.
func (ix *Indexer) heal(ctx context.Context, change func() error) error {
	for {
		err := change()
		shard, damaged := shard.Damaged(err)
		if !damaged || ctx.Err() != nil {
			return err
		}
		if first, aside := ix.store.SetAside(shard, err, ix.opts.Now()); !first || aside != nil {
			return errors.Join(err, aside)
		}
	}
}

// lost reports whether one of the shards is set aside.
func lost(sn *store.Snapshot, shards []uint32) bool {
	return slices.ContainsFunc(shards, func(id uint32) bool {
		v, ok := sn.Shard(id)
		return ok && v.Quarantine != nil
	})
}
