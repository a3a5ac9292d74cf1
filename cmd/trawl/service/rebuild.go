package service

import (
	"context"
	"errors"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/node"
	"github.com/trawlsearch/trawl/store/ingest"
)

// Outdated counts the shards whose index is of an older version. They are
// searched as they are.
func (u *Upkeep) Outdated() ingest.Outdated { return ingest.CountOutdated(u.store) }

// Rebuild rewrites those shards and returns how many it replaced.
func (u *Upkeep) Rebuild(ctx context.Context, report func(ingest.Progress)) (int, error) {
	ctx, end := u.background.begin(ctx, WorkRebuild)
	n, err := u.indexer.Merger.Rebuild(ctx, report)
	end(n > 0, err)
	u.symbolsDue.set()
	return n, err
}

const (
	// rebuildAgain is how long to wait after shards could not be rewritten.
	rebuildAgain = time.Hour
	// rebuildElsewhere is the time between two looks while another node rewrites them.
	rebuildElsewhere = time.Minute
)

// keepIndex rewrites the shards whose index is of an older version, until there
// are none or ctx ends. No newer version comes while this program runs.
func (u *Upkeep) keepIndex(ctx context.Context) {
	for {
		again := rebuildElsewhere
		if u.Outdated().Shards == 0 {
			return
		}
		if u.node.Does(node.TaskMerge) {
			if u.rebuilt(ctx) {
				return
			}
			again = rebuildAgain
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(again):
		}
	}
}

// rebuilt reports whether there is nothing left to rewrite.
func (u *Upkeep) rebuilt(ctx context.Context) bool {
	outdated := u.Outdated()
	if outdated.Shards == 0 {
		return true
	}
	began := time.Now()
	u.log.Info().Int("shards", outdated.Shards).Int("of", outdated.All).Int64("text_bytes", outdated.TextBytes).
		Msg("rewriting shards of an older index, they can be searched meanwhile")
	n, err := u.Rebuild(ctx, nil)
	switch {
	case ctx.Err() != nil || errors.Is(err, context.Canceled):
		u.log.Info().Int("shards", n).Int("of", outdated.Shards).Msg("rewriting interrupted, it goes on at the next start")
		return false
	case err != nil:
		u.log.Warn().Err(err).Int("shards", n).Int("of", outdated.Shards).Msg("rewrite shards")
		return false
	}
	u.log.Info().Int("shards", n).Int64("took_ms", time.Since(began).Milliseconds()).Msg("rewrote shards of an older index")
	return true
}
